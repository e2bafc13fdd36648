/** `tapline config check`, `show` and `schema`: what the files say and may say, without starting or importing anything. */
import { isTaplineError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_USAGE } from '../exit-status.ts'
import { configurationFiles, readConfiguration } from '../open.ts'
import { checkJson, checkText, hasErrors, showText } from '../render/config.ts'
import type { Checked } from '../render/config.ts'
import { diagnosticText } from '../render/diagnostic.ts'
import { mistakesOf } from '../render/failure.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'

/** Exit status 0, or 2 where something must be corrected. */
export async function check(context: CliContext): Promise<number> {
  const checked = await findings(context)
  await context.out.result({ json: () => checkJson(checked), text: (paint) => checkText(checked, paint) })
  return hasErrors(checked.diagnostics) ? EXIT_USAGE : EXIT_DONE
}

/** Prints the merged configuration with the place of every value; secrets are redacted. Exit status as that of `check`. */
export async function show(context: CliContext): Promise<number> {
  const { out } = context
  const { loaded, describe } = await readConfiguration(context)
  const description = await describe()
  await out.result({ json: () => description, text: () => showText(description) })
  for (const one of loaded.diagnostics) if (!out.json && one.severity !== 'info') out.note(diagnosticText(one, out.paintErr))
  return hasErrors(loaded.diagnostics) ? EXIT_USAGE : EXIT_DONE
}

/** Prints the JSON Schema of tapline.json, for editors; no file is read. */
export async function schema({ out }: CliContext): Promise<number> {
  const { configSchema } = await import('../../config/json-schema.ts')
  const document = configSchema()
  await out.result({ json: () => document, text: () => JSON.stringify(document, null, 2) })
  return EXIT_DONE
}

/** Mistakes of the files as such stop the reading; here they are findings like the others. */
async function findings(context: CliContext): Promise<Checked> {
  try {
    const { loaded } = await readConfiguration(context)
    const { furtherFindings } = await import('../findings.ts')
    return {
      files: loaded.files,
      diagnostics: [...loaded.diagnostics, ...(await furtherFindings(context, loaded))],
    }
  } catch (error) {
    const mistakes = isTaplineError(error) && error.code === 'CONFIG_INVALID' ? mistakesOf(error) : []
    if (mistakes.length === 0) throw error
    const diagnostics = mistakes.map(({ where, message }) => ({ code: 'CONFIG_INVALID', severity: 'error', message, where }) as const)
    // those of servers are told in the same round
    const ofServers = (isTaplineError(error) ? error.data?.['diagnostics'] : undefined) as readonly Diagnostic[] | undefined
    return { files: await configurationFiles(context), diagnostics: [...diagnostics, ...(ofServers ?? [])] }
  }
}
