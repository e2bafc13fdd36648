/** `tapline flags list|explain`: what a session would capture now, and why. */
import { TaplineError } from '../../errors.ts'
import { nearest } from '../../nearest.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { readFlags } from '../flag-sources.ts'
import { diagnosticText } from '../render/diagnostic.ts'
import { flagExplanationJson, flagExplanationText, flagListJson, flagListText } from '../render/flag.ts'

/** Every flag with its value. Exit status 0. Works without a configuration; starts and imports nothing. */
export async function list(context: CliContext): Promise<number> {
  const { flags, diagnostics } = await readFlags(context)
  await context.out.result({ json: () => flagListJson(flags), text: (paint) => flagListText(flags, paint) })
  for (const one of diagnostics) context.out.note(diagnosticText(one, context.out.paintErr))
  return EXIT_DONE
}

/** What every source says of one flag, and which of them counts. Exit status 0; throws FLAG_UNKNOWN with the nearest name. */
export async function explain(context: CliContext, name: string): Promise<number> {
  const { flags, diagnostics } = await readFlags(context)
  const found = flags.find(({ flag }) => flag.name === name)
  if (found === undefined) {
    const near = nearest(
      name,
      flags.map(({ flag }) => flag.name),
    )
    throw new TaplineError('FLAG_UNKNOWN', `there is no flag ${JSON.stringify(name)}${near === null ? '' : `: did you mean "${near}"?`}`)
  }
  await context.out.result({ json: () => flagExplanationJson(found), text: (paint) => flagExplanationText(found, paint) })
  for (const one of diagnostics) context.out.note(diagnosticText(one, context.out.paintErr))
  return EXIT_DONE
}
