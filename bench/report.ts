/** The rows of the table; scripts/bench.mjs prints them. */
import { best, median, type Rounds } from './measure.ts'

/** One line of the table. */
export interface Row {
  /** what is done */
  readonly work: string
  /** `ours`, `floor`, or the name of a peer */
  readonly variant: string
  readonly unit: string
  readonly best: number
  readonly median: number
  /** best in relation to the best of the floor; null where there is no floor */
  readonly ratio: number | null
  /** what must hold, and whether it does; null where nothing is asked */
  readonly must: { readonly text: string; readonly met: boolean } | null
}

/** What a row is made of. */
export interface RowParts {
  readonly work: string
  readonly variant: string
  readonly unit: string
  readonly rounds: Rounds
  /** those of the floor */
  readonly floor?: Rounds
  /** a rate: more is better */
  readonly isRate?: boolean
  readonly must?: { readonly text: string; readonly met: boolean }
}

const rows: Row[] = []

/** Adds a line. */
export function row({ work, variant, unit, rounds, floor, isRate = false, must }: RowParts): Row {
  const top = (numbers: Rounds): number => (isRate ? Math.max(...numbers) : best(numbers))
  const made: Row = {
    work,
    variant,
    unit,
    best: top(rounds),
    median: median(rounds),
    ratio: floor === undefined ? null : top(rounds) / top(floor),
    must: must ?? null,
  }
  rows.push(made)
  return made
}

/** Prints the lines as JSON: call it once, at the end. */
export function report(): void {
  process.stdout.write(`${JSON.stringify(rows)}\n`)
}

/** Tells on stderr what is being measured. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`)
}
