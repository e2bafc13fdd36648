/** Counts by name; any name, also `__proto__`. */

/** A table without anything in it. */
export const table = <T>(): Record<string, T> => Object.create(null) as Record<string, T>

/** One more of this name. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
