/** Ids of calls, `SESSION.1`, `SESSION.2` and so on: joined from digits that are text already, since writing out a number takes a sixth of a call. */

const PLAIN: readonly string[] = Array.from({ length: 100 }, (_, number) => String(number))
const PADDED: readonly string[] = PLAIN.map((digits) => digits.padStart(2, '0'))

/** The ids of one session. */
export class CallIds {
  readonly #session: string
  #head: string
  #hundreds = 0
  #rest = 0
  #digits = PLAIN

  constructor(sessionId: string) {
    this.#session = `${sessionId}.`
    this.#head = this.#session
  }

  /** One that was not given before. */
  next(): string {
    if (++this.#rest === 100) {
      this.#rest = 0
      this.#head = `${this.#session}${++this.#hundreds}`
      this.#digits = PADDED
    }
    return this.#head + this.#digits[this.#rest]!
  }
}
