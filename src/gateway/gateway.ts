/** One MCP server in front of all: one client, and a session of its own behind it. */
import type { MessageCarrier } from '../connections/message-transport.ts'
import { PROTOCOL_VERSIONS } from '../connections/protocol-versions.ts'
import { RpcFault } from '../connections/server-request.ts'
import { asTaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Session, SessionOptions } from '../runtime/types.ts'
import { VERSION } from '../version.ts'
import { clientHandlers } from './client-questions.ts'
import { ClientPeer } from './client-peer.ts'
import { OfferedSession } from './offered-session.ts'
import { invalidParams, rpcFault } from './rpc-fault.ts'

const CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

export interface GatewayOptions {
  readonly transport: MessageCarrier
  /** opens the session of the client; called once, after `initialize` was answered */
  readonly openSession: (options: SessionOptions) => Promise<Session>
  /** a line for people; never a secret */
  readonly note: (line: string) => void
  /** ends the serving */
  readonly signal: AbortSignal
}

/** Serves until the client is gone or the signal aborts. Rejects with the error of the session where that cannot be opened. Closing what the session holds is the caller's. */
export async function serveClient({ transport, openSession, note, signal }: GatewayOptions): Promise<void> {
  let opening: Promise<OfferedSession> | null = null
  let end: (error: Error | null) => void = () => {}
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error === null ? resolve() : reject(error))
  })

  const open = async (capabilities: JsonObject): Promise<OfferedSession> => {
    try {
      const session = await openSession(clientHandlers(() => peer, capabilities))
      return new OfferedSession(session, (method, params) => peer.notify(method, params), note)
    } catch (error) {
      // what was asked meanwhile is answered first
      setImmediate(() => end(asTaplineError(error, 'INTERNAL')))
      throw error
    }
  }
  const initialize = ({ protocolVersion, capabilities }: JsonObject): object => {
    if (opening !== null) throw new RpcFault(-32600, 'initialize came twice')
    if (typeof protocolVersion !== 'string') throw invalidParams('protocolVersion must be text')
    opening = open(isJsonObject(capabilities) ? capabilities : {})
    opening.catch(() => {})
    return {
      protocolVersion: PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : PROTOCOL_VERSIONS[0],
      capabilities: CAPABILITIES,
      serverInfo: { name: 'tapline', version: VERSION },
    }
  }

  transport.onEnd = () => end(null)
  const peer = await ClientPeer.start({
    transport,
    onRequest: async (method, params, requestSignal) => {
      if (method === 'ping') return {}
      if (method === 'initialize') return initialize(params)
      if (opening === null) throw new RpcFault(-32600, `${method} came before initialize`)
      try {
        return await (await opening).answer(method, params, requestSignal)
      } catch (error) {
        throw rpcFault(error)
      }
    },
    onNotification: (method) => {
      if (method === 'notifications/roots/list_changed')
        void opening?.then(
          (session) => session.rootsChanged(),
          () => {},
        )
    },
  })
  const stop = (): void => transport.close()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    await ended
  } finally {
    signal.removeEventListener('abort', stop)
    transport.close()
    peer.ended()
    await (opening as Promise<OfferedSession> | null)?.then(
      (session) => session.close(),
      () => {},
    )
  }
}
