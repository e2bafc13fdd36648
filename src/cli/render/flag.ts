/** Flags in JSON and as a table. */
import type { Flag, FlagDetails } from '../../flags/flag.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { table } from './table.ts'

/** A flag with the value that a session would capture now. */
export interface FlagRow {
  readonly flag: Flag
  readonly details: FlagDetails
}

/** The document of `tapline flags list`. */
export function flagListJson(rows: readonly FlagRow[]): Readonly<Record<string, unknown>> {
  return {
    flags: rows.map(({ flag, details }) => ({
      name: flag.name,
      value: details.value,
      source: details.source,
      reason: details.reason,
      stage: flag.stage,
      default: flag.default,
      description: flag.description,
    })),
  }
}

/** A line for each flag: value, where it comes from, stage, description. */
export function flagListText(rows: readonly FlagRow[], paint: Paint): string {
  return table(
    rows.map(({ flag, details }) => [
      { text: visibleLine(flag.name), paint: paint.bold },
      { text: visibleLine(String(details.value)), paint: details.value === false ? paint.dim : paint.green },
      { text: details.source },
      { text: flag.stage },
      { text: visibleLine(flag.description), paint: paint.dim },
    ]),
  )
}
