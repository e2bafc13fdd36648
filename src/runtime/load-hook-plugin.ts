/** From an entry of `hooks` to its plugin: a module that is imported, or a file of command hooks that is trusted. */
import path from 'node:path'
import type { HookModule } from '../config/config.ts'
import { shellWord } from '../documents/real-file.ts'
import { TaplineError } from '../errors.ts'
import type { HookPlugin } from '../hooks/plugin.ts'
import { loadHookModule } from '../plugins/loader.ts'
import type { Secrets } from '../secrets.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Store } from '../storage/store.ts'

export interface HookLoading {
  readonly secrets: Secrets
  /** where trust in hooks files is kept; opened for the first of them */
  readonly trustStore: () => Store
  readonly diagnose: (diagnostic: Diagnostic) => void
}

/** `outdated` is called when a script is not what it was. Rejects with HOOK_BAD_PLUGIN; for command hooks with CONFIG_NOT_FOUND, CONFIG_INVALID, and CONFIG_UNTRUSTED with the command to run. */
export async function loadHookPlugin(hook: HookModule, loading: HookLoading, outdated: () => void = () => {}): Promise<HookPlugin> {
  const { kind, commands } = hook
  if (kind !== 'commandHooks') return loadHookModule({ ...hook, kind })
  if (commands === undefined) throw new TaplineError('INTERNAL', `the entry of ${hook.module} has no settings`)
  const { module: file } = hook
  const { onFailure, env, byUser } = commands
  const [{ readHookFile }, { placesOf }, { hookSet }, { commandHooksPlugin }, { watchHooks }] = await Promise.all([
    import('../plugins/command-hooks/hook-file.ts'),
    import('../plugins/command-hooks/hook-env.ts'),
    import('../plugins/command-hooks/open-command-hooks.ts'),
    import('../plugins/command-hooks/plugin.ts'),
    import('../plugins/command-hooks/hook-trust.ts'),
  ])
  const read = await readHookFile(file, { onFailure })
  const places = placesOf(path.dirname(file))
  const subject = { path: file, hooks: read.hooks, places }
  const watched = byUser ? null : await watchHooks(loading.trustStore(), subject)
  if (watched !== null && watched.why !== null) throw untrustedHooks(file, watched.why, hook.where)
  for (const diagnostic of read.diagnostics) loading.diagnose(diagnostic)
  // what hooks get may come back in what they say
  for (const name of env) loading.secrets.add(process.env[name] ?? '')
  const set = hookSet(read, { name: file, places, env })
  if (watched === null) return commandHooksPlugin(set)
  const distrust: typeof watched.distrust = async (one) => {
    const changed = await watched.distrust(one)
    if (changed !== null) outdated()
    return changed
  }
  return commandHooksPlugin({ ...set, distrust })
}

/** `why` goes on after the path of the file. */
function untrustedHooks(file: string, why: string, where: string): TaplineError {
  const command = `tapline hooks trust ${shellWord(file)}`
  return new TaplineError('CONFIG_UNTRUSTED', `the hooks file ${file} ${why}: read it, then run ${command}`, {
    remedy: `Run ${command}; without its hooks nothing is called.`,
    data: { files: [file], commands: [command] },
    where,
  })
}
