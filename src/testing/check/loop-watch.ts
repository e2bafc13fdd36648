/** Looks every few milliseconds whether the event loop still turns. */
import { threadNow } from './run-delay.ts'

const TICK_MS = 5
/** gaps that are remembered */
const LONG_MS = 40

/** The turns of the loop while a check runs. */
export class LoopWatch implements Disposable {
  #last = threadNow()
  #gaps: { readonly end: number; readonly ms: number }[] = []
  readonly #timer = setInterval(() => this.#tick(), TICK_MS).unref()

  #tick(): void {
    const now = threadNow()
    if (now - this.#last > LONG_MS) this.#gaps = [...this.#gaps.slice(-50), { end: now, ms: now - this.#last }]
    this.#last = now
  }

  /** ms of the longest turn since then, the one of now included. */
  longestSince(started: number): number {
    const gaps = this.#gaps.filter(({ end }) => end > started).map(({ ms }) => ms)
    return Math.max(threadNow() - Math.max(this.#last, started), ...gaps)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
