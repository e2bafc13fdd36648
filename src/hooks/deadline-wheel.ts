/** Time limits of taps: one timer per runtime instead of one per tap. */

const TICK_MS = 25
/** Ticks that one turn makes up for at most. */
const CATCH_UP = 4

/** Something that waits; the wheel links it into its list, so that adding and removing cost no allocation. */
export interface Deadline {
  /** called at most once, on the wheel's timer, after the limit */
  expire(): void
  /** the wheel's own fields */
  wheelTick: number
  wheelPrevious: Deadline | null
  wheelNext: Deadline | null
}

/**
 * Coarse deadlines: an entry expires between its limit and 50 ms after it. A turn that comes late makes up for 100 ms at most: what waits
 * is not blamed for a process that somebody else has blocked. Keeps the process alive while something waits, and at most 25 ms longer.
 */
export class DeadlineWheel {
  #first: Deadline | null = null
  #timer: NodeJS.Timeout | null = null
  #tick = 0
  #turned = 0
  #ticksIdle = 0

  /** Starts the clock of an entry that is not waiting. `ms`: 1 to 2^31. */
  add(entry: Deadline, ms: number): void {
    entry.wheelTick = this.#tick + 1 + Math.ceil(ms / TICK_MS)
    entry.wheelPrevious = null
    entry.wheelNext = this.#first
    if (this.#first !== null) this.#first.wheelPrevious = entry
    else this.#wake()
    this.#first = entry
  }

  /** Stops the clock and gives the ms that were left; 0 where the entry was not waiting. */
  remove(entry: Deadline): number {
    if (entry.wheelTick === 0) return 0
    const { wheelPrevious: previous, wheelNext: next } = entry
    if (previous === null) this.#first = next
    else previous.wheelNext = next
    if (next !== null) next.wheelPrevious = previous
    const left = Math.max(TICK_MS, (entry.wheelTick - this.#tick - 1) * TICK_MS)
    entry.wheelTick = 0
    entry.wheelPrevious = null
    entry.wheelNext = null
    return left
  }

  /** Stops the timer; entries that still wait never expire. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #wake(): void {
    if (this.#timer === null) {
      this.#ticksIdle = 0
      this.#turned = performance.now()
      this.#timer = setInterval(() => this.#turn(), TICK_MS)
    } else if (this.#ticksIdle > 0) {
      this.#ticksIdle = 0
      this.#timer.ref()
    }
  }

  #turn(): void {
    const now = performance.now()
    this.#tick += Math.min(Math.max(Math.round((now - this.#turned) / TICK_MS), 1), CATCH_UP)
    this.#turned = now
    if (this.#first === null) {
      // here and not when the last entry leaves: a call with many taps empties the list many times
      if (this.#ticksIdle++ === 0) this.#timer?.unref()
      // a quiet second: no timer at all until something waits again
      if (this.#ticksIdle > 1000 / TICK_MS) this.close()
      return
    }
    this.#ticksIdle = 0
    let entry: Deadline | null = this.#first
    while (entry !== null) {
      const next: Deadline | null = entry.wheelNext
      // 0: an entry before it in the list took it out when it expired
      if (entry.wheelTick !== 0 && entry.wheelTick <= this.#tick) {
        this.remove(entry)
        entry.expire()
      }
      entry = next
    }
  }
}
