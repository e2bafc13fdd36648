/** What a server asks of its client, in loose form, and how that is refused. */
import type { JsonObject } from '../json.ts'

/** One request of a server, every field as it came. */
export interface ServerRequest {
  readonly method: string
  readonly params: JsonObject
  /** ends when the server takes its request back, and with the connection */
  readonly signal: AbortSignal
}

/** Gives the result as it is written. Rejects with an RpcFault; anything else is told as an internal error, without a word of it. */
export type ServerRequestHandler = (request: ServerRequest) => Promise<JsonObject>

/** A JSON-RPC error as an answer. */
export class RpcFault extends Error {
  readonly code: number
  readonly data?: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    if (data !== undefined) this.data = data
  }
}

/** The answer to a method that was not declared: at once, never silence. */
export const methodNotFound = (): RpcFault => new RpcFault(-32601, 'Method not found')
