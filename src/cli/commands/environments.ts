/** `tapline environments`: what is declared, and whether it can be reached. */
import type { EnvironmentCheck } from '../../runtime/check-environment.ts'
import { asTaplineError, TaplineError } from '../../errors.ts'
import { displayKey } from '../../servers/key.ts'
import type { LoadedConfig } from '../../config/config.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'
import { readConfiguration, withRuntime } from '../open.ts'
import { diagnosticText } from '../render/diagnostic.ts'
import type { EnvironmentRow } from '../render/environment.ts'
import { environmentsJson, environmentsText } from '../render/environment.ts'

/** Exit status 0; connects and starts nothing. */
export async function list(context: CliContext): Promise<number> {
  const { loaded } = await readConfiguration(context)
  const rows = rowsOf(loaded)
  await context.out.result({ json: () => environmentsJson(rows), text: (paint) => environmentsText(rows, paint) })
  return EXIT_DONE
}

/** Exit status 0; 4 where one cannot be reached. Reads the plugin packages of those that can. Throws ENVIRONMENT_UNKNOWN. */
export async function check(context: CliContext, id: string | undefined): Promise<number> {
  const { loaded } = await readConfiguration(context)
  const rows = rowsOf(loaded).filter((row) => (id === undefined ? row.selected : row.id === id))
  if (rows.length === 0)
    throw new TaplineError(
      'ENVIRONMENT_UNKNOWN',
      `there is no environment ${JSON.stringify(id)}; there is ${loaded.environments.map((one) => one.id).join(', ')}`,
    )
  const { progress, interrupt, out } = context
  const { checked, diagnostics } = await withRuntime(context, async (runtime) => {
    const known = new Set(runtime.diagnostics)
    const found = await progress.during('connecting', () =>
      Promise.all(
        rows.map(async (row): Promise<EnvironmentRow> => {
          try {
            const result: EnvironmentCheck = await runtime.environments.check(row.id, { signal: interrupt.signal })
            const packages = await runtime.packages({ environments: [row.id], signal: interrupt.signal })
            return { ...row, check: result, packages }
          } catch (error) {
            interrupt.signal.throwIfAborted()
            return { ...row, error: asTaplineError(error, 'ENVIRONMENT_UNAVAILABLE') }
          }
        }),
      ),
    )
    return { checked: found, diagnostics: runtime.diagnostics.filter((one) => !known.has(one)) }
  })
  await out.result({ json: () => ({ ...environmentsJson(checked), diagnostics }), text: (paint) => environmentsText(checked, paint) })
  for (const one of diagnostics) if (one.severity !== 'info' && !out.json) out.note(diagnosticText(one, out.paintErr))
  return checked.some(({ error }) => error !== undefined) ? EXIT_FAILED : EXIT_DONE
}

function rowsOf({ environments, selectedEnvironments, registrations }: LoadedConfig): readonly EnvironmentRow[] {
  return environments.map(({ id, executor, cwd, permissions, where }) => ({
    id,
    executor: executor.kind,
    cwd,
    where,
    permissions: permissions === null ? null : typeof permissions === 'string' ? permissions : permissions.type,
    selected: selectedEnvironments.includes(id),
    servers: registrations.filter(({ executesOn }) => executesOn === id).map(({ key }) => displayKey(key)),
  }))
}
