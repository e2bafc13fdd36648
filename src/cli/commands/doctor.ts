/** `tapline doctor`: looks at everything that has to be in order, starts every server once, and says what to do about the rest. */
import type { LoadedConfig } from '../../config/config.ts'
import { isTaplineError, TaplineError } from '../../errors.ts'
import type { StatusQuery } from '../../runtime/types.ts'
import { defaultStoreFolder } from '../../storage/default-folder.ts'
import type { CliContext } from '../context.ts'
import type { Check } from '../doctor/check.ts'
import { failed, found } from '../doctor/check.ts'
import { checkConfiguration } from '../doctor/configuration.ts'
import { checkLaunchers } from '../doctor/launchers.ts'
import { checkEnvironment, checkServer } from '../doctor/servers.ts'
import { findStrays } from '../doctor/strays.ts'
import { checkNode, checkStore } from '../doctor/this-machine.ts'
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../exit-status.ts'
import { withRuntime } from '../open.ts'
import { doctorJson, doctorText } from '../render/doctor.ts'
import { limitedTo } from '../render/tool.ts'
import { selectorOf } from '../selector.ts'
import type { SelectorOptions } from '../selector.ts'

/** Exit status 0 where nothing failed; 4 where only servers or environments did; else 2. */
export async function run(context: CliContext, options: SelectorOptions): Promise<number> {
  const { out, env } = context
  const { checks, loaded } = await checkConfiguration(context)
  const all = [checkNode(), await checkStore(loaded?.storeFolder ?? defaultStoreFolder(env)), ...checks]
  if (loaded !== null) all.push(...(await findStrays(loaded.registrations)), ...(await checkServers(context, loaded, selectorOf(options))))
  await out.result({ json: () => doctorJson(all), text: (paint) => doctorText(all, paint) })
  return statusOf(all)
}

/** Starts what fits the query. */
async function checkServers(context: CliContext, loaded: LoadedConfig, query: StatusQuery): Promise<readonly Check[]> {
  const { progress, interrupt } = context
  try {
    return await withRuntime(context, async (runtime) => {
      const hooks: Check[] = loaded.hooks
        .filter(({ mode }) => mode !== 'off')
        .map(({ module }) => ({ check: 'hooks', status: 'ok', message: module }))
      const known = new Set(runtime.diagnostics.map(({ message }) => message))
      const { data } = await progress.during('starting every server', () => runtime.status({ ...query, signal: interrupt.signal }))
      const more = runtime.diagnostics.filter(({ message, severity }) => severity !== 'info' && !known.has(message))
      if (data.length === 0 && limitedTo(query) !== '')
        return [...hooks, failed('server', new TaplineError('UNKNOWN_SERVER', `there is no server that fits (${limitedTo(query)})`))]
      const selected = loaded.environments.filter(({ id }) => loaded.selectedEnvironments.includes(id))
      return [
        ...hooks,
        ...selected.map((environment) => checkEnvironment(environment, loaded.registrations, data)),
        ...(await checkLaunchers(selected)),
        ...data.map(checkServer),
        ...more.map((one) => found('server', one)),
      ]
    })
  } catch (error) {
    if (interrupt.signal.aborted) throw error
    return [failed(isTaplineError(error) && error.code.startsWith('HOOK_') ? 'hooks' : 'configuration', error)]
  }
}

function statusOf(checks: readonly Check[]): number {
  const bad = checks.filter(({ status }) => status === 'failed').map(({ check }) => check)
  if (bad.length === 0) return EXIT_DONE
  return bad.every((check) => check === 'server' || check === 'environment') ? EXIT_FAILED : EXIT_USAGE
}
