/** HTTP with SSE as of the revision 2024-11-05: one stream for everything that comes, and a place of its own for what is sent. */
import { within } from '../stop-process.ts'
import type { HttpAnswer } from './http-client.ts'
import type { HttpLink } from './http-link.ts'
import { mediaType, messagesIn, readEvents, readStart } from './http-link.ts'

/** ms to wait for the place: a server of another kind may open a stream and say nothing. */
const ENDPOINT_MS = 10_000

/** The conversation with one such server. */
export class LegacySse {
  readonly #link: HttpLink
  readonly #ended = new AbortController()
  #endpoint: URL | null = null

  constructor(link: HttpLink) {
    this.#link = link
  }

  /** Opens the stream; false where the server has none of this kind. */
  async open(): Promise<boolean> {
    let answer: HttpAnswer
    try {
      answer = await this.#link.request({ method: 'GET', headers: { accept: 'text/event-stream' }, signal: this.#ended.signal })
    } catch {
      return false
    }
    if (answer.status !== 200 || mediaType(answer) !== 'text/event-stream') {
      answer.discard()
      return false
    }
    const known = new Promise<boolean>((resolve) => void this.#read(answer, () => resolve(true)).then(() => resolve(false)))
    const isOpen = await within(known, ENDPOINT_MS, false)
    if (!isOpen) this.#ended.abort()
    return isOpen
  }

  /** Rejects with TaplineError where the message was not taken. */
  async send(text: string): Promise<void> {
    const { errors } = this.#link
    const answer = await this.#link.request({
      method: 'POST',
      url: this.#endpoint ?? this.#link.url,
      headers: { 'content-type': 'application/json' },
      body: text,
      signal: this.#ended.signal,
    })
    const { status } = answer
    if (status >= 200 && status <= 299) return answer.discard()
    const said = await readStart(answer)
    throw status === 401 || status === 403 ? errors.unauthorized(status) : errors.status(status, said)
  }

  close(): void {
    this.#ended.abort()
  }

  async #read(answer: HttpAnswer, found: () => void): Promise<void> {
    const link = this.#link
    let broken = false
    const event = (type: string, data: string): void => {
      if (type === 'endpoint' && this.#endpoint === null) {
        const endpoint = URL.canParse(data, link.url.href) ? new URL(data, link.url) : null
        // what is sent has the credentials of the server
        if (endpoint?.origin !== link.url.origin) {
          link.end(link.errors.odd('names an endpoint on another origin, which is not used'))
          return
        }
        this.#endpoint = endpoint
        found()
      } else if (type === 'message') for (const message of messagesIn(data) ?? []) link.deliver(message)
    }
    try {
      await readEvents(answer, { event, retry: () => {}, tooLong: () => link.tooLong(null) }, link.frameLimit)
    } catch {
      broken = true
    }
    if (this.#endpoint !== null && !this.#ended.signal.aborted) link.end(link.errors.cutOff(broken ? 'the connection broke' : null))
  }
}
