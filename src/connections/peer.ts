/** The SDK's client in loose form: initialize, raw requests, answers to what the server asks. The only file that loads the SDK. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { createRequire } from 'node:module'
import { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Progress } from '../mcp.ts'
import type { RequestOptions } from './connection.ts'
import type { InitializeAnswer } from './loose-transport.ts'
import { LooseTransport, TOO_LONG_CODE } from './loose-transport.ts'
import type { MessageTransport } from './message-transport.ts'
import type { RequestContext } from './pending-request.ts'
import { LONGEST_DELAY, PendingRequest } from './pending-request.ts'
import { printable } from './printable.ts'
import { PROTOCOL_VERSIONS } from './protocol-versions.ts'
import type { ServerRequestHandler } from './server-request.ts'
import { RpcFault } from './server-request.ts'

/** What the server said of itself. */
export interface PeerInfo {
  readonly protocolVersion: string
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | null
}

export interface PeerOptions extends RequestContext {
  readonly transport: MessageTransport
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** text of the frame limit, for messages */
  readonly frameLimit: string
  /** declared in initialize */
  readonly capabilities: JsonObject
  readonly onNotification: (method: string, params: JsonObject) => void
  /** Answers a request of the server; a rejection with an `RpcFault` is an answer too. */
  readonly onRequest: ServerRequestHandler
  /** a frame over the limit that no request can be told about */
  readonly onLostFrame: () => void
}

/** One initialised conversation with a server. */
export class Peer {
  readonly #client: Client
  readonly #loose: LooseTransport
  readonly #options: PeerOptions
  readonly #questions = { open: 0, closedAt: -Infinity }

  constructor(client: Client, options: PeerOptions) {
    this.#client = client
    this.#options = options
    this.#loose = new LooseTransport(options.transport)
    options.transport.onTooLong = (id) => {
      if (id === null) options.onLostFrame()
      else this.#loose.fail(id, { code: TOO_LONG_CODE, message: options.frameLimit, data: undefined })
    }
    // the built-in ping handler refuses a ping with odd params
    client.removeRequestHandler('ping')
    client.fallbackRequestHandler = ({ method, params }, { signal }) => this.#asked(method, params, signal)
    this.#loose.onNotice = (method, params) => {
      try {
        options.onNotification(method, params)
      } catch {
        // a listener that throws must not end the connection that it listens to
      }
    }
  }

  /** Rejects with SERVER_START_FAILED (refused), SERVER_PROTOCOL (a revision that we do not speak), or why the connection is gone. */
  async initialize(): Promise<PeerInfo> {
    try {
      await this.#client.connect(this.#loose, { timeout: LONGEST_DELAY })
    } catch {
      throw this.#problem(this.#loose.initialized) ?? this.#options.endError()
    }
    const problem = this.#problem(this.#loose.initialized)
    if (problem) throw problem
    const result = (this.#loose.initialized as { readonly result: JsonObject }).result
    const { serverInfo, capabilities, instructions } = result
    return {
      protocolVersion: result['protocolVersion'] as string,
      serverInfo: isJsonObject(serverInfo) ? serverInfo : {},
      capabilities: isJsonObject(capabilities) ? capabilities : {},
      instructions: typeof instructions === 'string' ? instructions : null,
    }
  }

  /** Writes within this call; gives the result as it came. The SDK sets the progress token, which keeps the first place in `_meta`. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    if (options.cancellation === undefined ? options.signal?.aborted : options.cancellation.isCancelled) {
      return Promise.reject(
        new TaplineError('CALL_CANCELLED', `${method} to ${this.#options.label} was cancelled before it was sent`, {
          data: { sent: 'no' },
        }),
      )
    }
    const pending = new PendingRequest(this.#options, this.#questions, method, options)
    const { onProgress } = options
    const { _meta: meta } = params
    return this.#client
      .request(
        { method, params: meta === undefined ? params : { ...params, _meta: { progressToken: 0, ...(meta as JsonObject) } } },
        pending as never,
        {
          signal: pending as never,
          // the limits are the pending request's own: the clock of the SDK cannot stand still
          timeout: LONGEST_DELAY,
          onprogress: (progress) => {
            pending.heard()
            if (onProgress !== undefined) tell(onProgress, progress as Progress)
          },
        },
      )
      .catch((error: unknown) => {
        throw pending.failed(error)
      }) as Promise<JsonObject>
  }

  /** Tells the server something that it does not answer. */
  notify(method: string): void {
    this.#client.notification({ method }).catch(() => {})
  }

  /** The transport is gone: everything that waits rejects with `endError()`. */
  ended(): void {
    this.#loose.onclose?.()
  }

  /** With every field: the SDK's typed handlers strip unknown ones. */
  async #asked(method: string, params: unknown, signal: AbortSignal): Promise<JsonObject> {
    if (method === 'ping') return {}
    this.#questions.open++
    try {
      return await this.#options.onRequest({ method, params: isJsonObject(params) ? params : {}, signal })
    } catch (error) {
      // nothing of an error of ours is a server's business
      throw error instanceof RpcFault ? error : new RpcFault(-32603, 'Internal error')
    } finally {
      this.#questions.open--
      this.#questions.closedAt = performance.now()
    }
  }

  #problem(answer: InitializeAnswer | null): TaplineError | null {
    if (answer === null) return null
    const { label, redact, frameLimit } = this.#options
    if ('error' in answer) {
      const { code, message } = answer.error
      if (code === TOO_LONG_CODE)
        return new TaplineError('SERVER_START_FAILED', `${label} answered initialize with a frame over the limit of ${frameLimit}`)
      return new TaplineError('SERVER_START_FAILED', `${label} refused initialize: ${printable(redact(message), 1000)} (${code})`, {
        data: { stage: 'initialize', rpcCode: code },
      })
    }
    const version = isJsonObject(answer.result) ? answer.result['protocolVersion'] : undefined
    if (typeof version === 'string' && PROTOCOL_VERSIONS.includes(version)) return null
    const said = typeof version === 'string' ? `protocol version ${JSON.stringify(printable(version, 40))}` : 'no protocol version'
    return new TaplineError('SERVER_PROTOCOL', `${label} answered initialize with ${said}; supported are ${PROTOCOL_VERSIONS.join(', ')}`, {
      data: { stage: 'initialize', supported: PROTOCOL_VERSIONS },
    })
  }
}

/**
 * The SDK's client, loaded on first use: in its CommonJS form, because its hundred files then take a sixth less time than as ES modules.
 * That blocks, so it comes after the process was started, which needs its own time meanwhile.
 */
function loadSdk(): typeof import('@modelcontextprotocol/sdk/client/index.js') {
  return createRequire(import.meta.url)(
    '@modelcontextprotocol/sdk/client/index.js',
  ) as typeof import('@modelcontextprotocol/sdk/client/index.js')
}

/** Makes a peer; call `initialize` next. */
export function createPeer(options: PeerOptions): Peer {
  const { Client } = loadSdk()
  const client = new Client(options.clientInfo, {
    capabilities: options.capabilities,
    // the default one makes an Ajv instance for every client; checks of schemas are made elsewhere
    jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
  })
  return new Peer(client, options)
}

function tell(onProgress: (progress: Progress) => void, progress: Progress): void {
  try {
    onProgress(progress)
  } catch {
    // a listener that throws must not end the call that it listens to
  }
}
