/** The end of what a server wrote to stderr: always drained, bounded, redacted when it is read. */
import type { Secrets } from '../secrets.ts'
import { printable } from './printable.ts'

/** Lines that are kept. */
const TAIL_LINES = 20
/** Bytes that are shown. */
const TAIL_BYTES: number = 8 * 1024
// more is kept than shown: a secret that the cut would split lies in the half that is not shown
const KEPT_BYTES = 2 * TAIL_BYTES

/** Collects chunks and shows the last 20 lines of the last 8 KiB. */
export class StderrTail {
  #chunks: Uint8Array[] = []
  #bytes = 0
  #cut = false

  push(chunk: Uint8Array): void {
    // a copy: a slice would keep the whole read buffer alive
    const part = chunk.slice(-KEPT_BYTES)
    if (part.length < chunk.length) this.#cut = true
    this.#chunks.push(part)
    this.#bytes += part.length
    while (this.#bytes - (this.#chunks[0] as Uint8Array).length >= KEPT_BYTES) {
      this.#bytes -= (this.#chunks.shift() as Uint8Array).length
      this.#cut = true
    }
    if (this.#chunks.length > 256) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** The last lines, oldest first, without empty ones. */
  lines(secrets: Secrets): string[] {
    const text = secrets.redact(Buffer.concat(this.#chunks).toString('utf8'))
    const shown = text.slice(-Math.min(TAIL_BYTES, this.#cut ? Math.ceil(text.length / 2) : TAIL_BYTES))
    return shown
      .split(/\r?\n/)
      .map((line) => printable(line, 1000))
      .filter((line) => line !== '')
      .slice(-TAIL_LINES)
  }
}
