/** Percentiles of many durations in little memory. */

/** Each bucket is so much wider than the one before: a percentile is off by 2.5 % at most. */
const STEP = Math.log(1.05)
/** ms; what is shorter counts as this */
const SHORTEST = 0.001

/** Durations in buckets. */
export class Durations {
  readonly #buckets: number[] = []
  #count = 0

  /** Adds one, in ms. */
  add(ms: number): void {
    const at = Math.round(Math.log(Math.max(ms, SHORTEST) / SHORTEST) / STEP)
    this.#buckets[at] = (this.#buckets[at] ?? 0) + 1
    this.#count++
  }

  get count(): number {
    return this.#count
  }

  get percentiles(): { readonly p50Ms: number | null; readonly p95Ms: number | null } {
    return { p50Ms: this.at(0.5), p95Ms: this.at(0.95) }
  }

  /** The duration, in ms, that this share of all (0 to 1) does not exceed; null where there are none. */
  at(share: number): number | null {
    let left = Math.max(1, Math.ceil(share * this.#count))
    for (const [at, count = 0] of this.#buckets.entries()) {
      left -= count
      if (left <= 0) return rounded(SHORTEST * Math.exp(at * STEP))
    }
    return null
  }
}

const rounded = (ms: number): number => Number(ms.toPrecision(3))
