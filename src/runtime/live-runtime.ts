/** One runtime: what its sessions share, and their life time. */
import { randomUUID } from 'node:crypto'
import type { LoadedConfig } from '../config/config.ts'
import type { ExecutorDefinition } from '../connections/executor.ts'
import { Inventory } from '../connections/inventory.ts'
import { ConnectionPool } from '../connections/pool.ts'
import { TaplineError } from '../errors.ts'
import type { CapturedFlags } from '../flags/flag.ts'
import { DeadlineWheel } from '../hooks/deadline-wheel.ts'
import type { PluginMode } from '../plugin-mode.ts'
import { LauncherProbe } from '../launcher-probe.ts'
import { ApprovalBook } from '../pipeline/approval-book.ts'
import { SchemaChecker } from '../pipeline/tool-schema.ts'
import type { Secrets } from '../secrets.ts'
import type { Catalog } from '../servers/catalog.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { KeyRegistry } from '../servers/key.ts'
import type { Store } from '../storage/store.ts'
import type { SessionRecord } from '../trace/records.ts'
import { VERSION } from '../version.ts'
import type { Approvals } from './approvals.ts'
import { runtimeApprovals } from './approvals.ts'
import { hookSource } from './hook-entry.ts'
import { FlagFollower } from './follow-flags.ts'
import type { PluginModeChange, PluginModes } from './plugin-modes.ts'
import { checkSessionOptions } from './check-options.ts'
import { LiveEnvironments } from './live-environments.ts'
import { LivePackages } from './live-packages.ts'
import { LiveSession } from './live-session.ts'
import { throwIfCancelled, whileOpening } from './opening-signal.ts'
import type { PackageQuery, PluginPackage } from './package-types.ts'
import type { FlagSubject, RuntimeFlags } from './runtime-flags.ts'
import type { RuntimeTraces } from './runtime-traces.ts'
import type { SessionPlaces } from './session-places.ts'
import { openPlaces, placeId } from './session-places.ts'
import { SessionPlugins } from './session-plugins.ts'
import { sessionRecord } from './session-record.ts'
import { statusPages } from './status.ts'
import type { TraceOption, TraceOptions } from './trace-option.ts'
import { traceTarget } from './trace-option.ts'
import type { HookEntry, Logger, Page, Runtime, RuntimeStatusQuery, ServerStatus, Session, SessionOptions } from './types.ts'

/** What openRuntime found out. */
export interface RuntimeParts {
  readonly loaded: LoadedConfig
  readonly flags: RuntimeFlags
  readonly keys: KeyRegistry
  readonly catalog: Catalog
  readonly environments: ReadonlyMap<string, Environment>
  readonly executors: ReadonlyMap<string, ExecutorDefinition>
  /** executors of environments that no kind stands for, by id */
  readonly own: ReadonlyMap<string, ExecutorDefinition>
  readonly plugins: PluginModes
  readonly secrets: Secrets
  readonly store: Store
  /** where trust in hooks is kept */
  readonly trustStore: () => Store
  readonly closeStore: () => Promise<void>
  readonly idleCloseMs: number
  /** of the host; the configuration's is in `loaded` */
  readonly trace: TraceOption | undefined
  readonly logger: Logger | null
}

/** Records of a session, begun with what it is; null where nobody wants them. */
type RecorderFor = (header: () => SessionRecord) => ReturnType<RuntimeTraces['recorder']> | null

/** How many diagnostics are kept; a server that complains for ever must not fill the memory. */
const MOST_DIAGNOSTICS = 1000

export class LiveRuntime implements Runtime {
  readonly parts: RuntimeParts
  readonly pool: ConnectionPool
  readonly wheel: DeadlineWheel = new DeadlineWheel()
  readonly schemas: SchemaChecker = new SchemaChecker()
  readonly probe: LauncherProbe = new LauncherProbe({ guard: (group) => this.pool.watch(group) })
  readonly inventory: Inventory
  readonly environments: LiveEnvironments
  readonly #packages: LivePackages
  readonly book: ApprovalBook
  readonly approvals: Approvals
  /** what sessions that are opened from now on see; those that are open keep theirs */
  catalog: Catalog
  readonly #follower: FlagFollower
  readonly #sessions = new Map<string, LiveSession>()
  readonly #reported: Diagnostic[] = []
  #traces: RuntimeTraces | null = null
  #closing: Promise<void> | null = null

  constructor(parts: RuntimeParts) {
    this.parts = parts
    this.catalog = parts.catalog
    this.#follower = new FlagFollower(parts.flags, () => this.#sessions.values())
    this.pool = new ConnectionPool({
      executors: parts.executors,
      secrets: parts.secrets,
      clientInfo: { name: 'tapline', version: VERSION },
      idleCloseMs: parts.idleCloseMs,
      onDiagnostic: (diagnostic) => this.report(diagnostic),
    })
    this.book = new ApprovalBook(parts.store, (id) =>
      this.report({
        code: 'approvals_unusable',
        severity: 'warning',
        message: `the approval ${id} in the store cannot be read and does not count; revoke it, or repair it`,
      }),
    )
    this.approvals = runtimeApprovals(this.book, () => [...this.#sessions.values()].map(({ memory }) => memory))
    this.inventory = new Inventory({ store: parts.store, secrets: parts.secrets, report: (diagnostic) => this.report(diagnostic) })
    this.environments = new LiveEnvironments(this)
    this.#packages = new LivePackages(this)
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.parts.loaded.diagnostics, ...this.catalog.diagnostics, ...this.#reported]
  }

  /** Keeps a diagnostic, redacted, and hands it to the log. */
  report(diagnostic: Diagnostic): void {
    const redacted = { ...diagnostic, message: this.parts.secrets.redact(diagnostic.message) }
    if (this.#reported.length < MOST_DIAGNOSTICS) this.#reported.push(redacted)
    this.parts.logger?.[redacted.severity === 'warning' ? 'warn' : redacted.severity]({ code: redacted.code }, redacted.message)
  }

  async openSession(options: SessionOptions = {}): Promise<Session> {
    return this.#open(options, () => {})
  }

  /** The session of a runtime that ends with it. */
  async openOnlySession(options: SessionOptions): Promise<Session> {
    return this.#open(options, () => this.close())
  }

  async #open(options: SessionOptions, afterClose: () => void | Promise<void>): Promise<Session> {
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the runtime is closed')
    checkSessionOptions(options)
    const { signal } = options
    throwIfCancelled(signal)
    const given = options.environments ?? this.parts.loaded.selectedEnvironments
    const id = options.id ?? randomUUID()
    const { changes } = this.#follower
    const subject: FlagSubject = {
      sessionId: id,
      environmentIds: [...new Set(given.map(placeId))],
      ...(options.evaluationContext && { context: { ...options.evaluationContext } }),
    }
    const { sources } = this.parts.plugins
    const captured = this.parts.flags.capture(subject)
    const { flags, problem } = captured instanceof Promise ? await whileOpening(captured, signal) : captured
    const target = traceTarget(options.trace, this.parts.trace, this.parts.loaded.trace)
    const traces = target === null ? null : await whileOpening(this.#openTraces(), signal)
    const places = await openPlaces(this, this.#packages, given, signal, (ids) => this.#ready(ids, signal))
    const recorderFor: RecorderFor = (header) => traces?.recorder(target as TraceOptions, header) ?? null
    let session: LiveSession
    try {
      const brought = await whileOpening(this.#packages.hookSources(places.environments), signal)
      this.parts.plugins.bind(brought)
      const plugins = await whileOpening(SessionPlugins.open([...sources, ...brought], flags, subject), signal)
      session = this.#make({ ...options, id }, places, flags, plugins, recorderFor, afterClose)
    } catch (error) {
      await this.#drop(places.own)
      throw error
    }
    this.#follower.opened(changes)
    if (problem !== null) session.report(problem)
    try {
      await session.startRequired()
      // a plugin that is applied may have aborted it before the session listened
      throwIfCancelled(signal)
    } catch (error) {
      await session.close()
      throw error
    }
    return session
  }

  #make(
    options: SessionOptions & { readonly id: string },
    places: SessionPlaces,
    flags: CapturedFlags,
    plugins: SessionPlugins,
    recorderFor: RecorderFor,
    afterClose: () => void | Promise<void>,
  ): LiveSession {
    const { id } = options
    throwIfCancelled(options.signal)
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the runtime was closed while the session was opened')
    if (this.#sessions.has(id))
      throw new TaplineError('CALL_INVALID_REQUEST', `there is an open session with the id ${JSON.stringify(id)} already`)
    plugins.catchUp()
    const opened = Date.now()
    const header = (): SessionRecord => sessionRecord({ id, opened, environments: places.environments, flags, plugins })
    const recorder = recorderFor(header)
    const session = new LiveSession(this, { ...options, recorder }, places, flags, plugins, async () => {
      this.#sessions.delete(id)
      await this.#drop(places.own)
      await afterClose()
    })
    this.#sessions.set(id, session)
    return session
  }

  async #drop(environments: readonly Environment[]): Promise<void> {
    await Promise.all(environments.map((environment) => this.pool.drop(environment)))
  }

  async #openTraces(): Promise<RuntimeTraces> {
    const { RuntimeTraces } = await import('./runtime-traces.ts')
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the runtime was closed while the session was opened')
    return (this.#traces ??= new RuntimeTraces(this.parts.secrets, (diagnostic) => this.report(diagnostic)))
  }

  async packages({ environments, signal }: PackageQuery = {}): Promise<readonly PluginPackage[]> {
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the runtime is closed')
    return this.#packages.read(this.#instances(environments ?? this.parts.loaded.selectedEnvironments), signal)
  }

  /** The instances of these environments, once their plugin packages have been read. */
  async #ready(ids: readonly string[], signal: AbortSignal | undefined): Promise<readonly Environment[]> {
    const environments = this.#instances(ids)
    if (!this.#packages.needs(environments)) return environments
    await this.#packages.read(environments, signal)
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the runtime was closed while the session was opened')
    // one that was replaced meanwhile has packages of its own
    const now = this.#instances(ids)
    return now.every((environment, index) => environment === environments[index]) ? now : this.#ready(ids, signal)
  }

  #instances(ids: readonly string[]): readonly Environment[] {
    return ids.map((id) => {
      const environment = this.environments.get(id)
      if (environment !== undefined) return environment
      throw new TaplineError(
        'ENVIRONMENT_UNKNOWN',
        `the environment ${JSON.stringify(id)} is not declared; there is ${[...this.environments].map((one) => one.id).join(', ')}`,
      )
    })
  }

  async status({ sessionId, ...query }: RuntimeStatusQuery = {}): Promise<Page<ServerStatus>> {
    if (sessionId !== undefined) return this.#session(sessionId).status(query)
    const observer = await this.#observer()
    try {
      return await observer.status(query)
    } finally {
      // the connections stay in the pool until they have been idle, so that asking again starts nothing
      await observer.release()
    }
  }

  statusPages(query: RuntimeStatusQuery = {}): AsyncGenerator<Page<ServerStatus>> {
    return statusPages(this, query)
  }

  #session(id: string): LiveSession {
    const session = this.#sessions.get(id)
    if (session !== undefined) return session
    throw new TaplineError('CALL_INVALID_REQUEST', `there is no open session with the id ${JSON.stringify(id)}`)
  }

  /** A session of the runtime's own for one look at the configuration's selection: it runs no calls and has no hooks. */
  async #observer(): Promise<LiveSession> {
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the runtime is closed')
    const { loaded } = this.parts
    const id = `status-${randomUUID()}`
    const { flags } = await this.parts.flags.capture({ sessionId: id, environmentIds: loaded.selectedEnvironments })
    const selected = loaded.selectedEnvironments.filter((one) => this.environments.get(one) !== undefined)
    const places = await openPlaces(this, this.#packages, selected, undefined, (ids) => this.#ready(ids, undefined))
    return new LiveSession(this, { id }, places, flags, new SessionPlugins([], flags), async () => {})
  }

  use(entry: HookEntry): Disposable {
    return this.parts.plugins.add(hookSource(entry))
  }

  setPluginMode(name: string, mode: PluginMode | null): PluginModeChange {
    return this.parts.plugins.set(name, mode, this.#sessions.values())
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const closed = Promise.all([...this.#sessions.values()].map((session) => session.release()))
    this.probe.dispose()
    this.#packages.close()
    this.#follower.close()
    await Promise.all([closed, this.pool.close(), this.inventory.flush(), this.parts.flags.close()])
    await this.#traces?.close()
    await this.parts.closeStore()
    this.wheel.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
