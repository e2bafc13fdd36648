/** Leaf file: the suggestion that an error makes for a misspelt name. */

/** The candidate that a misspelt name most likely meant, or null: at most a third of its characters (at least one) may be wrong; case counts least. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate === name) return candidate
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, at(previous, column - 1) + (same ? 0 : 1))
      if (!same && row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(before, column - 2) + 1)
      }
      current.push(cost)
    }
    before = previous
    previous = current
  }
  return at(previous, b.length)
}

const at = (list: readonly number[], index: number): number => list[index] ?? Number.POSITIVE_INFINITY
