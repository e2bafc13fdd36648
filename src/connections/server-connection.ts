/** A stable handle on one server: starts it when it is needed, starts it again after a crash, closes it once. */
import { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { sameJson } from '../json.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'
import type { Connection, ListKind, RequestOptions, ServerInfo, ToolListing, ToolRecord } from './connection.ts'
import type { ListSource, ReadList } from './lists.ts'
import { LISTS, readList, readTools } from './lists.ts'
import { untilAborted } from './on-abort.ts'
import { LONGEST_DELAY } from './pending-request.ts'
import type { ServerRun } from './server-run.ts'
import type { StartOptions, Started } from './server-start.ts'
import { ServerStart } from './server-start.ts'

/** ms for which a failed start is not repeated; doubled with every failure up to the second value. */
const FIRST_BACK_OFF_MS = 2000
const LONGEST_BACK_OFF_MS = 60_000
/** ms from a notice of changed tools to the request; doubled while notices keep coming during the request. */
const REFRESH_MS = 20
const LONGEST_REFRESH_MS = 5000

export interface ServerConnectionOptions extends Pick<StartOptions, 'executor' | 'enter' | 'secrets' | 'clientInfo' | 'frameLimit'> {
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
  readonly #options: ServerConnectionOptions
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
  #backOffMs = FIRST_BACK_OFF_MS
  #listing: ToolListing | null = null
  #generation = 0
  /** notices of changed tools so far, and how many of them the listing has seen */
  #notices = 0
  #listedNotices = 0
  #refreshing: Promise<void> | null = null
  #refreshTimer: ReturnType<typeof setTimeout> | null = null
  #refreshMs = REFRESH_MS
  #closing: Promise<void> | null = null
  readonly #clearing = new Set<Promise<void>>()
  readonly #listeners = new Set<() => void>()
  readonly #reported = new Set<string>()

  constructor(options: ServerConnectionOptions) {
    this.#options = options
    this.#registration = options.registration
    this.id = options.id
    this.key = options.key
    this.environment = options.environment
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
    return this.#run && this.#notices === this.#listedNotices ? this.#listing : null
  }

  /** Takes over limits and problem of a registration with the same launch; reconnects nothing. */
  update(registration: ServerRegistration): void {
    this.#registration = registration
  }

  ready({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ToolListing> {
    const current = this.tools
    if (current && !signal?.aborted) return Promise.resolve(current)
    return untilAborted(this.#ready(), signal, () => new TaplineError('CALL_CANCELLED', `waiting for ${this.key} was cancelled`, { data: { sent: 'no' } }))
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    if (this.#run) return this.#run.request(method, params, options)
    return Promise.reject(this.#state === 'closed' ? closed(this.key) : new TaplineError('SERVER_EXITED', `${this.key} is not connected; nothing was sent`, { data: { sent: 'no' } }))
  }

  async list(kind: ListKind, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ReadList> {
    await this.ready(signal ? { signal } : {})
    const run = this.#run
    if (!run?.info) throw this.#error ?? closed(this.key)
    const { capability } = LISTS[kind]
    if (run.info.capabilities[capability] === undefined) return { items: [], diagnostics: [] }
    try {
      return await readList(this.#source(run, signal), kind, this.#registration.policy.startupTimeoutMs)
    } catch (error) {
      // many servers with resources know nothing of templates
      if (error instanceof TaplineError && error.data?.['rpcCode'] === -32601) return { items: [], diagnostics: [] }
      throw error
    }
  }

  subscribe(listener: () => void): Disposable {
    // a function of its own, so that one listener may subscribe twice
    const entry = (): void => listener()
    this.#listeners.add(entry)
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) }
  }

  /** Ends the server: end of input, SIGTERM, SIGKILL. Ends a start that is under way. Never rejects; later callers join. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #ready(): Promise<ToolListing> {
    if (this.#state === 'closed') return Promise.reject(closed(this.key))
    if (this.#starting) return this.#starting
    if (this.#run) return this.#current()
    if (this.#registration.problem) return Promise.reject(this.#registration.problem)
    if (this.#error && performance.now() < this.#retryAt) return Promise.reject(this.#error)
    return this.#begin()
  }

  #begin(): Promise<ToolListing> {
    const began = performance.now()
    const { key, environment, executor, enter, secrets, clientInfo, frameLimit, graceMs = 2000 } = this.#options
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
      notices: () => this.#notices,
      onNotification: (method) => this.#noticed(method),
      onLostFrame: (run) => this.#report({ code: 'frame_too_long', severity: 'warning', message: `${key} wrote a frame over the limit of ${run.frameLimit}; it was dropped`, owner: key }),
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
    this.#emit()
    return starting
  }

  #connected({ run, tools, diagnostics, notices }: Started): ToolListing {
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
    this.#listedNotices = notices
    const listing = this.#publish(run, tools, diagnostics)
    if (this.#notices !== notices) this.#refreshSoon()
    this.#emit()
    return listing
  }

  #failed(error: TaplineError): void {
    if (this.#state === 'closed') return
    this.#state = 'failed'
    this.#error = error
    this.#retryAt = performance.now() + this.#backOffMs
    this.#backOffMs = Math.min(this.#backOffMs * 2, LONGEST_BACK_OFF_MS)
    this.#emit()
  }

  /** A run that was up is over: the next caller starts anew at once. */
  #ended(run: ServerRun, error: TaplineError): void {
    this.#clearLater(run.stop(error))
    if (this.#run !== run && this.#run !== null) return
    this.#run = null
    if (this.#state === 'closed') return
    this.#state = 'failed'
    this.#error = error
    this.#retryAt = 0
    this.#emit()
  }

  #publish(run: ServerRun, tools: ReadonlyMap<string, ToolRecord>, diagnostics: Diagnostic[]): ToolListing {
    const noise = run.noise
    if (noise) diagnostics.push({ code: 'stdout_noise', severity: 'info', message: `${this.key}: ${noise}`, owner: this.key })
    for (const diagnostic of diagnostics) this.#report(diagnostic)
    const old = this.#listing
    if (old && sameTools(old.tools, tools) && sameTexts(old.diagnostics, diagnostics)) return old
    this.#listing = Object.freeze({ tools, generation: ++this.#generation, diagnostics: Object.freeze(diagnostics) })
    return this.#listing
  }

  #source(run: ServerRun, signal?: AbortSignal): ListSource {
    return {
      key: this.key,
      page: (method, params, ms) => run.request(method, params, { idleTimeoutMs: LONGEST_DELAY, totalTimeoutMs: ms, ...(signal && { signal }) }),
    }
  }

  #noticed(method: string): void {
    if (method === 'notifications/tools/list_changed') {
      const fresh = this.#notices === this.#listedNotices
      this.#notices++
      if (!this.#run) return
      this.#refreshSoon()
      if (fresh) this.#emit()
    } else if (method === 'notifications/resources/list_changed' || method === 'notifications/prompts/list_changed') this.#emit()
  }

  #refreshSoon(): void {
    if (this.#refreshTimer || this.#refreshing) return
    this.#refreshTimer = setTimeout(() => {
      this.#refreshTimer = null
      if (this.#run && this.#notices !== this.#listedNotices) this.#refresh().catch((error: TaplineError) => this.#refreshFailed(error))
    }, this.#refreshMs)
    this.#refreshTimer.unref()
  }

  #refreshFailed(error: TaplineError): void {
    if (this.#run) this.#report({ code: error.code, severity: 'warning', message: `${this.key}: the tools changed, but they could not be listed: ${error.message}`, owner: this.key })
  }

  /** The listing after every notice that had come by now; a server that gives notice of every list cannot keep a caller for ever. */
  async #current(): Promise<ToolListing> {
    const wanted = this.#notices
    while (this.#listedNotices < wanted) await this.#refresh()
    if (!this.#run || !this.#listing) throw this.#error ?? closed(this.key)
    return this.#listing
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#list().finally(() => {
      this.#refreshing = null
      const stale = this.#notices !== this.#listedNotices
      this.#refreshMs = stale ? Math.min(this.#refreshMs * 2, LONGEST_REFRESH_MS) : REFRESH_MS
      if (stale && this.#run) this.#refreshSoon()
    })
    return this.#refreshing
  }

  async #list(): Promise<void> {
    const run = this.#run
    if (!run) throw this.#error ?? closed(this.key)
    const notices = this.#notices
    const { tools, diagnostics } = await readTools(this.#source(run), this.#registration.policy.startupTimeoutMs)
    if (this.#run !== run) throw this.#error ?? closed(this.key)
    this.#listedNotices = notices
    this.#publish(run, tools, diagnostics)
    this.#emit()
  }

  async #close(): Promise<void> {
    this.#state = 'closed'
    if (this.#refreshTimer) clearTimeout(this.#refreshTimer)
    const error = closed(this.key)
    this.#start?.abort(error)
    const run = this.#run
    this.#run = null
    if (run) this.#clearLater(run.stop(error))
    this.#emit()
    while (this.#clearing.size > 0) await Promise.all(this.#clearing)
  }

  #clearLater(work: Promise<void>): void {
    this.#clearing.add(work)
    void work.finally(() => this.#clearing.delete(work))
  }

  #report(diagnostic: Diagnostic): void {
    if (this.#reported.size > 200) this.#reported.clear()
    if (this.#reported.has(diagnostic.message)) return
    this.#reported.add(diagnostic.message)
    this.#options.onDiagnostic(diagnostic)
  }

  #emit(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch (error) {
        this.#report({ code: 'listener_failed', severity: 'warning', message: `${this.key}: a listener failed: ${String(error)}`, owner: this.key })
      }
    }
  }
}

function closed(key: ServerKey): TaplineError {
  return new TaplineError('SESSION_CLOSED', `the connection to ${key} was closed`, { data: { sent: 'unknown' } })
}

function sameTools(a: ReadonlyMap<string, ToolRecord>, b: ReadonlyMap<string, ToolRecord>): boolean {
  if (a.size !== b.size) return false
  const others = b.values()
  for (const tool of a.values()) {
    const other = others.next().value
    if (!other || !sameJson(tool.raw, other.raw)) return false
  }
  return true
}

function sameTexts(a: readonly Diagnostic[], b: readonly Diagnostic[]): boolean {
  return a.length === b.length && a.every((one, index) => one.message === b[index]?.message)
}
