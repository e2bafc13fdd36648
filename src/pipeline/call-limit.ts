/** The limit of a whole call; its clock stands still while a person is asked, also by several questions at once. */
import type { Deadline, DeadlineWheel } from '../hooks/deadline-wheel.ts'

/** One clock. `start` at most once; nothing happens where it was never started. */
export class CallLimit implements Deadline {
  wheelTick = 0
  wheelPrevious: Deadline | null = null
  wheelNext: Deadline | null = null
  readonly #wheel: DeadlineWheel
  #onExpire: (() => void) | null = null
  #msLeft = 0
  #pauses = 0
  /** ms; 0 where there is none */
  limitMs = 0

  constructor(wheel: DeadlineWheel) {
    this.#wheel = wheel
  }

  /** Calls back once `ms` have passed, pauses not counted. */
  start(ms: number, onExpire: () => void): void {
    if (this.#onExpire !== null) return
    this.limitMs = ms
    this.#onExpire = onExpire
    this.#wheel.add(this, ms)
  }

  /** Each one needs a `resume` of its own. */
  pause(): void {
    if (this.#pauses++ === 0 && this.#onExpire !== null) this.#msLeft = this.#wheel.remove(this)
  }

  resume(): void {
    if (--this.#pauses > 0) return
    if (this.#onExpire !== null && this.#msLeft > 0) this.#wheel.add(this, this.#msLeft)
    this.#msLeft = 0
  }

  stop(): void {
    if (this.#onExpire === null) return
    this.#wheel.remove(this)
    this.#onExpire = null
  }

  expire(): void {
    const onExpire = this.#onExpire
    this.#onExpire = null
    onExpire?.()
  }
}
