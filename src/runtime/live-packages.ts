/** The plugin packages of a runtime: read once for an environment instance, when a session first needs them. */
import { untilAborted } from '../connections/on-abort.ts'
import { TaplineError, messageOf } from '../errors.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Environment } from '../servers/environment.ts'
import type { PackageHooks } from '../plugins/command-hooks/package-hooks.ts'
import { HookSource } from './hook-source.ts'
import type { LiveRuntime } from './live-runtime.ts'
import type { PluginPackage } from './package-types.ts'
import type { PackagesRead } from './packages-of.ts'
import { packagesOf } from './packages-of.ts'

/** ms that opening a session waits for the packages of its environments. */
const PATIENCE_MS = 10_000
/** ms after which a reading is given up; the next session begins another. */
const LIMIT_MS = 60_000

const NOTHING: PackagesRead = { packages: [], registrations: [], hooks: [] }
/** What becomes of packages that take too long. */
const LATER = 'sessions that are opened once they are will have them'

export class LivePackages {
  readonly #runtime: LiveRuntime
  /** by instance; one that fails is forgotten, so that it is tried again */
  readonly #readings = new Map<string, Promise<PackagesRead>>()
  /** by instance: the hooks of packages that were read */
  readonly #hooks = new WeakMap<Environment, readonly PackageHooks[]>()
  readonly #ended = new AbortController()
  readonly #told = new Set<string>()
  readonly #patienceMs: number

  constructor(runtime: LiveRuntime, patienceMs: number = PATIENCE_MS) {
    this.#runtime = runtime
    this.#patienceMs = patienceMs
  }

  /** True where something is to be read before a session can be opened on these. */
  needs(environments: readonly Environment[]): boolean {
    return environments.some((environment) => this.#hasAny(environment))
  }

  /** Waits until the packages of all have been read, or failed, or take too long: then their sessions do without. Rejects only for the signal. */
  async read(environments: readonly Environment[], signal?: AbortSignal): Promise<readonly PluginPackage[]> {
    return (await this.#all(environments, LATER, signal)).flatMap(({ packages }) => packages)
  }

  /** The servers that the packages of a session's own environments bring; for the rest as `read`, and nothing is kept. */
  async ofSession(environments: readonly Environment[], signal?: AbortSignal): Promise<readonly ServerRegistration[]> {
    try {
      const all = await this.#all(environments, 'the session does without', signal)
      return all.flatMap(({ registrations }) => registrations)
    } finally {
      for (const { instanceId } of environments) this.#readings.delete(instanceId)
    }
  }

  /** The hook plugins that the packages of these environments bring, as trust in them is now, each for calls of its own environment and installation. */
  async hookSources(environments: readonly Environment[]): Promise<readonly HookSource[]> {
    const all = environments.flatMap(({ base }) => this.#hooks.get(base) ?? [])
    if (all.length === 0) return []
    const { packageHookPlugin } = await import('../plugins/command-hooks/package-hooks.ts')
    const store = this.#runtime.parts.trustStore()
    const plugins = await Promise.all(all.map(async (hooks) => ({ hooks, plugin: await packageHookPlugin(hooks, store) })))
    return plugins.flatMap(({ hooks: { environmentId }, plugin }) =>
      plugin === null ? [] : new HookSource({ plugin, filter: { environments: [environmentId] }, mode: 'enforce' }),
    )
  }

  /** Gives up what is being read. */
  close(): void {
    this.#ended.abort(new TaplineError('SESSION_CLOSED', 'the runtime was closed'))
  }

  #hasAny({ id, spec }: Environment): boolean {
    return (spec.pluginRoots ?? []).length > 0 || spec.discover === true || this.#chosen(id).length > 0
  }

  #chosen(id: string): LiveRuntime['parts']['loaded']['packages'] {
    return this.#runtime.parts.loaded.packages.filter(({ environmentId }) => environmentId === id)
  }

  async #all(environments: readonly Environment[], otherwise: string, signal: AbortSignal | undefined): Promise<readonly PackagesRead[]> {
    const readings = environments.filter((environment) => this.#hasAny(environment)).map((one) => this.#patiently(one, otherwise))
    const all = Promise.all(readings)
    return signal === undefined ? all : untilAborted(all, signal, () => cancelled(signal))
  }

  async #patiently(environment: Environment, otherwise: string): Promise<PackagesRead> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), this.#patienceMs)))
    try {
      const read = await Promise.race([this.#reading(environment), late])
      if (read !== null) return read
      this.#tell(environment, `were not read within ${this.#patienceMs / 1000} s; ${otherwise}`)
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#tell(environment, `were not read: ${messageOf(error)}`)
    } finally {
      clearTimeout(timer)
    }
    return NOTHING
  }

  #reading(environment: Environment): Promise<PackagesRead> {
    const known = this.#readings.get(environment.instanceId)
    if (known !== undefined) return known
    const reading = this.#read(environment)
    this.#readings.set(environment.instanceId, reading)
    reading.catch(() => this.#readings.delete(environment.instanceId))
    return reading
  }

  async #read(environment: Environment): Promise<PackagesRead> {
    const { pool, parts, environments } = this.#runtime
    const limit = AbortSignal.timeout(LIMIT_MS)
    const signal = AbortSignal.any([this.#ended.signal, limit])
    const found: Diagnostic[] = []
    const work = async (): ReturnType<typeof packagesOf> =>
      packagesOf(environment, {
        executor: await pool.places.get(environment),
        choices: this.#chosen(environment.id),
        storeFolder: parts.loaded.storeFolder,
        secrets: parts.secrets,
        signal,
        diagnose: (diagnostic) => found.push(diagnostic),
      })
    const read = await untilAborted(work(), signal, () => (limit.aborted ? tooLate() : signal.reason))
    for (const diagnostic of found) this.#runtime.report(diagnostic)
    if (read.hooks.length > 0) this.#hooks.set(environment, read.hooks)
    if (read.registrations.length > 0) environments.packagesRead(environment, read.registrations)
    return read
  }

  /** Once for the same words: every session that is opened would say it again. */
  #tell({ id, spec }: Environment, what: string): void {
    const message = `the plugin packages of environment ${id} ${what}`
    if (this.#told.has(message)) return
    this.#told.add(message)
    this.#runtime.report({ code: 'packages_unread', severity: 'warning', message, where: spec.where })
  }
}

const tooLate = (): TaplineError => new TaplineError('ENVIRONMENT_UNAVAILABLE', `the executor did not answer within ${LIMIT_MS / 1000} s`)

const cancelled = ({ reason }: AbortSignal): TaplineError =>
  new TaplineError('CALL_CANCELLED', 'reading the plugin packages was cancelled by its signal', { cause: reason })
