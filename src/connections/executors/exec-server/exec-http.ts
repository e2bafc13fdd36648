/** HTTP from the network of an exec-server. Each request has a connection for itself: one that waits for its answer holds up everything behind it. */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../json.ts'
import { isJsonObject } from '../../../json.ts'
import { onAbort } from '../../on-abort.ts'
import type { ConnectionError, ExecConnection } from './exec-connection.ts'

/** Connections that wait for the next request. */
const IDLE_LANES = 4
const BODYLESS: ReadonlySet<number> = new Set([101, 204, 205, 304])

export interface LaneListener {
  notice(method: string, params: JsonObject): void
  closed(error: ConnectionError): void
}

/** Opens a connection; the listener may be exchanged for the next request. */
export type OpenLane = (listener: () => LaneListener | null, signal: AbortSignal) => Promise<ExecConnection>

interface Lane {
  readonly connection: ExecConnection
  listener: LaneListener | null
  broken: boolean
}

export class ExecHttp {
  readonly #open: OpenLane
  readonly #lanes = new Set<Lane>()
  readonly #idle: Lane[] = []
  readonly #ended = new AbortController()

  constructor(open: OpenLane) {
    this.#open = open
  }

  /** As the global fetch; rejects with TypeError where the executor cannot make the request, or the reason of the signal. */
  async fetch(input: URL, init: RequestInit): Promise<Response> {
    const request = new Request(input, { ...init, signal: null, duplex: 'half' })
    const body = init.body == null ? null : Buffer.from(await request.arrayBuffer())
    init.signal?.throwIfAborted()
    // what the executor unpacks and what it does not is its own affair
    if (!request.headers.has('accept-encoding')) request.headers.set('accept-encoding', 'identity')
    const lane = await this.#lane(init.signal ?? this.#ended.signal)
    return new Exchange(lane, () => this.#free(lane)).run(
      {
        method: request.method,
        url: input.href,
        headers: [...request.headers].map(([name, value]) => ({ name, value })),
        ...(body !== null && { bodyBase64: body.toString('base64') }),
        redirectPolicy: init.redirect === undefined || init.redirect === 'follow' ? 'follow' : 'stop',
        streamResponse: true,
      },
      init.signal ?? null,
    )
  }

  close(): void {
    this.#ended.abort()
    for (const { connection, listener } of this.#lanes) {
      connection.close()
      listener?.closed(Object.assign(new Error('the executor was closed'), { kind: 'cut' }) as ConnectionError)
    }
    this.#lanes.clear()
  }

  async #lane(signal: AbortSignal): Promise<Lane> {
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    let lane: Lane | null = null
    const connection = await this.#open(() => lane?.listener ?? null, signal)
    lane = { connection, listener: null, broken: false }
    if (this.#ended.signal.aborted) connection.close()
    this.#lanes.add(lane)
    return lane
  }

  #free(lane: Lane): void {
    lane.listener = null
    if (!lane.broken && !this.#ended.signal.aborted && this.#idle.length < IDLE_LANES) {
      this.#idle.push(lane)
      return
    }
    lane.connection.close()
    this.#lanes.delete(lane)
  }
}

/** One request and its answer. */
class Exchange implements LaneListener {
  readonly #lane: Lane
  readonly #done: () => void
  readonly #id = randomUUID()
  readonly #early = new Map<number, JsonObject>()
  #next = 1
  #over = false
  #body: ReadableStreamDefaultController<Uint8Array> | null = null
  #fail: (error: Error) => void = () => {}
  #forget: () => void = () => {}

  constructor(lane: Lane, done: () => void) {
    this.#lane = lane
    this.#done = done
    lane.listener = this
  }

  async run(params: JsonObject, signal: AbortSignal | null): Promise<Response> {
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#body = controller),
        pull: () => this.#lane.connection.pause(false),
        // there is no way to take a request back: its connection goes
        cancel: () => this.#end(true),
      },
      { highWaterMark: 64 },
    )
    const failed = new Promise<never>((_, reject) => (this.#fail = reject))
    failed.catch(() => {})
    if (signal) this.#forget = onAbort(signal, () => this.#break(signal.reason as Error))
    try {
      const answer = this.#lane.connection.call('http/request', { ...params, requestId: this.#id })
      const { status, headers, bodyBase64 } = await Promise.race([answer, failed])
      if (typeof status !== 'number' || status < 200 || status > 599) throw new TypeError('the executor answered without a status')
      if (typeof bodyBase64 === 'string' && bodyBase64 !== '') this.#give(Buffer.from(bodyBase64, 'base64'))
      const bodyless = BODYLESS.has(status)
      if (bodyless) this.#end(false)
      return new Response(bodyless ? null : stream, { status, headers: readHeaders(headers) })
    } catch (error) {
      this.#end(true)
      signal?.throwIfAborted()
      throw error instanceof TypeError ? error : new TypeError('fetch failed', { cause: error })
    }
  }

  notice(method: string, params: JsonObject): void {
    const { requestId, seq } = params
    if (method !== 'http/request/bodyDelta' || requestId !== this.#id || typeof seq !== 'number') return
    this.#early.set(seq, params)
    for (let delta = this.#early.get(this.#next); delta !== undefined && !this.#over; delta = this.#early.get(this.#next)) {
      this.#early.delete(this.#next++)
      this.#take(delta)
    }
  }

  closed(error: ConnectionError): void {
    this.#break(new TypeError('the connection to the executor broke', { cause: error }))
  }

  #take({ deltaBase64, done, error }: JsonObject): void {
    if (typeof deltaBase64 === 'string' && deltaBase64 !== '') this.#give(Buffer.from(deltaBase64, 'base64'))
    if (typeof error === 'string') this.#break(new TypeError('the body broke off', { cause: new Error(error) }))
    else if (done === true) {
      this.#body?.close()
      this.#end(false)
    }
  }

  #give(bytes: Uint8Array): void {
    this.#body?.enqueue(bytes)
    if ((this.#body?.desiredSize ?? 1) <= 0) this.#lane.connection.pause(true)
  }

  #break(error: Error): void {
    if (this.#over) return
    this.#fail(error)
    this.#body?.error(error)
    this.#end(true)
  }

  #end(broken: boolean): void {
    if (this.#over) return
    this.#over = true
    this.#forget()
    if (broken) this.#lane.broken = true
    else this.#lane.connection.pause(false)
    this.#done()
  }
}

function readHeaders(headers: unknown): Headers {
  const read = new Headers()
  for (const one of Array.isArray(headers) ? (headers as unknown[]) : []) {
    if (!isJsonObject(one) || typeof one['name'] !== 'string' || typeof one['value'] !== 'string') continue
    try {
      read.append(one['name'], one['value'])
    } catch {
      // a header that no Response may have
    }
  }
  return read
}
