/** Bounds how many servers start at once. */

/** ms after which a start that hangs no longer takes a place: it must not hold up the others. */
const HOLD_MS = 1000

/** At most `width` starts at once; each holds its place until it ends, one second at most. */
export class StartGate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(width: number) {
    this.#free = width
  }

  /** Resolves when there is a place; call the function that it gives at the end of the start. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let left = false
    const leave = (): void => {
      if (left) return
      left = true
      clearTimeout(timer)
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
    const timer = setTimeout(leave, HOLD_MS)
    return leave
  }
}
