/**
 * The seam between a transport of ours and the SDK's client, where the SDK is stricter or looser than a host can afford:
 * answers travel in a box (the SDK copies, checks and on errors prints whatever it can see of them), odd envelopes are put right
 * instead of being left without an answer, and initialize is never cancelled by a notice.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { MessageCarrier } from './message-transport.ts'

/** The error member of an answer. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

/** An answer on its way through the SDK. Shows nothing of itself, so that a late answer of megabytes is not printed into an error. */
export class Answer {
  readonly #result: unknown
  readonly #error: RpcError | null
  readonly #failure: TaplineError | null

  constructor(result: unknown, error: RpcError | null, failure: TaplineError | null = null) {
    this.#result = result
    this.#error = error
    this.#failure = failure
  }

  /** why there is no answer of the server */
  get failure(): TaplineError | null {
    return this.#failure
  }

  get result(): unknown {
    return this.#result
  }

  get error(): RpcError | null {
    return this.#error
  }

  toJSON(): string {
    return 'an answer'
  }
}

/** What initialize was answered. */
export type InitializeAnswer = { readonly result: unknown } | { readonly error: RpcError }

/** Reason of every cancel notice: a caller's own words stay here. */
const NEUTRAL_REASON = 'The client no longer waits for this request.'
/** A frame over the limit, as an error code of our own range. */
export const TOO_LONG_CODE = -32099

/** An SDK transport over one of ours. */
export class LooseTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  /** notices that the SDK has no part in: it would hold each against three schemas first, which a server that floods makes everybody pay for */
  onNotice: (method: string, params: JsonObject) => void = () => {}
  /** the answer to initialize as it came */
  initialized: InitializeAnswer | null = null
  readonly #transport: MessageCarrier
  #initializeId: unknown = null
  #progressOnItsWay = false

  constructor(transport: MessageCarrier) {
    this.#transport = transport
    transport.onMessage = (message) => this.#receive(message)
    transport.onFailed = (id, error) => this.#deliver({ jsonrpc: '2.0', id, result: new Answer(undefined, null, error) })
  }

  start(): Promise<void> {
    this.#transport.start()
    return Promise.resolve()
  }

  setProtocolVersion(version: string): void {
    this.#transport.agreed?.(version)
  }

  send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) {
      if (message.method === 'initialize' && 'id' in message) this.#initializeId = message.id
      else if (message.method === 'notifications/cancelled') {
        const requestId = message.params?.['requestId']
        if (requestId === this.#initializeId) return Promise.resolve()
        return this.#transport.send({ ...message, params: { requestId, reason: NEUTRAL_REASON } })
      }
    }
    return this.#transport.send(message)
  }

  /** The SDK closes when initialize fails; who owns the transport closes it, with a better reason. */
  close(): Promise<void> {
    this.onclose?.()
    return Promise.resolve()
  }

  /** Ends the request of this id with an error of ours. */
  fail(id: number, error: RpcError): void {
    if (this.initialized === null && id === this.#initializeId) this.#answerInitialize(id, { error })
    else this.#deliver({ jsonrpc: '2.0', id, result: new Answer(undefined, error) })
  }

  #receive(message: JsonObject): void {
    const { id, method } = message
    if (typeof method === 'string') {
      if (typeof id === 'string' || Number.isSafeInteger(id))
        this.#deliver({ jsonrpc: '2.0', id, method, ...plainParams(message['params']) })
      else if (id === undefined) this.#notice(method, message['params'])
      return
    }
    // some servers give the id back as text
    const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
    if (!Number.isSafeInteger(number)) return
    const error = readError(message['error'])
    if (number === this.#initializeId && this.initialized === null) {
      this.#answerInitialize(number as number, error === null ? { result: message['result'] } : { error })
      return
    }
    const envelope = { jsonrpc: '2.0', id: number, result: new Answer(message['result'], error) }
    if (this.#progressOnItsWay) queueMicrotask(() => this.#deliver(envelope))
    else this.#deliver(envelope)
  }

  #notice(method: string, params: unknown): void {
    if (method === 'notifications/progress') this.#afterProgress()
    else if (method !== 'notifications/cancelled') return this.onNotice(method, isJsonObject(params) ? params : {})
    this.#deliver({ jsonrpc: '2.0', method, ...plainParams(params) })
  }

  /** The SDK handles a notification one microtask late and an answer at once: the last progress before an answer would be lost. */
  #afterProgress(): void {
    if (this.#progressOnItsWay) return
    this.#progressOnItsWay = true
    // taken back after the SDK's own microtask of the last progress of this turn
    setImmediate(() => {
      this.#progressOnItsWay = false
    })
  }

  /** The SDK gets the least that it accepts; what the server said is kept for our own checks. */
  #answerInitialize(id: number, answer: InitializeAnswer): void {
    this.initialized = answer
    const result = 'result' in answer && isJsonObject(answer.result) ? answer.result : null
    if (result === null || typeof result['protocolVersion'] !== 'string') {
      this.#deliver({ jsonrpc: '2.0', id, error: { code: -32603, message: 'initialize was not answered with a result' } })
      return
    }
    this.#deliver({
      jsonrpc: '2.0',
      id,
      result: { protocolVersion: result['protocolVersion'], capabilities: {}, serverInfo: { name: 'server', version: '0' } },
    })
  }

  #deliver(message: object): void {
    this.onmessage?.(message as JSONRPCMessage)
  }
}

function readError(error: unknown): RpcError | null {
  if (error === undefined || error === null) return null
  if (!isJsonObject(error))
    return { code: -32603, message: typeof error === 'string' ? error : 'an error without a message', data: undefined }
  const { code, message, data } = error
  return {
    code: Number.isSafeInteger(code) ? (code as number) : -32603,
    message: typeof message === 'string' ? message : 'an error without a message',
    data,
  }
}

/** Params that the SDK's envelope accepts: it drops a message whole for a `_meta` that it does not like, and then nobody answers. */
function plainParams(params: unknown): { readonly params?: JsonObject } {
  if (!isJsonObject(params)) return {}
  const meta: unknown = params['_meta']
  if (meta === undefined) return { params }
  const token: unknown = isJsonObject(meta) ? meta['progressToken'] : null
  if (
    isJsonObject(meta) &&
    (token === undefined || typeof token === 'string' || Number.isSafeInteger(token)) &&
    !('io.modelcontextprotocol/related-task' in meta)
  )
    return { params }
  const { _meta, ...rest } = params
  return { params: rest }
}
