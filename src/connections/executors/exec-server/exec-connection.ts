/** One WebSocket to a `codex exec-server`: the handshake, and requests with their answers. */
import type { JsonObject } from '../../../json.ts'
import { isJsonObject } from '../../../json.ts'
import type WebSocket from 'ws'

/** ms for opening the socket, and for each step of the handshake. */
const HANDSHAKE_MS = 15_000
/** ms of silence after which a ping is sent; as long again without a sign of life ends the connection. */
const QUIET_MS = 15_000
/** Most bytes of one frame: about 1 MiB of output is kept, and files come whole. */
const FRAME_BYTES = 256 * 1024 * 1024

/** An answer that is an error. */
export class RpcError extends Error {
  readonly code: number
  /** `data.kind`, where there is one */
  readonly kind: string | null

  constructor(code: number, message: string, kind: string | null) {
    super(message)
    this.code = code
    this.kind = kind
  }
}

/** Why a connection could not be opened, or ended. */
export class ConnectionError extends Error {
  /** `refused`: nobody listens; `denied`: the executor wants another token; `protocol`: it is no exec-server, or a broken one */
  readonly kind: 'refused' | 'denied' | 'protocol' | 'cut'

  constructor(kind: ConnectionError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export interface ConnectionOptions {
  readonly url: string
  readonly token: string | null
  /** session to take up again, or null for a new one */
  readonly resume: string | null
  readonly signal: AbortSignal
  readonly onNotice: (method: string, params: JsonObject) => void
  /** called once, for a connection that was open */
  readonly onClose: (error: ConnectionError) => void
}

interface Waiting {
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** An open connection, past the handshake. */
export class ExecConnection {
  /** not `sessionId`: MCP transports give that name a meaning */
  readonly executorSession: string
  readonly info: JsonObject
  readonly #line: Line

  /** Rejects with ConnectionError, RpcError (a session that cannot be taken up again) or the reason of the signal. */
  static async open(options: ConnectionOptions): Promise<ExecConnection> {
    const line = await openLine(options)
    const timer = setTimeout(
      () => line.end(new ConnectionError('protocol', `it did not answer initialize within ${HANDSHAKE_MS / 1000} s`)),
      HANDSHAKE_MS,
    )
    const stop = (): void => line.end(new ConnectionError('cut', 'closed'))
    options.signal.addEventListener('abort', stop, { once: true })
    try {
      const { sessionId, environmentInfo } = await line.call('initialize', { clientName: 'tapline', resumeSessionId: options.resume })
      if (typeof sessionId !== 'string' || sessionId === '')
        throw new ConnectionError('protocol', 'its answer to initialize has no session')
      line.notify('initialized', {})
      line.open = true
      return new ExecConnection(line, sessionId, isJsonObject(environmentInfo) ? environmentInfo : {})
    } catch (error) {
      line.end(new ConnectionError('cut', 'closed'))
      options.signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      options.signal.removeEventListener('abort', stop)
    }
  }

  private constructor(line: Line, session: string, info: JsonObject) {
    this.#line = line
    this.executorSession = session
    this.info = info
  }

  /** Sends a request within the call. Rejects with RpcError or ConnectionError. */
  call(method: string, params: JsonObject): Promise<JsonObject> {
    return this.#line.call(method, params)
  }

  /** Holds back what comes, and lets it come again. */
  pause(on: boolean): void {
    this.#line.pause(on)
  }

  /** Closes the socket; `onClose` is not called. */
  close(): void {
    this.#line.open = false
    this.#line.end(new ConnectionError('cut', 'closed'))
  }
}

/** A socket with its requests. */
class Line {
  open = false
  readonly #socket: WebSocket
  readonly #options: ConnectionOptions
  readonly #waiting = new Map<number, Waiting>()
  readonly #pulse: ReturnType<typeof setInterval>
  #heard = true
  #asked = false
  #end: ConnectionError | null = null
  #count = 0
  /** messages, so that one that has just gone out is seen */
  #sent = 0
  #owed: NodeJS.Immediate | null = null

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('message', (data: Buffer) => this.#take(data))
    socket.on('pong', () => (this.#heard = true))
    socket.on('close', (code) => this.end(new ConnectionError('cut', `the connection was closed (${code})`)))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.end(new ConnectionError('cut', `the connection broke (${error.code ?? error.message})`)),
    )
    this.#pulse = setInterval(() => this.#beat(), QUIET_MS)
    this.#pulse.unref()
  }

  call(method: string, params: JsonObject): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#end) {
        reject(this.#end)
        return
      }
      const id = ++this.#count
      this.#waiting.set(id, { resolve, reject })
      this.#sent++
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }

  notify(method: string, params: JsonObject): void {
    this.#socket.send(JSON.stringify({ method, params }))
  }

  /**
   * The other side sends its next small segment only once the last one is acknowledged, and acknowledgements travel late (40 ms) where
   * nothing else does. A pong that nobody asked for carries them; a request of ours would do so too.
   */
  #acknowledge(): void {
    if (this.#owed !== null) return
    const sent = this.#sent
    this.#owed = setImmediate(() => {
      this.#owed = null
      if (this.#end === null && this.#sent === sent) this.#socket.pong()
    })
  }

  pause(on: boolean): void {
    if (this.#end) return
    if (on) this.#socket.pause()
    else this.#socket.resume()
  }

  end(error: ConnectionError): void {
    if (this.#end) return
    this.#end = error
    clearInterval(this.#pulse)
    this.#socket.terminate()
    for (const one of this.#waiting.values()) one.reject(error)
    this.#waiting.clear()
    if (this.open) this.#options.onClose(error)
  }

  #beat(): void {
    if (!this.#heard && this.#asked) {
      this.end(new ConnectionError('cut', `it gave no sign of life for ${(2 * QUIET_MS) / 1000} s`))
      return
    }
    this.#asked = !this.#heard
    this.#heard = false
    if (this.#asked) this.#socket.ping()
  }

  #take(data: Buffer): void {
    this.#heard = true
    this.#acknowledge()
    let message: unknown
    try {
      message = JSON.parse(data.toString('utf8'))
    } catch {
      message = null
    }
    if (!isJsonObject(message)) {
      this.end(new ConnectionError('protocol', 'it sent a message that cannot be read'))
      return
    }
    const { id, method, params, result, error } = message
    if (typeof method === 'string') {
      // what a listener makes of it may not end the host
      if (isJsonObject(params)) this.#options.onNotice(method, params)
      return
    }
    if (id === -1) {
      this.end(new ConnectionError('protocol', 'it could not read a message of ours'))
      return
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (waiting === undefined) return
    this.#waiting.delete(id as number)
    if (isJsonObject(error)) waiting.reject(rpcError(error))
    else if (isJsonObject(result)) waiting.resolve(result)
    else {
      const broken = new ConnectionError('protocol', 'it sent an answer without a result')
      waiting.reject(broken)
      this.end(broken)
    }
  }
}

function rpcError({ code, message, data }: JsonObject): RpcError {
  const kind = isJsonObject(data) && typeof data['kind'] === 'string' ? data['kind'] : null
  return new RpcError(typeof code === 'number' ? code : 0, typeof message === 'string' ? message : 'an error without a message', kind)
}

async function openLine(options: ConnectionOptions): Promise<Line> {
  const { url, token, signal } = options
  const { WebSocket: Socket } = await import('ws')
  signal.throwIfAborted()
  const socket = new Socket(url, {
    // small messages: compressing them costs more than it saves
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: FRAME_BYTES,
    followRedirects: false,
    ...(token !== null && { headers: { authorization: `Bearer ${token}` } }),
  })
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort)
      reject(error)
      socket.on('error', () => {})
      socket.terminate()
    }
    const abort = (): void => fail(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    socket.once('unexpected-response', (_, { statusCode = 0 }) =>
      fail(
        statusCode === 401 || statusCode === 403
          ? new ConnectionError(
              'denied',
              `it refused the connection with ${statusCode}: ${token === null ? 'it wants a token' : 'the token is not the right one'}`,
            )
          : new ConnectionError('protocol', `it answered ${statusCode}, as no exec-server does`),
      ),
    )
    socket.once('error', (error: NodeJS.ErrnoException) => fail(new ConnectionError(kindOf(error), error.code ?? error.message)))
    socket.once('open', () => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners()
      resolve(new Line(socket, options))
    })
  })
}

function kindOf({ code, message }: NodeJS.ErrnoException): ConnectionError['kind'] {
  if (code === 'ECONNREFUSED') return 'refused'
  // what `ws` says of peers that are no WebSocket servers; everything else may pass
  return code === undefined && !/timed out|socket hang up/i.test(message) ? 'protocol' : 'cut'
}
