/** One request over Streamable HTTP: its POST, the answer as JSON or as a stream, and the stream taken up again where it breaks. */
import type { TaplineError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { HttpAnswer } from './http-client.ts'
import type { HttpLink } from './http-link.ts'
import { idOf, mediaType, messagesIn, pause, readEvents, readText } from './http-link.ts'

/** Tries to take up a stream that brought nothing new. */
const TRIES = 5
const FIRST_DELAY_MS = 1000
const LONGEST_DELAY_MS = 30_000
/** ms that a stream may stay open after the answer. */
const AFTERWARDS_MS = 2000
/** Ids of events that are remembered, so that one that comes again is not delivered again. */
const REMEMBERED = 1024

/** ms before try number `tries`; what the server says counts. */
export function delayOf(tries: number, retryMs: number | null): number {
  return retryMs ?? Math.min(FIRST_DELAY_MS * 1.5 ** tries, LONGEST_DELAY_MS)
}

/** An answer with a status that is no success. */
export interface Refusal {
  readonly error: TaplineError
  /** start of the body, where that may say more */
  readonly text: string
  readonly kind: 'unauthorized' | 'lost' | 'other'
}

/** What an exchange needs of its session. */
export interface ExchangeHost {
  readonly link: HttpLink
  /** Gives a message on, where it is none that nobody waits for any more. */
  receive(message: JsonObject): void
  post(text: string, signal: AbortSignal): Promise<HttpAnswer>
  /** A stream of events, from after this event on. */
  stream(lastEventId: string | null, signal: AbortSignal): Promise<HttpAnswer>
  /** What a status that is no success says. */
  refused(answer: HttpAnswer): Promise<Refusal>
  /** The session is gone: everything ends. */
  lost(error: TaplineError): void
  /** the answer to `initialize` begins; true where another way is tried instead */
  answered(answer: HttpAnswer, exchange: HttpExchange): boolean
  /** nothing of the exchange is left */
  done(exchange: HttpExchange): void
}

/** A request on its way. */
export class HttpExchange {
  readonly id: number
  readonly #host: ExchangeHost
  readonly #abort = new AbortController()
  readonly #seen = new Set<string>()
  #isAnswered = false
  #isRead = false
  #afterwards: ReturnType<typeof setTimeout> | null = null
  #lastEventId: string | null = null
  #retryMs: number | null = null
  #tries = 0

  constructor(host: ExchangeHost, id: number) {
    this.#host = host
    this.id = id
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** Nobody waits any more: closes what is open, and says nothing. */
  abort(): void {
    this.#abort.abort()
    if (this.#isRead) this.#host.done(this)
  }

  /** Never rejects. */
  async run(text: string): Promise<void> {
    try {
      const answer = await this.#host.post(text, this.#abort.signal)
      if (!this.#host.answered(answer, this)) await this.#read(answer)
    } catch (error) {
      this.#fail(this.#host.link.errors.network(error))
    }
    if (this.#afterwards !== null) clearTimeout(this.#afterwards)
    this.#isRead = true
    if (this.#isAnswered || this.#abort.signal.aborted) this.#host.done(this)
  }

  /** The answer has come, on whatever stream: false where it is not the first one. */
  take(): boolean {
    if (this.#isAnswered || this.#abort.signal.aborted) return false
    this.#isAnswered = true
    if (this.#isRead) this.#host.done(this)
    return true
  }

  async #read(answer: HttpAnswer): Promise<void> {
    const { link } = this.#host
    const { status } = answer
    // no body: the answer comes by way of another stream
    if (status === 202 || status === 204) return answer.discard()
    if (status < 200 || status > 299) {
      const { error, text, kind } = await this.#host.refused(answer)
      if (kind === 'lost') this.#host.lost(error)
      else if (!this.#refusedWith(text)) this.#fail(error)
      return
    }
    const type = mediaType(answer)
    if (type === 'text/event-stream') return this.#follow(answer)
    if (type !== 'application/json') {
      answer.discard()
      return this.#fail(link.errors.odd(`answered with ${type === '' ? 'a body without a type' : type.slice(0, 60)}, which is no MCP`))
    }
    const text = await readText(answer, link.frameLimit)
    if (text === null) return this.#tooLong()
    const messages = messagesIn(text)
    for (const message of messages ?? []) this.#host.receive(message)
    if (!this.#isAnswered && !this.#refusedWith(text))
      this.#fail(link.errors.odd(messages === null ? 'answered with a body that is no JSON' : 'answered without an answer to the request'))
  }

  /** A refusal can be the answer: a JSON-RPC error for this request, or for none in particular. */
  #refusedWith(text: string): boolean {
    const message = messagesIn(text)?.find((one) => one['error'] !== undefined && (one['id'] == null || idOf(one) === this.id))
    if (message === undefined || this.#abort.signal.aborted) return false
    this.#host.receive({ ...message, id: this.id })
    return true
  }

  async #follow(first: HttpAnswer): Promise<void> {
    for (let answer: HttpAnswer | null = first; answer !== null; answer = await this.#resume()) {
      let why: string | null = null
      try {
        await readEvents(answer, this.#handler(), this.#host.link.frameLimit)
      } catch (error) {
        why = this.#abort.signal.aborted ? null : this.#host.link.errors.network(error).message
      }
      if (this.#isAnswered || this.#abort.signal.aborted) return
      // without an id nobody can say where to go on
      if (this.#lastEventId === null) return this.#fail(this.#host.link.errors.cutOff(why === null ? null : 'the connection broke'))
    }
  }

  /** The stream from where it broke; null where that was the end of the request. */
  async #resume(): Promise<HttpAnswer | null> {
    const { link } = this.#host
    const { signal } = this.#abort
    while (this.#tries < TRIES) {
      await pause(delayOf(this.#tries++, this.#retryMs), signal)
      if (signal.aborted) return null
      let answer: HttpAnswer
      try {
        answer = await this.#host.stream(this.#lastEventId, signal)
      } catch {
        continue
      }
      if (answer.status === 200 && mediaType(answer) === 'text/event-stream') return answer
      const { error, kind } = await this.#host.refused(answer)
      if (kind === 'lost') this.#host.lost(error)
      if (kind !== 'other') {
        // the request itself was sent long before
        this.#fail(link.errors.cutOff(error.message))
        return null
      }
      if (answer.status < 500) break
    }
    if (!signal.aborted) this.#fail(link.errors.cutOff('and did not let it be taken up again'))
    return null
  }

  #handler(): Parameters<typeof readEvents>[1] {
    return {
      event: (type, data, id) => {
        if (id !== null) {
          if (this.#seen.has(id)) return
          if (this.#seen.size >= REMEMBERED) this.#seen.clear()
          this.#seen.add(id)
          this.#lastEventId = id
          this.#tries = 0
        }
        if (type !== 'message' || data === '') return
        for (const message of messagesIn(data) ?? []) this.#host.receive(message)
        if (this.#isAnswered) this.#afterwards ??= setTimeout(() => this.abort(), AFTERWARDS_MS)
      },
      retry: (ms) => {
        this.#retryMs = ms
      },
      tooLong: () => this.#tooLong(),
    }
  }

  #tooLong(): void {
    if (!this.take()) return
    this.#host.link.tooLong(this.id)
    this.abort()
  }

  #fail(error: TaplineError): void {
    if (this.take()) this.#host.link.fail(this.id, error)
  }
}
