/** Streamable HTTP: each message is a POST; a session where the server gives one; its end by DELETE. */
import type { JsonObject } from '../../json.ts'
import type { TaplineError } from '../../errors.ts'
import { within } from '../stop-process.ts'
import type { HttpAnswer } from './http-client.ts'
import type { ExchangeHost, Refusal } from './http-exchange.ts'
import { HttpExchange } from './http-exchange.ts'
import type { HttpLink } from './http-link.ts'
import { idOf, readStart } from './http-link.ts'
import { followStandalone } from './standalone-stream.ts'

const ACCEPT = 'application/json, text/event-stream'
/** Statuses by which a server of the revision 2024-11-05 refuses `initialize`. */
const OLD: ReadonlySet<number> = new Set([400, 404, 405])
/** What servers with the status 400 say of a session that they do not know. */
const NO_SESSION = /session|not initialized/i

/** One session with a server. */
export class StreamableHttp implements ExchangeHost {
  readonly link: HttpLink
  readonly #calls = new Map<number, HttpExchange>()
  readonly #ended = new AbortController()
  /** gets the message of a refused `initialize`; null once that was answered */
  #otherWay: ((answer: HttpAnswer, text: string) => void) | null
  #first: HttpExchange | null = null
  #firstText = ''
  #sessionId: string | null = null
  #version: string | null = null

  constructor(link: HttpLink, otherWay: (answer: HttpAnswer, text: string) => void) {
    this.link = link
    this.#otherWay = otherWay
  }

  get pending(): number {
    let count = 0
    for (const call of this.#calls.values()) if (!call.isAnswered) count++
    return count
  }

  /** Starts a request; its end comes by way of the link. */
  request(id: number, text: string): void {
    const exchange = new HttpExchange(this, id)
    this.#calls.set(id, exchange)
    if (this.#otherWay !== null && this.#first === null) {
      this.#first = exchange
      this.#firstText = text
    }
    void exchange.run(text)
  }

  /** A notification, or an answer to the server. Rejects with TaplineError where it surely does no good to go on. */
  async notify(text: string): Promise<void> {
    const answer = await this.post(text, this.#ended.signal)
    if (answer.status >= 200 && answer.status <= 299) return answer.discard()
    const { error, kind } = await this.refused(answer)
    if (kind === 'lost') this.lost(error)
    // some servers have only an error for what needs no answer
    if (kind !== 'other') throw error
  }

  /** Nobody waits for this request any more. */
  forget(id: number): void {
    const exchange = this.#calls.get(id)
    this.#calls.delete(id)
    exchange?.abort()
  }

  agreed(version: string): void {
    this.#version = version
  }

  openStream(): void {
    void followStandalone(this, this.#ended.signal)
  }

  close(): void {
    this.#ended.abort()
    for (const exchange of this.#calls.values()) exchange.abort()
    this.#calls.clear()
  }

  /** Tells the server that the session is over, where there is one; at most so many ms. Never rejects. */
  async leave(graceMs: number): Promise<void> {
    if (this.#sessionId === null) return
    const late = new AbortController()
    const told = this.link.request({ method: 'DELETE', headers: this.#headers({}), signal: late.signal }).then(
      (answer) => answer.discard(),
      () => {},
    )
    this.#sessionId = null
    await within(told, graceMs, undefined)
    late.abort()
  }

  // ---- what exchanges need

  post(text: string, signal: AbortSignal): Promise<HttpAnswer> {
    const headers = this.#headers({ 'content-type': 'application/json', accept: ACCEPT })
    return this.link.request({ method: 'POST', headers, body: text, signal })
  }

  stream(lastEventId: string | null, signal: AbortSignal): Promise<HttpAnswer> {
    const headers = { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) }
    return this.link.request({ method: 'GET', headers: this.#headers(headers), signal })
  }

  receive(message: JsonObject): void {
    if (this.#ended.signal.aborted) return
    // an answer that nobody waits for, or that came on another stream already
    if (typeof message['method'] !== 'string' && this.#calls.get(idOf(message))?.take() !== true) return
    this.link.deliver(message)
  }

  answered(answer: HttpAnswer, exchange: HttpExchange): boolean {
    if (exchange !== this.#first || this.#otherWay === null) return false
    const other = this.#otherWay
    this.#otherWay = null
    if (OLD.has(answer.status)) {
      this.#calls.delete(exchange.id)
      other(answer, this.#firstText)
      return true
    }
    this.#firstText = ''
    if (answer.status >= 200 && answer.status <= 299) this.#sessionId = answer.header('mcp-session-id')
    return false
  }

  async refused(answer: HttpAnswer): Promise<Refusal> {
    const { status } = answer
    const { errors } = this.link
    const text = await readStart(answer)
    if (status === 401 || status === 403) return { error: errors.unauthorized(status), text: '', kind: 'unauthorized' }
    if (this.#sessionId !== null && (status === 404 || (status === 400 && NO_SESSION.test(text))))
      return { error: errors.lost(status), text: '', kind: 'lost' }
    return { error: errors.status(status, text), text, kind: 'other' }
  }

  lost(error: TaplineError): void {
    // there is nothing left to take leave of
    this.#sessionId = null
    this.link.end(error)
  }

  done(exchange: HttpExchange): void {
    if (this.#calls.get(exchange.id) === exchange) this.#calls.delete(exchange.id)
  }

  #headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return {
      ...headers,
      ...(this.#sessionId !== null && { 'mcp-session-id': this.#sessionId }),
      ...(this.#version !== null && { 'mcp-protocol-version': this.#version }),
    }
  }
}
