/** `tapline hooks list`: every hook of the configuration, and whether it may run. */
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_USAGE } from '../exit-status.ts'
import { hookRows } from '../hook-rows.ts'
import { openStore, readConfiguration } from '../open.ts'
import { hasErrors } from '../render/config.ts'
import { diagnosticText } from '../render/diagnostic.ts'
import { hooksText } from '../render/hook.ts'

/** Exit status 0, or 2 where a hooks file cannot be used. Nothing is imported or run. */
export async function run(context: CliContext): Promise<number> {
  const { out } = context
  const { loaded } = await readConfiguration(context)
  const { rows, diagnostics } = await hookRows(loaded, await openStore(context), context.interrupt.signal)
  await out.result({ json: () => ({ hooks: rows, diagnostics }), text: (paint) => hooksText(rows, paint) })
  if (rows.length === 0 && !hasErrors(diagnostics)) out.note('no hooks')
  for (const one of diagnostics) if (!out.json && one.severity !== 'info') out.note(diagnosticText(one, out.paintErr))
  return hasErrors(diagnostics) ? EXIT_USAGE : EXIT_DONE
}
