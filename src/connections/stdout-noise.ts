/** Lines on stdout that are no protocol messages: counted, a few of them kept, never acted on. */
import type { Secrets } from '../secrets.ts'
import { printable } from './printable.ts'

const FIRST = 3
const LAST = 5
const SHOWN = 120

/** Counts junk lines and keeps the first three and the last five. */
export class StdoutNoise {
  #count = 0
  #first: string[] = []
  #last: string[] = []

  add(line: string): void {
    this.#count++
    const kept = line.slice(0, SHOWN * 4)
    if (this.#first.length < FIRST) {
      this.#first.push(kept)
      return
    }
    this.#last.push(kept)
    if (this.#last.length > LAST) this.#last.shift()
  }

  get count(): number {
    return this.#count
  }

  /** For messages: how many lines, and the kept ones; empty where there were none. */
  describe(secrets: Secrets): string {
    if (this.#count === 0) return ''
    const quote = (line: string): string => JSON.stringify(printable(secrets.redact(line), SHOWN))
    const gap = this.#count > this.#first.length + this.#last.length ? ['…'] : []
    const lines = [...this.#first.map(quote), ...gap, ...this.#last.map(quote)]
    return `${this.#count} ${this.#count === 1 ? 'line' : 'lines'} on stdout that ${this.#count === 1 ? 'is' : 'are'} no protocol message: ${lines.join(', ')}`
  }
}
