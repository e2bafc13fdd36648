/** Rounds of several variants, interleaved, so that a machine that is busy for a moment is busy for all of them. */

/** One way to do the work of a row. */
export interface Variant {
  readonly name: string
  /** Does the work so often as it says it did; may give further numbers for the round. */
  readonly run: () => Promise<Work> | Work
}

/** What one round did. */
export interface Work {
  readonly operations: number
  /** median over the operations, µs; left out where they are not timed one by one */
  readonly p50?: number
  /** where not all of a round counts: the part that does, ms */
  readonly tookMs?: number
}

/** One number of each round. */
export type Rounds = readonly number[]

/** All numbers of one variant, one of each round. */
export interface Measured {
  /** µs for one operation, by the wall clock */
  readonly wall: Rounds
  /** µs for one operation, user and system time of this process, its helper threads included */
  readonly cpu: Rounds
  /** µs, median over the operations of a round */
  readonly p50: Rounds
}

/** True where `--quick` was given: fewer rounds, numbers that only show that the benchmark works. */
export const QUICK: boolean = process.argv.includes('--quick')

/** A number of rounds or repetitions; the smaller one with `--quick`. */
export const times = (usual: number, quick: number): number => (QUICK ? quick : usual)

/** Runs every variant once unmeasured (`warmUp` times), then so many rounds in turn. Each round starts with another variant. */
export async function measure(
  variants: readonly Variant[],
  { rounds, warmUp = 1 }: { readonly rounds: number; readonly warmUp?: number },
): Promise<ReadonlyMap<string, Measured>> {
  const results = new Map(variants.map(({ name }) => [name, { wall: [] as number[], cpu: [] as number[], p50: [] as number[] }]))
  for (let i = 0; i < warmUp; i++) for (const { run } of variants) await run()
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < variants.length; turn++) {
      const { name, run } = variants[(round + turn) % variants.length] as Variant
      const cpu = process.cpuUsage()
      const began = performance.now()
      const { operations, p50, tookMs } = await run()
      const ms = tookMs ?? performance.now() - began
      const { user, system } = process.cpuUsage(cpu)
      const result = results.get(name)
      result?.wall.push((ms * 1000) / operations)
      result?.cpu.push((user + system) / operations)
      if (p50 !== undefined) result?.p50.push(p50)
    }
  }
  return results
}

/** Median of some numbers; NaN of none. */
export function median(numbers: Rounds): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** The smallest number. */
export const best = (numbers: Rounds): number => Math.min(...numbers)
