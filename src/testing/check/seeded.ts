/** Numbers that look random and are the same for the same seed. */

/** A source of numbers from 0 up to, not including, 1 (mulberry32). */
export function seededNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A new list in another order. */
export function shuffled<T>(items: readonly T[], numbers: () => number): T[] {
  const result = [...items]
  for (let at = result.length - 1; at > 0; at--) {
    const other = Math.floor(numbers() * (at + 1))
    ;[result[at], result[other]] = [result[other] as T, result[at] as T]
  }
  return result
}
