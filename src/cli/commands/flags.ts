/** `tapline flags list`: every flag with the value that a session would capture now. */
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { readFlags } from '../open.ts'
import { flagListJson, flagListText } from '../render/flag.ts'

/** Exit status 0. Works without a configuration; starts and imports nothing. */
export async function list(context: CliContext): Promise<number> {
  const rows = await readFlags(context)
  await context.out.result({ json: () => flagListJson(rows), text: (paint) => flagListText(rows, paint) })
  return EXIT_DONE
}
