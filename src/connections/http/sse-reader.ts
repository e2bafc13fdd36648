/** Bytes to server-sent events: lines across chunks, no event beyond a limit, nothing copied twice. */
import { isAscii } from 'node:buffer'

const NEWLINE = 0x0a
const RETURN = 0x0d
const BOM = '\u{feff}'

/** What a reader tells. */
export interface SseHandler {
  /** a complete event; `id` is null where it has none of its own */
  event(type: string, data: string, id: string | null): void
  /** ms before the next try to connect */
  retry(ms: number): void
  /** the data of an event has passed the limit; the event is left out */
  tooLong(): void
}

/** Reads one stream. An event that the end of the stream cuts off is none. */
export class SseReader {
  readonly #handler: SseHandler
  readonly #limit: number
  #parts: Buffer[] = []
  /** bytes of the line so far, and of the data of the event so far */
  #lineBytes = 0
  #dataBytes = 0
  #data: string[] = []
  #type = ''
  #id: string | null = null
  #afterReturn = false
  #first = true
  #isTooLong = false

  constructor(handler: SseHandler, limit: number) {
    this.#handler = handler
    this.#limit = limit
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = this.#afterReturn && bytes[0] === NEWLINE ? 1 : 0
    if (bytes.length > 0) this.#afterReturn = false
    let newline = bytes.indexOf(NEWLINE, start)
    let carriage = bytes.indexOf(RETURN, start)
    while (newline >= 0 || carriage >= 0) {
      const end = newline < 0 || (carriage >= 0 && carriage < newline) ? carriage : newline
      this.#keep(bytes.subarray(start, end))
      this.#endLine()
      start = end + 1
      if (end === carriage) {
        if (start === bytes.length) this.#afterReturn = true
        else if (bytes[start] === NEWLINE) start++
      }
      if (newline >= 0 && newline < start) newline = bytes.indexOf(NEWLINE, start)
      if (carriage >= 0 && carriage < start) carriage = bytes.indexOf(RETURN, start)
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
  }

  #keep(part: Buffer): void {
    this.#lineBytes += part.length
    if (this.#isTooLong) return
    if (this.#lineBytes + this.#dataBytes <= this.#limit) {
      this.#parts.push(part)
      return
    }
    this.#isTooLong = true
    this.#parts = []
    this.#data = []
    this.#handler.tooLong()
  }

  #endLine(): void {
    const isEmpty = this.#lineBytes === 0
    const line = this.#isTooLong ? '' : this.#line()
    this.#parts = []
    this.#dataBytes += this.#lineBytes
    this.#lineBytes = 0
    if (isEmpty) this.#endEvent()
    else if (!this.#isTooLong) this.#field(line)
  }

  #line(): string {
    const { length } = this.#parts
    const bytes = length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts, this.#lineBytes)
    const text = bytes.length > 1024 && isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
    const isFirst = this.#first
    this.#first = false
    return isFirst && text.startsWith(BOM) ? text.slice(1) : text
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#type = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.#handler.retry(Number(value))
  }

  #endEvent(): void {
    const data = this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join('\n')
    const [type, id, isTooLong] = [this.#type, this.#id, this.#isTooLong]
    this.#data = []
    this.#dataBytes = 0
    this.#type = ''
    this.#id = null
    this.#isTooLong = false
    if (!isTooLong && (data !== '' || id !== null)) this.#handler.event(type || 'message', data, id)
  }
}
