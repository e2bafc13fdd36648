/** A simulated roll-out in JSON and as a bar chart. */
import type { SimulatedFlag, SimulatedShare } from '../../flags/simulate.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { table } from './table.ts'

/** Columns of the longest bar. */
const WIDTH = 40

/** The document of `tapline flags simulate`. */
export function simulationJson(file: string, keys: number, flags: readonly SimulatedFlag[]): Readonly<Record<string, unknown>> {
  return { file, keys, flags }
}

/** A bar for each variant of each flag. */
export function simulationText(keys: number, flags: readonly SimulatedFlag[], paint: Paint): string {
  return flags
    .map(({ name, enabled, shares, errors }) =>
      [
        `${paint.bold(visibleLine(name))} ${paint.dim(`${keys} keys${enabled ? '' : ', disabled'}`)}`,
        table(shares.map((share) => rowOf(share, paint))),
        ...errors.map((error) => paint.red(`  ${visibleLine(error)}`)),
      ].join('\n'),
    )
    .join('\n\n')
}

function rowOf({ variant, count, share }: SimulatedShare, paint: Paint): Parameters<typeof table>[0][number] {
  const percent = `${(share * 100).toFixed(2)} %`
  return [
    `  ${variant === null ? '(default of the code)' : visibleLine(variant)}`,
    { text: percent.padStart(8), paint: paint.bold },
    { text: String(count).padStart(7), paint: paint.dim },
    { text: barOf(share, count), paint: paint.cyan },
  ]
}

/** What is there is seen, however little it is. */
function barOf(share: number, count: number): string {
  return '#'.repeat(count === 0 ? 0 : Math.max(1, Math.round(share * WIDTH)))
}
