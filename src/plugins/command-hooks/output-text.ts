/** What a process prints, up to a limit. */
import { isUtf8 } from 'node:buffer'

export class OutputText {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #bytes = 0

  /** `limit` in bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Keeps what fits; false where there is more than the limit. */
  add(chunk: Buffer): boolean {
    const room = this.#limit - this.#bytes
    if (room > 0) this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    this.#bytes += chunk.length
    return this.#bytes <= this.#limit
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }

  /** true: there are bytes that are no UTF-8, which the text has replaced */
  get isGarbled(): boolean {
    return !isUtf8(Buffer.concat(this.#chunks))
  }
}
