/** The SDK's server in loose form: the client's requests come in raw, and so do its answers to ours. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { createRequire } from 'node:module'
import type { Answer } from '../connections/loose-transport.ts'
import { LooseTransport } from '../connections/loose-transport.ts'
import type { MessageCarrier } from '../connections/message-transport.ts'
import { LONGEST_DELAY } from '../connections/pending-request.ts'
import { RpcFault } from '../connections/server-request.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { VERSION } from '../version.ts'

/** Answers one request of the client; a rejection with an RpcFault is an answer too. */
export type ClientRequestHandler = (method: string, params: JsonObject, signal: AbortSignal) => Promise<object>

export interface ClientPeerOptions {
  readonly transport: MessageCarrier
  readonly onRequest: ClientRequestHandler
  readonly onNotification: (method: string, params: JsonObject) => void
}

/** The conversation with one client. */
export class ClientPeer {
  readonly #server: Server
  readonly #transport: MessageCarrier

  private constructor(server: Server, { transport, onRequest }: ClientPeerOptions) {
    this.#server = server
    this.#transport = transport
    // the SDK's own handlers parse strictly and drop unknown fields
    for (const method of ['initialize', 'ping']) server.removeRequestHandler(method)
    server.fallbackRequestHandler = ({ method, params }, { signal }) => onRequest(method, isJsonObject(params) ? params : {}, signal)
  }

  /** Listens from now on. */
  static async start(options: ClientPeerOptions): Promise<ClientPeer> {
    const { Server: SdkServer } = loadSdk()
    const server = new SdkServer(
      { name: 'tapline', version: VERSION },
      // the default one makes an Ajv instance
      { jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) } },
    )
    const peer = new ClientPeer(server, options)
    const loose = new LooseTransport(options.transport)
    loose.onNotice = options.onNotification
    await server.connect(loose)
    return peer
  }

  /** Asks the client; the result as it came. Rejects with the client's error as an RpcFault; the signal takes the request back. */
  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const whole = { safeParse: (answer: Answer) => ({ success: true, data: answer }) }
    const answer = (await this.#server.request({ method, params }, whole as never, { signal, timeout: LONGEST_DELAY })) as unknown as Answer
    if (answer.error !== null) throw new RpcFault(answer.error.code, answer.error.message, answer.error.data)
    if (!isJsonObject(answer.result)) throw new RpcFault(-32603, `the client answered ${method} with no object`)
    return answer.result
  }

  notify(method: string, params?: JsonObject): void {
    void this.#transport.send({ jsonrpc: '2.0', method, ...(params && { params }) })
  }

  /** The client is gone: what it still waits for is aborted. */
  ended(): void {
    void this.#server.close()
  }
}

/** In the CommonJS form, as the client (connections/peer.ts), so that what both share is loaded once. */
function loadSdk(): typeof import('@modelcontextprotocol/sdk/server/index.js') {
  return createRequire(import.meta.url)(
    '@modelcontextprotocol/sdk/server/index.js',
  ) as typeof import('@modelcontextprotocol/sdk/server/index.js')
}
