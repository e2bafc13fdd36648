/** Whether the `codexExecutable` of an environment is offered to servers: without a word to anybody it is not, where its probe fails. */
import type { LauncherProbe } from '../../launcher-probe.ts'
import type { EnvironmentSpec } from '../../servers/environment.ts'
import { LOCAL } from '../../servers/environment.ts'
import type { Check } from './check.ts'

/** A warning for each launcher that is not offered, `ok` for one that is. Starts each program once, for at most 5 s. */
export async function checkLaunchers(environments: readonly EnvironmentSpec[]): Promise<readonly Check[]> {
  const named = environments.filter(({ codexExecutable }) => codexExecutable !== null)
  if (named.length === 0) return []
  const module = await import('../../launcher-probe.ts')
  const probe = new module.LauncherProbe()
  return Promise.all(named.map((environment) => checkOf(environment, probe)))
}

async function checkOf({ id, executor, codexExecutable, where }: EnvironmentSpec, probe: LauncherProbe): Promise<Check> {
  const subject = { check: 'environment', environmentId: id } as const
  if (executor.kind !== LOCAL)
    return {
      ...subject,
      status: 'skipped',
      message: `codexExecutable is offered to servers on this machine only, not behind ${executor.kind}`,
    }
  if (await probe.check(codexExecutable ?? '')) return { ...subject, status: 'ok', message: `${codexExecutable} can sandbox commands` }
  return {
    ...subject,
    status: 'warning',
    code: 'launcher_not_offered',
    message: `codexExecutable ${codexExecutable} is no Codex CLI that can sandbox commands: servers are offered none`,
    remedy: 'Name the program itself by its absolute path, and see that it can be run.',
    where,
  }
}
