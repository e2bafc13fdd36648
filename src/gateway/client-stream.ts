/** The client's end of the gateway: newline-delimited JSON over two streams. */
import type { Readable, Writable } from 'node:stream'
import type { MessageCarrier, TransportEnd } from '../connections/message-transport.ts'
import { FrameReader } from '../connections/frame-reader.ts'
import type { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

// taken at load: a hook module that patches it later changes nothing of what is written
const { stringify } = JSON

const PARSE_ERROR = -32700
const SENT: Promise<void> = Promise.resolve()

export interface ClientStreams {
  readonly input: Readable
  /** writes to the client, as text; nothing else may */
  readonly write: (text: string) => void
  readonly output: Writable
}

/** The transport of one client. Ends with its input, or when nothing can be written any more. */
export class ClientStream implements MessageCarrier {
  onMessage: ((message: JsonObject) => void) | null = null
  /** never called: a request of ours fails with the client */
  onFailed: ((id: number, error: TaplineError) => void) | null = null
  onEnd: ((end: TransportEnd) => void) | null = null
  readonly #streams: ClientStreams
  readonly #reader: FrameReader
  #ended = false

  constructor(streams: ClientStreams) {
    this.#streams = streams
    this.#reader = new FrameReader({
      line: (text) => this.#line(text),
      junk: (head) => this.#junk(head),
      tooLong: () => this.#refuse('the message is too long'),
      tooLongEnded: () => {},
    })
  }

  start(): void {
    const { input, output } = this.#streams
    input.on('data', this.#take)
    for (const event of ['end', 'close', 'error']) input.on(event, this.close)
    for (const event of ['close', 'error']) output.on(event, this.close)
  }

  send(message: object): Promise<void> {
    if (!this.#ended) this.#streams.write(`${stringify(message)}\n`)
    return SENT
  }

  /** Nothing is read or written from now on. */
  readonly close = (): void => {
    if (this.#ended) return
    this.#ended = true
    const { input } = this.#streams
    input.off('data', this.#take)
    input.pause()
    this.onEnd?.({ status: null, cause: 'the client is gone' })
  }

  readonly #take = (chunk: Uint8Array): void => {
    if (!this.#ended) this.#reader.push(chunk)
  }

  #line(text: string): void {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      this.#junk(text)
      return
    }
    if (isJsonObject(message) && message['jsonrpc'] === '2.0') this.onMessage?.(message)
    else this.#refuse('that is no JSON-RPC message')
  }

  #junk(text: string): void {
    if (text.trim() !== '') this.#refuse('that is no JSON')
  }

  #refuse(message: string): void {
    void this.send({ jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message } })
  }
}
