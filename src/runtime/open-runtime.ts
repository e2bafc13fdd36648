/** Where everything is put together: reads and checks, imports the hook modules that files name, starts no server. */
import type { Config, HookModule } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import type { ConfigFile } from '../config/load.ts'
import type { ExecutorDefinition } from '../connections/executor.ts'
import { BUILT_IN } from '../connections/executors/built-in.ts'
import { TaplineError } from '../errors.ts'
import { FlagRegistry } from '../flags/registry.ts'
import type { TapFilter } from '../hooks/plugin.ts'
import { Secrets } from '../secrets.ts'
import { CatalogBuilder } from '../servers/catalog-builder.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { Environment } from '../servers/environment.ts'
import { KeyRegistry } from '../servers/key.ts'
import { defaultStoreFolder } from '../storage/default-folder.ts'
import { fileStore } from '../storage/file-store.ts'
import { checkRuntimeOptions, SESSION_KEYS } from './check-options.ts'
import { hookSource, modeFlag } from './hook-entry.ts'
import { HookSource } from './hook-source.ts'
import { openFlags } from './open-flags.ts'
import { loadHookPlugin } from './load-hook-plugin.ts'
import type { HookLoading } from './load-hook-plugin.ts'
import { PluginModes } from './plugin-modes.ts'
import { takeExecutors } from './take-executors.ts'
import { takeReviewers } from './take-reviewers.ts'
import { runtimeStore } from './store-option.ts'
import { LiveRuntime } from './live-runtime.ts'
import type { Runtime, RuntimeOptions, Session, SessionOptions } from './types.ts'

const CONFIG_KEYS = ['environments', 'selectedEnvironments', 'mcpServers', 'plugins', 'features', 'naming', 'resourceTools'] as const

/** What `openSession` hands on to its one session; its `environments` are those of the configuration. */
const SESSION_OPTIONS = SESSION_KEYS.filter((key) => key !== 'environments')

/** Reads and checks; starts no server. Rejects for mistakes of a file or of the caller (CONFIG_…, FLAG_…, HOOK_BAD_PLUGIN); one bad server is a diagnostic. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkRuntimeOptions(options, false)
  return assembleRuntime(options, executorsByKind(options.executors ?? []))
}

/** The same with executors, by kind, of the caller's choice. */
export async function assembleRuntime(options: RuntimeOptions, executors: ReadonlyMap<string, ExecutorDefinition>): Promise<LiveRuntime> {
  const secrets = new Secrets()
  const { definitions: given, executors: own } = takeExecutors(options.environments)
  const { definitions, reviewers } = takeReviewers(given)
  const host = hostConfig({ ...options, ...(definitions !== undefined && { environments: definitions }) })
  const loaded = await loadConfig({
    files: configFiles(options.config),
    ...(host && { host }),
    env: process.env,
    secrets,
    cwd: process.cwd(),
    askInput: options.onInput,
  })
  const { store, close: closeStore } = runtimeStore(options.store, loaded.storeFolder)
  const registry = new FlagRegistry(options.flags?.define ?? [])
  const keys = new KeyRegistry()
  const builder = new CatalogBuilder()
  for (const registration of loaded.registrations) builder.add(registration)
  const early: Diagnostic[] = []
  let report = (diagnostic: Diagnostic): void => void early.push(diagnostic)
  const loading: HookLoading = {
    secrets,
    // a file says where approvals are kept, never whom the user trusts
    trustStore: () => (options.store === undefined ? fileStore(defaultStoreFolder(process.env)) : store),
    diagnose: (diagnostic) => report(diagnostic),
  }
  const hooks: HookSource[] = []
  // one after the other, in the order of the files: modules may depend on what an earlier one set up
  for (const module of loaded.hooks) hooks.push(await loadSource(module, loading))
  hooks.push(...(options.hooks ?? []).map(hookSource))
  const plugins = new PluginModes(hooks, registry)
  const catalog = builder.build(keys, 1)
  const environments = new Map(loaded.environments.map((spec) => [spec.id, new Environment(spec, reviewers.get(spec.id))]))
  // last of what can fail: from here on something is watched or started
  const flags = await openFlags(options.flags ?? {}, {
    registry,
    variables: process.env,
    features: loaded.features,
    flagFile: loaded.flagFile,
    store,
    secrets,
    report: (diagnostic) => report(diagnostic),
  })
  const runtime = new LiveRuntime({
    loaded,
    flags,
    keys,
    catalog,
    environments,
    executors,
    own,
    plugins,
    secrets,
    store,
    trustStore: loading.trustStore,
    closeStore,
    idleCloseMs: options.idleCloseMs ?? 60_000,
    trace: options.trace,
    logger: options.logger ?? null,
  })
  report = (diagnostic) => runtime.report(diagnostic)
  early.forEach(report)
  return runtime
}

/** One runtime for one session: closing the session closes the runtime. */
export async function openSession(options: RuntimeOptions & Omit<SessionOptions, 'environments'> = {}): Promise<Session> {
  checkRuntimeOptions(options, true)
  const runtime = await assembleRuntime(options, executorsByKind(options.executors ?? []))
  try {
    const given = SESSION_OPTIONS.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
    return await runtime.openOnlySession(Object.fromEntries(given) as SessionOptions)
  } catch (error) {
    await runtime.close()
    throw error
  }
}

function configFiles(config: RuntimeOptions['config']): readonly ConfigFile[] {
  const files = config === undefined ? [] : typeof config === 'string' ? [config] : config
  return files.map((file) => (typeof file === 'string' ? { path: file, kind: 'named' } : file))
}

/** The part of the options that a file could say too; null where there is none of it. */
function hostConfig(options: RuntimeOptions): Config | null {
  const given = CONFIG_KEYS.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return given.length === 0 ? null : (Object.fromEntries(given) as Config)
}

function executorsByKind(own: readonly ExecutorDefinition[]): ReadonlyMap<string, ExecutorDefinition> {
  const byKind = new Map<string, ExecutorDefinition>(BUILT_IN.map((definition) => [definition.kind, definition]))
  for (const definition of own) {
    if (BUILT_IN.some(({ kind }) => kind === definition.kind))
      throw new TaplineError('CONFIG_INVALID', `an executor of one's own cannot have the kind "${definition.kind}"`)
    byKind.set(definition.kind, definition)
  }
  return byKind
}

/** Loads what is not off. A plugin that enforces must load; of any other one the session that needs it says what is wrong. */
async function loadSource(module: HookModule, loading: HookLoading): Promise<HookSource> {
  const { mode } = module
  const source = new HookSource({
    module: module.module,
    load: (outdated) => loadHookPlugin(module, loading, outdated),
    filter: filterOf(module),
    mode: typeof mode === 'object' ? modeFlag(mode) : mode,
    where: module.where,
  })
  if (mode === 'enforce') await source.load()
  else if (mode !== 'off') await source.load().catch(() => {})
  return source
}

function filterOf({ environments, servers, tools }: TapFilter): TapFilter {
  return { ...(environments && { environments }), ...(servers && { servers }), ...(tools && { tools }) }
}
