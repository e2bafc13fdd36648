/** The hooks files of plugin packages on this machine, without a runtime: nothing is started or imported. */
import type { LoadedConfig } from '../config/config.ts'

/** Absolute paths, each once, of the environments that the configuration selects. What cannot be read is for `plugins list` to tell. */
export async function packageHookFiles(loaded: LoadedConfig, signal: AbortSignal): Promise<readonly string[]> {
  const files = new Set<string>()
  for (const spec of loaded.environments) {
    const choices = loaded.packages.filter(({ environmentId }) => environmentId === spec.id)
    const hasAny = choices.length > 0 || (spec.pluginRoots ?? []).length > 0
    if (!hasAny || spec.executor.kind !== 'local' || !loaded.selectedEnvironments.includes(spec.id)) continue
    const [{ localExecutor }, { packagesOf }, { Environment }, { Secrets }] = await Promise.all([
      import('../connections/executors/local.ts'),
      import('../runtime/packages-of.ts'),
      import('../servers/environment.ts'),
      import('../secrets.ts'),
    ])
    const nothing = (): void => {}
    const watch = { add: nothing, delete: nothing }
    const executor = await localExecutor.connect({ signal, environmentId: spec.id, options: {}, log: nothing, watch })
    const { hooks } = await packagesOf(new Environment(spec), {
      executor,
      choices,
      storeFolder: loaded.storeFolder,
      secrets: new Secrets(),
      signal,
      diagnose: nothing,
    })
    for (const { file } of hooks) files.add(file)
  }
  return [...files]
}
