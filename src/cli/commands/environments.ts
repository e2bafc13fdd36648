/** `tapline environments`: what is declared, and whether it can be reached. */
import type { EnvironmentCheck } from '../../runtime/check-environment.ts'
import { asTaplineError, TaplineError } from '../../errors.ts'
import { displayKey } from '../../servers/key.ts'
import type { LoadedConfig } from '../../config/config.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FAILED } from '../exit-status.ts'
import { readConfiguration, withRuntime } from '../open.ts'
import type { EnvironmentRow } from '../render/environment.ts'
import { environmentsJson, environmentsText } from '../render/environment.ts'

/** Exit status 0; connects and starts nothing. */
export async function list(context: CliContext): Promise<number> {
  const { loaded } = await readConfiguration(context)
  const rows = rowsOf(loaded)
  await context.out.result({ json: () => environmentsJson(rows), text: (paint) => environmentsText(rows, paint) })
  return EXIT_DONE
}

/** Exit status 0; 4 where one cannot be reached. Throws ENVIRONMENT_UNKNOWN. */
export async function check(context: CliContext, id: string | undefined): Promise<number> {
  const { loaded } = await readConfiguration(context)
  const rows = rowsOf(loaded).filter((row) => (id === undefined ? row.selected : row.id === id))
  if (rows.length === 0)
    throw new TaplineError(
      'ENVIRONMENT_UNKNOWN',
      `there is no environment ${JSON.stringify(id)}; there is ${loaded.environments.map((one) => one.id).join(', ')}`,
    )
  const { progress, interrupt, out } = context
  const checked = await withRuntime(context, (runtime) =>
    progress.during('connecting', () =>
      Promise.all(
        rows.map(async (row): Promise<EnvironmentRow> => {
          try {
            const result: EnvironmentCheck = await runtime.environments.check(row.id, { signal: interrupt.signal })
            return { ...row, check: result }
          } catch (error) {
            interrupt.signal.throwIfAborted()
            return { ...row, error: asTaplineError(error, 'ENVIRONMENT_UNAVAILABLE') }
          }
        }),
      ),
    ),
  )
  await out.result({ json: () => environmentsJson(checked), text: (paint) => environmentsText(checked, paint) })
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
