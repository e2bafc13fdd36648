/** Tells a client once that a list which it has seen is another one now. */

/** ms in which changes count as one. */
const QUIET_MS = 100

/** One kind of list. A client that has never asked for it is told nothing. */
export class ChangeNotice {
  readonly #tell: () => void
  #changes = 0
  #seen = -1
  #listing = 0
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(tell: () => void) {
    this.#tell = tell
  }

  changed(): void {
    this.#changes++
    this.#later()
  }

  /** What the client is given meanwhile covers the changes that came before the end of it. */
  async during<T>(list: () => Promise<T>): Promise<T> {
    this.#listing++
    try {
      const result = await list()
      this.#seen = this.#changes
      return result
    } finally {
      this.#listing--
      this.#later()
    }
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#seen = -1
  }

  #later(): void {
    if (this.#seen < 0 || this.#changes === this.#seen) return
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      if (this.#listing > 0 || this.#seen < 0 || this.#changes === this.#seen) return
      this.#seen = this.#changes
      this.#tell()
    }, QUIET_MS)
  }
}
