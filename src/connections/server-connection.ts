/** A stable handle on one server: starts it when it is needed, starts it again after a crash, closes it once. */
import { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'
import type { Connection, ListKind, RequestOptions, ServerInfo, ToolListing } from './connection.ts'
import { ConnectionNews } from './connection-news.ts'
import { Lessees } from './lessees.ts'
import type { LogLevel } from './lessees.ts'
import type { ReadList } from './lists.ts'
import { LISTS, readList } from './lists.ts'
import { untilAborted } from './on-abort.ts'
import type { ServerRun } from './server-run.ts'
import type { StartOptions, Started } from './server-start.ts'
import { ServerStart } from './server-start.ts'
import { onceMore } from './session-lost.ts'
import { ToolList, listSource } from './tool-list.ts'

/** ms for which a failed start is not repeated; doubled with every failure up to the second value. */
const FIRST_BACK_OFF_MS = 2000
const LONGEST_BACK_OFF_MS = 60_000
/** ms for an answer to logging/setLevel, which nobody waits for. */
const LEVEL_MS = 10_000

export interface ServerConnectionOptions
  extends Pick<StartOptions, 'executor' | 'enter' | 'secrets' | 'clientInfo' | 'capabilities' | 'frameLimit'> {
  readonly id: string
  readonly key: ServerKey
  readonly environment: Environment
  readonly registration: ServerRegistration
  readonly onDiagnostic: (diagnostic: Diagnostic) => void
  /** ms between the steps of closing; default 2,000 */
  readonly graceMs?: number
}

/** The connection to one server of one environment instance. */
export class ServerConnection implements Connection {
  readonly id: string
  readonly key: ServerKey
  readonly environment: Environment
  readonly transport: 'stdio' | 'http' | 'memory'
  /** the sessions that have a share in it */
  readonly lessees: Lessees
  readonly #options: ServerConnectionOptions
  readonly #tools: ToolList
  #registration: ServerRegistration
  #state: Connection['state'] = 'idle'
  #error: TaplineError | null = null
  #startedAt: number | null = null
  #startMs: number | null = null
  #info: ServerInfo | null = null
  #run: ServerRun | null = null
  #start: ServerStart | null = null
  #starting: Promise<ToolListing> | null = null
  #retryAt = 0
  /** what the running server was told */
  #level: LogLevel | null = null
  #backOffMs = FIRST_BACK_OFF_MS
  #closing: Promise<void> | null = null
  readonly #clearing = new Set<Promise<void>>()
  readonly #news: ConnectionNews

  constructor(options: ServerConnectionOptions) {
    this.#options = options
    this.#registration = options.registration
    this.id = options.id
    this.key = options.key
    this.environment = options.environment
    this.#news = new ConnectionNews(options.key, options.onDiagnostic)
    this.lessees = new Lessees(this, options.capabilities)
    this.#tools = new ToolList({
      key: options.key,
      limitMs: () => this.#registration.policy.startupTimeoutMs,
      report: (diagnostic) => this.#news.pass(diagnostic),
      onChange: () => this.#news.emit(),
    })
    this.transport = options.registration.launch.type === 'http' ? 'http' : options.environment.executor === 'memory' ? 'memory' : 'stdio'
  }

  get state(): Connection['state'] {
    return this.#state
  }

  get info(): ServerInfo | null {
    return this.#info
  }

  get error(): TaplineError | null {
    return this.#error
  }

  get startedAt(): number | null {
    return this.#startedAt
  }

  get startMs(): number | null {
    return this.#startMs
  }

  get tools(): ToolListing | null {
    return this.#tools.current
  }

  /** Takes over limits and problem of a registration with the same launch; reconnects nothing. */
  update(registration: ServerRegistration): void {
    this.#registration = registration
  }

  ready({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ToolListing> {
    const current = this.tools
    if (current && !signal?.aborted) return Promise.resolve(current)
    return untilAborted(
      this.#ready(),
      signal,
      () => new TaplineError('CALL_CANCELLED', `waiting for ${this.key} was cancelled`, { data: { sent: 'no' } }),
    )
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    if (this.#run) return this.#run.request(method, params, options)
    return Promise.reject(
      this.#state === 'closed'
        ? closed(this.key)
        : new TaplineError('SERVER_EXITED', `${this.key} is not connected; nothing was sent`, { data: { sent: 'no' } }),
    )
  }

  list(kind: ListKind, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ReadList> {
    return onceMore(async () => {
      await this.ready(signal ? { signal } : {})
      const run = this.#run
      if (!run?.info) throw this.#error ?? closed(this.key)
      const { capability } = LISTS[kind]
      if (run.info.capabilities[capability] === undefined) return { items: [], diagnostics: [] }
      try {
        return await readList(listSource(this.key, run, signal), kind, this.#registration.policy.startupTimeoutMs)
      } catch (error) {
        // many servers with resources know nothing of templates
        if (error instanceof TaplineError && error.data?.['rpcCode'] === -32601) return { items: [], diagnostics: [] }
        throw error
      }
    })
  }

  notify(method: string): void {
    this.#run?.notify(method)
  }

  applyLogLevel(): void {
    const { logLevel } = this.lessees
    const run = this.#run
    if (run === null || logLevel === null || logLevel === this.#level || run.info?.capabilities['logging'] === undefined) return
    this.#level = logLevel
    // a server that refuses goes on as it likes
    run.request('logging/setLevel', { level: logLevel }, { idleTimeoutMs: LEVEL_MS }).catch(() => {})
  }

  subscribe(listener: () => void): Disposable {
    return this.#news.subscribe(listener)
  }

  /** Ends the server: end of input, SIGTERM, SIGKILL. Ends a start that is under way. Never rejects; later callers join. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #ready(): Promise<ToolListing> {
    if (this.#state === 'closed') return Promise.reject(closed(this.key))
    if (this.#starting) return this.#starting
    if (this.#run) return onceMore(() => (this.#run ? this.#tools.upToDate() : this.#ready()))
    if (this.#registration.problem) return Promise.reject(this.#registration.problem)
    if (this.#error && performance.now() < this.#retryAt) return Promise.reject(this.#error)
    return this.#begin()
  }

  #begin(): Promise<ToolListing> {
    const began = performance.now()
    const { key, environment, executor, enter, secrets, clientInfo, capabilities, frameLimit, graceMs = 2000 } = this.#options
    const start = new ServerStart({
      key,
      environment,
      registration: this.#registration,
      executor,
      enter,
      secrets,
      clientInfo,
      graceMs,
      ...(frameLimit !== undefined && { frameLimit }),
      notices: () => this.#tools.notices,
      capabilities,
      onNotification: (method, params) => this.#noticed(method, params),
      onRequest: (request) => this.lessees.answer(request),
      onLostFrame: (run) => this.#news.report('frame_too_long', `${key} wrote a frame over the limit of ${run.frameLimit}; it was dropped`),
      onEnd: (run, error) => this.#ended(run, error),
    })
    this.#start = start
    this.#state = 'starting'
    this.#startedAt = Date.now()
    this.#startMs = null
    this.#clearLater(start.cleared)
    const settled = (): void => {
      this.#start = null
      this.#starting = null
      this.#startMs = performance.now() - began
    }
    const starting = start.done.then(
      (started) => {
        settled()
        return this.#connected(started)
      },
      (error: TaplineError) => {
        settled()
        this.#failed(error)
        throw error
      },
    )
    this.#starting = starting
    starting.catch(() => {})
    this.#news.emit()
    return starting
  }

  #connected(started: Started): ToolListing {
    const { run } = started
    if (this.#state === 'closed') {
      this.#clearLater(run.stop(closed(this.key)))
      throw closed(this.key)
    }
    // it may have ended between its last answer and now
    if (run.end) {
      this.#ended(run, run.end)
      throw run.end
    }
    this.#run = run
    this.#info = run.info
    this.#state = 'connected'
    this.#error = null
    this.#backOffMs = FIRST_BACK_OFF_MS
    const listing = this.#tools.attach(started)
    this.#level = null
    this.applyLogLevel()
    this.#news.emit()
    return listing
  }

  #failed(error: TaplineError): void {
    if (this.#state === 'closed') return
    this.#state = 'failed'
    this.#error = error
    this.#retryAt = performance.now() + this.#backOffMs
    this.#backOffMs = Math.min(this.#backOffMs * 2, LONGEST_BACK_OFF_MS)
    this.#news.emit()
  }

  /** A run that was up is over: the next caller starts anew at once. */
  #ended(run: ServerRun, error: TaplineError): void {
    this.#clearLater(run.stop(error))
    if (this.#run !== run && this.#run !== null) return
    this.#run = null
    this.#tools.detach()
    if (this.#state === 'closed') return
    this.#state = 'failed'
    this.#error = error
    this.#retryAt = 0
    this.#news.emit()
  }

  #noticed(method: string, params: JsonObject): void {
    if (method === 'notifications/tools/list_changed') this.#tools.noticed()
    else this.lessees.noticed(method, params)
  }

  async #close(): Promise<void> {
    this.#state = 'closed'
    this.#tools.detach()
    const error = closed(this.key)
    this.#start?.abort(error)
    const run = this.#run
    this.#run = null
    if (run) this.#clearLater(run.stop(error))
    this.#news.emit()
    while (this.#clearing.size > 0) await Promise.all(this.#clearing)
  }

  #clearLater(work: Promise<void>): void {
    this.#clearing.add(work)
    void work.finally(() => this.#clearing.delete(work))
  }
}

function closed(key: ServerKey): TaplineError {
  return new TaplineError('SESSION_CLOSED', `the connection to ${key} was closed`, { data: { sent: 'unknown' } })
}
