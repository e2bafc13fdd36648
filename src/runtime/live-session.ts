/** One session: its flags, its view of the catalog, its hooks and its leases. What its methods do is in files of their own. */
import type { Connection } from '../connections/connection.ts'
import type { LogLevel } from '../connections/lessees.ts'
import { TaplineError } from '../errors.ts'
import type { CapturedFlags } from '../flags/flag.ts'
import { buildHooks, type SessionHooks } from '../hooks/session-hooks.ts'
import type { Explanation } from '../hooks/trace.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { CompleteResult, GetPromptResult, ReadResourceResult } from '../mcp.ts'
import { ApprovalMemory } from '../pipeline/approval-memory.ts'
import { send } from '../pipeline/dispatch.ts'
import type { PipelineHost } from '../pipeline/host.ts'
import type { QuestionHost } from '../pipeline/open-question.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import type { PipelineRun } from '../pipeline/pipeline-run.ts'
import { decide } from '../pipeline/policy.ts'
import type { CallOptions } from '../pipeline/request.ts'
import { resolve } from '../pipeline/resolve.ts'
import type { Resolver } from '../pipeline/resolver.ts'
import { SealedCalls } from '../pipeline/sealed-calls.ts'
import { prepareSandbox } from '../pipeline/sandbox-contract.ts'
import { selectResolver } from '../pipeline/select-resolver.ts'
import type { Catalog, CatalogEntry } from '../servers/catalog.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import { NO_OPTIONS, problemOf, toolRequest } from './call-request.ts'
import { approvalLimit, reviewLimit } from './check-options.ts'
import { disposePlugins } from './dispose-plugins.ts'
import { tellOfEnvironments } from './environment-changes.ts'
import { idleFilters } from './idle-filters.ts'
import type { LiveRuntime } from './live-runtime.ts'
import { complete, getPrompt, listPrompts } from './prompts.ts'
import { listResources, listResourceTemplates, readResource } from './resources.ts'
import { SessionConnections } from './session-connections.ts'
import { sessionFacts } from './session-facts.ts'
import { SessionLessee } from './session-lessee.ts'
import { SessionReporter } from './session-reporter.ts'
import type { SessionPlaces } from './session-places.ts'
import type { SessionPlugins } from './session-plugins.ts'
import { sessionServers } from './session-servers.ts'
import { startRequired } from './start-required.ts'
import { statusPage, statusPages } from './status.ts'
import { announce } from './tool-changes.ts'
import { OwnTools } from './own-tools.ts'
import type { SessionRecorder } from './runtime-traces.ts'
import { ToolLister } from './tool-lister.ts'
import { assertKnownKeys } from './unknown-key.ts'
import type {
  CompletionRequest,
  ListQuery,
  Listing,
  ListToolsOptions,
  Owned,
  Page,
  PromptItem,
  PromptRequest,
  ResourceItem,
  ResourceRequest,
  ResourceTemplateItem,
  ServerStatus,
  Session,
  SessionHookPlugin,
  SessionOptions,
  SessionServer,
  StatusQuery,
  ToolCallRequest,
  ToolList,
} from './types.ts'

/** ms that taps in shadow have to end, where somebody wants to know what they would have done. */
const SHADOW_CLOSE_MS = 1000

export class LiveSession extends SessionReporter implements Session, PipelineHost, QuestionHost {
  readonly flags: CapturedFlags
  readonly environments: readonly Environment[]
  readonly environment: PipelineHost['environment']
  readonly resolver: Resolver
  readonly sealed: SealedCalls
  readonly pipeline: Pipeline
  readonly tools: ToolLister
  readonly plugins: SessionPlugins
  readonly servers: readonly SessionServer[]
  readonly selected: readonly string[]
  readonly catalogGeneration: number
  readonly approver: PipelineHost['approver']
  readonly approvalTimeoutMs: number
  readonly reviewTimeoutMs: number
  readonly memory: ApprovalMemory
  readonly probe: PipelineHost['probe']
  readonly schemas: PipelineHost['schemas']
  readonly wheel: PipelineHost['wheel']
  readonly traceAll: boolean
  readonly recorder: SessionRecorder | null
  readonly #own: OwnTools
  /** with environments of its own */
  readonly #ownCatalog: Catalog | null
  readonly #runtime: LiveRuntime
  readonly #hooks: SessionHooks
  readonly #lessee: SessionLessee
  readonly connections: SessionConnections
  readonly #ended = new AbortController()
  /** ends with the session */
  readonly signal: AbortSignal = this.#ended.signal
  readonly #afterClose: () => Promise<void>
  #closing: Promise<void> | null = null
  #releasing: Promise<void> | null = null

  constructor(
    runtime: LiveRuntime,
    options: SessionOptions & { readonly id: string; readonly recorder?: SessionRecorder | null },
    { environments, held, catalog, own }: SessionPlaces,
    flags: CapturedFlags,
    plugins: SessionPlugins,
    afterClose: () => Promise<void>,
  ) {
    const { parts, probe, schemas, wheel } = runtime
    super(options.id, parts.secrets, parts.logger)
    this.#runtime = runtime
    this.#afterClose = afterClose
    this.plugins = plugins
    this.#ownCatalog = own.length > 0 ? catalog : null
    this.flags = flags
    this.environments = Object.freeze([...environments])
    this.environment = (id) => held.get(id)
    this.selected = Object.freeze(environments.map(({ id }) => id))
    this.catalogGeneration = catalog.generation
    this.approver = options.approver ?? null
    this.approvalTimeoutMs = approvalLimit(options.approvalTimeoutMs)
    this.reviewTimeoutMs = reviewLimit(options.reviewTimeoutMs)
    this.memory = new ApprovalMemory(options.id, runtime.book, parts.secrets)
    this.traceAll = (options.trace ?? runtime.parts.trace) === true
    this.recorder = options.recorder ?? null
    this.probe = probe
    this.schemas = schemas
    this.wheel = wheel
    this.resolver = selectResolver(flags, catalog, this.selected, parts.loaded.naming)
    this.sealed = new SealedCalls(this)
    this.#own = new OwnTools(this, parts.loaded.resourceTools)
    this.tools = new ToolLister(this, this.resolver, runtime.inventory, this.#own.offered)
    this.servers = sessionServers(this.resolver)
    this.#lessee = new SessionLessee(this, options, (event) => this.events.emit(event))
    tellOfEnvironments(held.values(), this.signal, (event) => this.events.emit(event))
    this.connections = new SessionConnections({
      pool: runtime.pool,
      lessee: this.#lessee,
      environment: (environmentId) => this.environment(environmentId)?.base,
      onChange: (entry, connection, isNew) => this.#changed(entry, connection, isNew),
    })
    const session = sessionFacts(this, flags, this.#ended.signal)
    this.#hooks = buildHooks(
      plugins.entries,
      session,
      { resolver: resolve, policy: decide, sandboxContract: prepareSandbox, connection: send },
      { wheel, report: (diagnostic) => this.report(diagnostic) },
    )
    this.pipeline = new Pipeline(this, this.#hooks)
    for (const diagnostic of [...plugins.diagnostics, ...idleFilters(this.#hooks.filters, held, catalog)]) this.report(diagnostic)
    options.signal?.addEventListener('abort', () => void this.close(), { once: true, signal: this.#ended.signal })
  }

  get hookPlugins(): readonly SessionHookPlugin[] {
    return this.plugins.shown
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.resolver.view.diagnostics, ...this.tools.diagnostics, ...this.events.diagnostics]
  }

  /** Starts the servers that are marked `required`; rejects with the error of the first that does not start. */
  startRequired(): Promise<void> {
    return startRequired(this.resolver.view.servers, (entry) => this.connection(entry), this.signal)
  }

  connection(entry: CatalogEntry): Connection {
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the session is closed')
    return this.connections.get(entry)
  }

  listTools(options: ListToolsOptions = {}): Promise<ToolList> {
    return this.#open(() => {
      assertKnownKeys('the options of listTools', options, ['waitMs', 'cached', 'server', 'environmentId', 'installationId', 'signal'])
      return this.tools.list(options)
    })
  }

  callTool(request: ToolCallRequest, options: CallOptions = NO_OPTIONS): Promise<CallOutcome> {
    const problem = problemOf(options)
    const read = toolRequest(request, problem, this.#runtime.parts.keys, this.#closing !== null)
    const limits = problem === null ? options : NO_OPTIONS
    return this.#own.call(read, limits) ?? (this.pipeline.call(read, limits) as Promise<CallOutcome>)
  }

  explain(request: ToolCallRequest, options: CallOptions = NO_OPTIONS): Promise<Explanation> {
    const problem = problemOf(options)
    const read = toolRequest(request, problem, this.#runtime.parts.keys, this.#closing !== null)
    const limits = problem === null ? options : NO_OPTIONS
    return this.#own.explain(read, limits) ?? this.pipeline.explain(read, limits)
  }

  listResources(query: ListQuery = {}): Promise<Listing<ResourceItem>> {
    return this.#open(() => listResources(this, query))
  }

  listResourceTemplates(query: ListQuery = {}): Promise<Listing<ResourceTemplateItem>> {
    return this.#open(() => listResourceTemplates(this, query))
  }

  readResource(request: ResourceRequest, options: CallOptions = {}): Promise<ReadResourceResult & Owned> {
    return this.#open(() => readResource(this, request, options))
  }

  listPrompts(query: ListQuery = {}): Promise<Listing<PromptItem>> {
    return this.#open(() => listPrompts(this, query))
  }

  getPrompt(request: PromptRequest, options: CallOptions = {}): Promise<GetPromptResult & Owned> {
    return this.#open(() => getPrompt(this, request, options))
  }

  complete(request: CompletionRequest, options: CallOptions = {}): Promise<CompleteResult & Owned> {
    return this.#open(() => complete(this, request, options))
  }

  status(query: StatusQuery = {}): Promise<Page<ServerStatus>> {
    return this.#open(() => statusPage(this, this.#ownCatalog ?? this.#runtime.catalog, query))
  }

  statusPages(query: StatusQuery = {}): AsyncIterable<Page<ServerStatus>> {
    return statusPages(this, query)
  }

  setLogLevel(level: LogLevel): void {
    this.#lessee.setLogLevel(level)
    for (const connection of this.connections) connection.applyLogLevel()
  }

  rootsChanged(): void {
    this.connections.rootsChanged()
  }

  close(): Promise<void> {
    return (this.#closing ??= this.release().then(() => this.#afterClose()))
  }

  /** Ends what runs, gives back the connections, disposes of the plugins, writes what is left of the trace; all who ask wait for the same. */
  release(): Promise<void> {
    if (this.#releasing !== null) return this.#releasing
    let ended = (): void => {}
    // known before anything is told: who is told may ask for it again
    this.#releasing = new Promise<void>((resolve) => (ended = resolve)).then(() => this.#dispose())
    this.#closing ??= this.#releasing
    const closed = new TaplineError('SESSION_CLOSED', 'the session was closed while the call was running')
    this.pipeline.cancelAll(closed)
    this.#ended.abort(closed)
    this.connections.release()
    ended()
    return this.#releasing
  }

  async #dispose(): Promise<void> {
    const closed = this.#ended.signal.reason as TaplineError
    await this.#hooks.shadows.close(closed, this.traceAll || this.recorder !== null ? SHADOW_CLOSE_MS : 0)
    await disposePlugins(this.#hooks.disposables, (diagnostic) => this.report(diagnostic))
    await this.recorder?.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  callsOn(connection: Connection): readonly PipelineRun[] {
    return this.pipeline.callsOn(connection)
  }

  #changed(entry: CatalogEntry, connection: Connection, isNew: boolean): void {
    announce(this.tools, entry, connection, isNew || !this.events.isHeard ? null : (event) => this.events.emit(event))
  }

  async #open<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw new TaplineError('SESSION_CLOSED', 'the session is closed')
    return work()
  }
}
