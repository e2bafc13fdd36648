/** One run of a server, from the start of its process or its HTTP session to its end. */
import { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { RequestOptions, ServerInfo } from './connection.ts'
import { FRAME_LIMIT } from './frame-reader.ts'
import type { MessageTransport, TransportEnd } from './message-transport.ts'
import type { Peer } from './peer.ts'
import { createPeer } from './peer.ts'
import { printable } from './printable.ts'
import type { ServerRequestHandler } from './server-request.ts'
import { tellingLines } from './telling-lines.ts'

export interface RunOptions {
  /** display form of the key */
  readonly label: string
  readonly secrets: Secrets
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** ms between the steps of stopping */
  readonly graceMs: number
  /** bytes */
  readonly frameLimit?: number
  /** declared in initialize */
  readonly capabilities: JsonObject
  readonly onNotification: (method: string, params: JsonObject) => void
  readonly onRequest: ServerRequestHandler
  readonly onLostFrame: () => void
  /** the run is over though nobody stopped it; called once */
  readonly onEnd: (error: TaplineError) => void
}

/** A transport and the conversation over it. */
export class ServerRun {
  /** what is going on, for messages; null once the server is up */
  stage: string | null = 'initialize'
  info: ServerInfo | null = null
  readonly #transport: MessageTransport
  readonly #options: RunOptions
  #peer: Peer | null = null
  #end: TaplineError | null = null
  #stopped: Promise<void> | null = null

  constructor(transport: MessageTransport, options: RunOptions) {
    this.#options = options
    this.#transport = transport
    this.#transport.onEnd = (end) => this.#ended(end)
  }

  /** Why it is over, or null. */
  get end(): TaplineError | null {
    return this.#end
  }

  /** Lines on stdout that were no messages, as one text; empty where there were none. */
  get noise(): string {
    return this.#transport.junk(this.#options.secrets)
  }

  /** The last lines of stderr, redacted. */
  get stderr(): readonly string[] {
    return this.#transport.lastLines(this.#options.secrets)
  }

  /** `frame` limit for messages */
  get frameLimit(): string {
    const bytes = this.#options.frameLimit ?? FRAME_LIMIT
    return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes} bytes`
  }

  async initialize(): Promise<ServerInfo> {
    const { label, secrets, clientInfo, capabilities, onNotification, onRequest, onLostFrame } = this.#options
    const peer = createPeer({
      transport: this.#transport,
      label,
      clientInfo,
      frameLimit: this.frameLimit,
      capabilities,
      onNotification,
      onRequest,
      onLostFrame,
      redact: (text) => secrets.redact(text),
      endError: () => this.#end ?? new TaplineError('SERVER_EXITED', `${label} is not connected`, { data: { sent: 'no' } }),
    })
    if (this.#end) throw this.#end
    this.#peer = peer
    this.info = { ...(await peer.initialize()), pid: this.#transport.pid }
    return this.info
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const peer = this.#peer
    if (!peer || this.#end)
      return Promise.reject(
        this.#end ?? new TaplineError('SERVER_EXITED', `${this.#options.label} is not connected`, { data: { sent: 'no' } }),
      )
    const answer = peer.request(method, params, options)
    if (this.#transport.trouble === undefined) return answer
    return answer.catch((error: TaplineError) => {
      throw error.code === 'CALL_TIMED_OUT' ? (this.#unreachable(error.data) ?? error) : error
    })
  }

  /** ENVIRONMENT_UNAVAILABLE where the place of the process cannot be reached at the moment, or is the reason of its end; else null. */
  #unreachable(data: TaplineError['data']): TaplineError | null {
    const { trouble } = this.#transport
    if (trouble === undefined || trouble === null) return null
    return new TaplineError('ENVIRONMENT_UNAVAILABLE', `${this.#options.label} cannot be reached: ${trouble}`, {
      data: { sent: 'unknown', stage: this.stage, ...data },
    })
  }

  /** The same as an error about a start that came to nothing. */
  get unreachable(): TaplineError | null {
    return this.#unreachable({ sent: 'no' })
  }

  /** Tells the server something that it does not answer. */
  notify(method: string): void {
    if (this.#end === null) this.#peer?.notify(method)
  }

  /** `; last lines of stderr: …`, or nothing. */
  get lastWords(): string {
    const lines = tellingLines(this.stderr).map((line) => printable(line, 200))
    return lines.length === 0 ? '' : `; last lines of stderr: ${lines.join(' | ')}`
  }

  /** Ends the process or the session; what still waits rejects with the error. Never rejects; joined by later callers. */
  stop(error: TaplineError): Promise<void> {
    if (this.#stopped) return this.#stopped
    this.#end ??= error
    this.#stopped = this.#transport.stop(this.#options.graceMs)
    this.#transport.close()
    return this.#stopped
  }

  #ended({ status, cause, error }: TransportEnd): void {
    const unexpected = this.#end === null
    this.#end ??= error ?? this.#describe(status, cause)
    this.#peer?.ended()
    if (unexpected) this.#options.onEnd(this.#end)
  }

  #describe(status: TransportEnd['status'], cause: string | null): TaplineError {
    const { label } = this.#options
    const unreachable = this.#unreachable({ stderr: this.stderr })
    if (unreachable) return unreachable
    const how =
      status === null
        ? ` (${cause ?? 'its pipes are closed'})`
        : status.signal === null
          ? ` with exit code ${status.code ?? 'unknown'}`
          : ` by signal ${status.signal}`
    const data = { exitCode: status?.code ?? null, signal: status?.signal ?? null, stderr: this.stderr }
    const noise = this.noise
    if (this.stage !== null) {
      return new TaplineError('SERVER_START_FAILED', `${label} ended during ${this.stage}${how}${this.lastWords}${noise && `; ${noise}`}`, {
        data: { stage: this.stage, ...data },
      })
    }
    return new TaplineError(
      'SERVER_EXITED',
      `${label} ended${how}; whether requests that were on their way ran is unknown${this.lastWords}`,
      { data: { sent: 'unknown', ...data } },
    )
  }
}
