/** The transport of an HTTP server: Streamable HTTP, or the older HTTP with SSE where the server knows nothing else. */
import type { TaplineError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { MessageTransport } from '../message-transport.ts'
import type { HttpAnswer, HttpClient } from './http-client.ts'
import type { HttpErrors } from './http-errors.ts'
import type { HttpLink } from './http-link.ts'
import { messagesIn, readStart } from './http-link.ts'
import { LegacySse } from './legacy-sse.ts'
import { requestWithinOrigin } from './redirects.ts'
import { StreamableHttp } from './streamable-http.ts'

// taken at load: a plugin that patches it later changes nothing of what is sent
const { stringify } = JSON
const SENT: Promise<void> = Promise.resolve()

export interface HttpTransportOptions {
  readonly url: URL
  readonly client: HttpClient
  /** sent with every request */
  readonly headers: Readonly<Record<string, string>>
  readonly errors: HttpErrors
  /** bytes */
  readonly frameLimit: number
}

/** A message is serialised within `send`; what becomes of a request is told by `onMessage`, `onTooLong` or `onFailed`. */
export class HttpTransport implements MessageTransport {
  onMessage: MessageTransport['onMessage'] = null
  onTooLong: MessageTransport['onTooLong'] = null
  onFailed: MessageTransport['onFailed'] = null
  onEnd: MessageTransport['onEnd'] = null
  readonly pid = null
  readonly trouble = undefined
  readonly #client: HttpClient
  readonly #errors: HttpErrors
  readonly #link: HttpLink
  readonly #http: StreamableHttp
  #legacy: LegacySse | null = null
  #initializeId: number | null = null
  #isEnded = false
  #stopped: Promise<void> | null = null

  constructor({ url, client, headers, errors, frameLimit }: HttpTransportOptions) {
    this.#client = client
    this.#errors = errors
    this.#link = {
      url,
      errors,
      frameLimit,
      request: async (request) => {
        try {
          // the protocol's own headers are stronger
          return await requestWithinOrigin(client, { url, ...request, headers: { ...headers, ...request.headers } })
        } catch (error) {
          throw errors.network(error)
        }
      },
      deliver: (message) => this.#deliver(message),
      fail: (id, error) => this.#fail(id, error),
      tooLong: (id) => this.onTooLong?.(id),
      end: (error) => this.#end(error),
    }
    this.#http = new StreamableHttp(this.#link, (answer, text) => void this.#tryLegacy(answer, text))
  }

  start(): void {}

  send(message: object): Promise<void> {
    if (this.#isEnded) return Promise.reject(new Error('the connection has ended'))
    const text = stringify(message)
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: { requestId?: unknown } }
    const isRequest = typeof method === 'string' && typeof id === 'number'
    if (isRequest && method === 'initialize') this.#initializeId = id
    if (this.#legacy !== null) {
      const sent = this.#legacy.send(text)
      if (!isRequest) return sent
      sent.catch((error: TaplineError) => this.#fail(id, error))
      return SENT
    }
    if (isRequest) {
      this.#http.request(id, text)
      return SENT
    }
    const notified = this.#http.notify(text)
    if (method === 'notifications/cancelled') this.#http.forget(Number(params?.requestId))
    if (method !== 'notifications/initialized') return notified
    return notified.then(
      () => this.#http.openStream(),
      (error: TaplineError) => {
        this.#end(error)
        throw error
      },
    )
  }

  agreed(version: string): void {
    this.#errors.isUp = true
    this.#http.agreed(version)
  }

  junk(): string {
    return ''
  }

  lastLines(): readonly string[] {
    return []
  }

  close(): void {
    this.#http.close()
    this.#legacy?.close()
    if (this.#isEnded) return
    this.#isEnded = true
    this.onEnd?.({ status: null, cause: 'closed' })
  }

  stop(graceMs: number): Promise<void> {
    this.#stopped ??= (async () => {
      this.close()
      await this.#http.leave(graceMs)
      await this.#client.close()
    })()
    return this.#stopped
  }

  #deliver(message: JsonObject): void {
    if (this.#isEnded) return
    try {
      this.onMessage?.(message)
    } catch {
      // nothing that a server sends may end the host
    }
  }

  #fail(id: number, error: TaplineError): void {
    if (this.#isEnded) return
    if (id === this.#initializeId && !this.#errors.isUp) return this.#end(error)
    this.onFailed?.(id, error)
    // a server that cannot be reached or wants other credentials gets a new start with the next call, where nobody waits for it now
    if (this.#http.pending === 0 && error.data?.['sent'] === 'no' && error.code !== 'SERVER_FAILED') this.#end(error)
  }

  #end(error: TaplineError): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.onEnd?.({ status: null, cause: null, error })
  }

  /** `initialize` was refused with a status by which an older server may have refused it. */
  async #tryLegacy(answer: HttpAnswer, text: string): Promise<void> {
    const id = this.#initializeId as number
    const said = await readStart(answer)
    const refusal = messagesIn(said)?.find(({ error }) => error !== undefined)
    if (refusal !== undefined && answer.status === 400) return this.#deliver({ ...refusal, id })
    const legacy = new LegacySse(this.#link)
    const isOpen = await legacy.open()
    if (this.#isEnded) return legacy.close()
    if (!isOpen) return this.#end(this.#errors.status(answer.status, said))
    this.#legacy = legacy
    await legacy.send(text).catch((error: TaplineError) => this.#end(error))
  }
}
