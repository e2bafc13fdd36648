/** Bytes to lines: nothing is copied twice, and no line grows without bound. */
import { isAscii } from 'node:buffer'

/** Most bytes of one frame. */
export const FRAME_LIMIT: number = 64 * 1024 * 1024

const HEAD_BYTES = 512
const TAIL_BYTES = 64
const NEWLINE = 0x0a
const BRACE = 0x7b

/** What a reader tells. */
export interface FrameHandler {
  /** a complete line that may be a message, without its end */
  line(text: string): void
  /** a complete line that cannot be one: its first 512 bytes */
  junk(head: string): void
  /** a line has passed the limit; called once, while the line is still coming */
  tooLong(head: string): void
  /** the end of a line that had passed the limit */
  tooLongEnded(head: string, tail: string): void
}

/** Splits a stream of chunks at line ends. Bytes of a line that cannot be a message are not kept. */
export class FrameReader {
  readonly #handler: FrameHandler
  readonly #limit: number
  #parts: Buffer[] = []
  #bytes = 0
  #state: 'message' | 'junk' | 'too long' = 'message'
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  constructor(handler: FrameHandler, limit: number = FRAME_LIMIT) {
    this.#handler = handler
    this.#limit = limit
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    for (;;) {
      const end = bytes.indexOf(NEWLINE, start)
      if (end < 0) break
      if (this.#bytes === 0 && end - start <= this.#limit) this.#give(bytes.subarray(start, end))
      else {
        this.#keep(bytes.subarray(start, end))
        this.#finish()
      }
      start = end + 1
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, part.subarray(0, HEAD_BYTES - this.#head.length)])
      const first = firstByte(this.#head)
      if (this.#state === 'message' && first !== null && first !== BRACE) this.#state = 'junk'
    }
    if (this.#bytes > this.#limit && this.#state !== 'too long') {
      this.#state = 'too long'
      this.#parts = []
      this.#handler.tooLong(this.#head.toString('utf8'))
    }
    if (this.#state === 'message') this.#parts.push(part)
    else if (this.#state === 'too long') this.#tail = Buffer.concat([this.#tail, part.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
  }

  #finish(): void {
    const { length } = this.#parts
    if (this.#state === 'message') this.#give(length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts, this.#bytes))
    else if (this.#state === 'junk') this.#handler.junk(this.#head.toString('utf8'))
    else this.#handler.tooLongEnded(this.#head.toString('utf8'), this.#tail.toString('utf8'))
    this.#parts = []
    this.#bytes = 0
    this.#state = 'message'
    this.#head = this.#tail = Buffer.alloc(0)
  }

  #give(line: Buffer): void {
    // the check costs a tenth of what decoding UTF-8 costs more than decoding ASCII
    this.#handler.line(line.length > 1024 && isAscii(line) ? line.toString('latin1') : line.toString('utf8'))
  }
}

function firstByte(bytes: Buffer): number | null {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return byte
  return null
}
