/** A session on an exec-server that survives cuts: the same processes, every request once, every piece of output once. */
import { TaplineError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { ConnectionError, ExecConnection, RpcError } from './exec-connection.ts'
import { ExecProcess } from './exec-process.ts'

/** ms for which a cut session is taken up again: the executor ends its processes after 80 s. */
const RESUME_MS = 75_000
/** ms for which nobody may listen before the executor counts as gone: a machine that refuses is up, its executor is not. */
const REFUSED_MS = 10_000
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1000
/** What the executor answers while it has not noticed that the earlier connection is over. */
const ATTACHED = -32010

export interface SessionOptions {
  readonly environmentId: string
  readonly url: string
  /** read for every connection, so that a new token counts */
  readonly token: () => string | null
  readonly log: (line: string) => void
}

interface Pending {
  readonly method: string
  readonly params: JsonObject
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** The session of one environment instance. */
export class ExecSession {
  readonly lost: Promise<{ readonly cause: string }>
  readonly #options: SessionOptions
  readonly #ended = new AbortController()
  readonly #processes = new Map<string, ExecProcess>()
  /** requests without an answer, in order: those that were on their way at a cut are sent again */
  readonly #pending = new Set<Pending>()
  #connection: ExecConnection
  #trouble: string | null = null
  #gone: TaplineError | null = null
  #lose: (lost: { readonly cause: string }) => void = () => {}

  /** Rejects with ENVIRONMENT_UNAVAILABLE. */
  static async open(options: SessionOptions, signal: AbortSignal): Promise<ExecSession> {
    const session = new ExecSession(options)
    try {
      session.#connection = await session.#connect(null, signal)
      return session
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof TaplineError ? error : unavailable(options.environmentId, reasonOf(error))
    }
  }

  private constructor(options: SessionOptions) {
    this.#options = options
    this.#connection = null as unknown as ExecConnection
    this.lost = new Promise((resolve) => (this.#lose = resolve))
  }

  /** What the executor says of itself and its machine. */
  get info(): JsonObject {
    return this.#connection.info
  }

  /** Why nothing can reach it at the moment, or null. */
  get trouble(): string | null {
    return this.#trouble
  }

  /** A process under a new id, known before it is started: its output may come before the answer. */
  newProcess(id: string): ExecProcess {
    const process = new ExecProcess(id, {
      call: (method, params) => this.call(method, params),
      forget: (one) => this.#processes.delete(one.id),
      trouble: () => this.#trouble,
    })
    this.#processes.set(id, process)
    return process
  }

  /** Sends a request that may be sent twice; one that is cut off is sent again. Rejects with RpcError or ENVIRONMENT_UNAVAILABLE. */
  call(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#gone) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => {
      const pending = { method, params, resolve, reject }
      this.#pending.add(pending)
      if (this.#trouble === null) this.#send(pending)
    })
  }

  /** Ends every process, waits for that for at most `limitMs`, and closes the connection. */
  async close(limitMs: number): Promise<void> {
    const running = [...this.#processes.values()]
    if (running.length > 0 && this.#trouble === null && this.#gone === null) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)))
      await Promise.race([Promise.all(running.map((process) => process.kill('kill').catch(() => {}))), limit])
      clearTimeout(timer)
    }
    this.#end('closed')
  }

  #send(pending: Pending): void {
    const { method, params, resolve, reject } = pending
    this.#connection.call(method, params).then(
      (result) => {
        this.#pending.delete(pending)
        resolve(result)
      },
      (error: Error) => {
        // a cut is none of the caller's business, and what else is wrong with the connection ends the session
        if (error instanceof ConnectionError) return
        this.#pending.delete(pending)
        reject(error)
      },
    )
  }

  #connect(resume: string | null, signal: AbortSignal): Promise<ExecConnection> {
    return ExecConnection.open({
      url: this.#options.url,
      token: this.#options.token(),
      resume,
      signal,
      onNotice: (method, params) => this.#notice(method, params),
      onClose: (error) => this.#cut(error),
    })
  }

  #notice(method: string, params: JsonObject): void {
    if (!method.startsWith('process/')) return
    const { processId } = params
    if (typeof processId === 'string') this.#processes.get(processId)?.notice(method, params)
  }

  #cut(error: ConnectionError): void {
    if (this.#gone) return
    if (error.kind === 'protocol' || (this.#processes.size === 0 && this.#pending.size === 0)) {
      this.#end(error.message)
      return
    }
    this.#trouble = error.message
    this.#options.log(`${error.message}; taking it up again`)
    void this.#resume(performance.now())
  }

  async #resume(cutAt: number): Promise<void> {
    let refusedAt: number | null = null
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const connection = await this.#connect(this.#connection.executorSession, this.#ended.signal)
        if (this.#gone) connection.close()
        else this.#resumed(connection)
        return
      } catch (error) {
        const now = performance.now()
        if (this.#gone) return
        const refused = error instanceof ConnectionError && error.kind === 'refused'
        refusedAt = refused ? (refusedAt ?? now) : null
        const final =
          (error instanceof RpcError && error.code !== ATTACHED) ||
          (error instanceof ConnectionError && (error.kind === 'denied' || error.kind === 'protocol')) ||
          now - cutAt > RESUME_MS ||
          (refusedAt !== null && now - refusedAt > REFUSED_MS)
        if (final) {
          this.#end(reasonOf(error))
          return
        }
        this.#trouble = reasonOf(error)
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  #resumed(connection: ExecConnection): void {
    this.#connection = connection
    this.#trouble = null
    // what comes while these are on their way is put into order by the processes
    for (const process of this.#processes.values()) void process.catchUp()
    for (const pending of this.#pending) this.#send(pending)
  }

  #end(cause: string): void {
    if (this.#gone) return
    this.#gone = unavailable(this.#options.environmentId, cause)
    this.#trouble = cause
    this.#ended.abort()
    this.#connection.close()
    for (const { reject } of this.#pending) reject(this.#gone)
    this.#pending.clear()
    for (const process of this.#processes.values()) process.lose(cause)
    this.#lose({ cause })
  }
}

/** ENVIRONMENT_UNAVAILABLE for an executor that cannot be reached. */
export function unavailable(environmentId: string, why: string): TaplineError {
  return new TaplineError('ENVIRONMENT_UNAVAILABLE', `environment ${environmentId} cannot be reached: ${why}`, {
    data: { environmentId },
    remedy: 'See that its `codex exec-server` runs and listens at the url of the environment, and that the token is right.',
  })
}

function reasonOf(error: unknown): string {
  if (error instanceof TaplineError) return error.message
  if (error instanceof ConnectionError && error.kind === 'refused') return 'nothing listens at its url'
  return error instanceof Error ? error.message : String(error)
}
