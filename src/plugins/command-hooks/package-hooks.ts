/** The hooks that a plugin package on this machine brings. */
import path from 'node:path'
import { TaplineError } from '../../errors.ts'
import type { HookPlugin } from '../../hooks/plugin.ts'
import type { Store } from '../../storage/store.ts'
import type { HookFile, ReadyHook } from './definition.ts'
import { hookEnv, placesInPackage } from './hook-env.ts'
import { hookSecrets } from './hook-redaction.ts'
import { watchHooks } from './hook-trust.ts'
import { commandHooksPlugin } from './plugin.ts'

/** One hooks file of one installation of a package. */
export interface PackageHooks {
  readonly pluginId: string
  readonly environmentId: string
  readonly installationId: string | null
  /** absolute; where the manifest itself has the hooks, the manifest */
  readonly file: string
  /** null: it cannot be read, as `problem` says */
  readonly read: HookFile | null
  readonly problem: string | null
  readonly root: string
  readonly data: string
  /** folder of its environment */
  readonly cwd: string
}

/** The plugin for calls to servers of the same environment and installation. Hooks that may not run, or cannot be read, refuse the calls that they were for. */
export async function packageHookPlugin(hooks: PackageHooks, store: Store): Promise<HookPlugin | null> {
  const { pluginId, environmentId, installationId, file, read, problem, root, data, cwd } = hooks
  const folder = path.dirname(file)
  const places = placesInPackage(folder, root, { project: cwd, data })
  const set = {
    name: `hooks of ${pluginId} (environment ${environmentId}${installationId === null ? '' : `, installation ${installationId}`})`,
    cwd: folder,
    env: hookEnv(places, []),
    installationId,
    secrets: hookSecrets([]),
  }
  if (read === null)
    return commandHooksPlugin({
      ...set,
      hooks: [EVERY_CALL],
      refusal: `the hooks of the plugin package ${pluginId} cannot be read (${problem})`,
    })
  if (read.hooks.length === 0) return null
  const subject = { path: file, hooks: read.hooks, places: placesInPackage(folder, root) }
  // scripts where the hooks run, beyond what a record can cover
  const { why, distrust } = await watchHooks(store, subject, places)
  if (why === null) return commandHooksPlugin({ ...set, hooks: read.hooks, distrust })
  return commandHooksPlugin({
    ...set,
    hooks: read.hooks,
    refusal: `the hooks of the plugin package ${pluginId} would judge this call, and their file ${file} ${why}; a person has to run tapline hooks trust`,
  })
}

/** Stands for hooks that nobody could read. */
const EVERY_CALL: ReadyHook = Object.freeze({
  event: 'PreToolUse',
  id: 'PreToolUse',
  matcher: '',
  command: '',
  timeoutMs: 0,
  isAsync: false,
  onFailure: 'block',
  written: '',
  where: '',
  fits: () => true,
})

/** Why a file of hooks cannot be used, in one line. Throws what is no mistake of a file. */
export function hooksProblem(error: unknown): string {
  if (error instanceof TaplineError && ['CONFIG_INVALID', 'CONFIG_NOT_FOUND', 'ENVIRONMENT_FILE_FAILED'].includes(error.code))
    return error.message.split('\n', 1)[0] ?? ''
  throw error
}
