/** Flags in JSON and as text. */
import type { EvaluatedFlag } from '../flag-sources.ts'
import { winnerOf } from '../../flags/statements.ts'
import type { FlagStatement } from '../../flags/statements.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { table } from './table.ts'

/** The document of `tapline flags list`. */
export function flagListJson(flags: readonly EvaluatedFlag[]): Readonly<Record<string, unknown>> {
  return { flags: flags.map(flagJson) }
}

/** A line for each flag: value, where it comes from, stage, description. */
export function flagListText(flags: readonly EvaluatedFlag[], paint: Paint): string {
  return table(
    flags.map(({ flag, details }) => [
      { text: visibleLine(flag.name), paint: paint.bold },
      { text: visibleLine(String(details.value)), paint: details.value === false ? paint.dim : paint.green },
      { text: details.source },
      { text: flag.stage },
      { text: visibleLine(flag.description), paint: paint.dim },
    ]),
  )
}

/** The document of `tapline flags explain`. */
export function flagExplanationJson(flag: EvaluatedFlag): Readonly<Record<string, unknown>> {
  const winner = winnerOf(flag.statements)
  return { flag: flagJson(flag), sources: flag.statements.map((one) => ({ ...one, counts: one === winner })) }
}

/** The flag, then a line for each source, strongest first, with a mark at the one that counts. */
export function flagExplanationText({ flag, statements, details }: EvaluatedFlag, paint: Paint): string {
  const winner = winnerOf(statements)
  const rows = statements.map((one) => [
    one === winner ? '>' : '',
    { text: one.source, paint: one === winner ? paint.bold : String },
    { text: one.value === undefined ? '-' : visibleLine(String(one.value)), paint: one === winner ? paint.green : paint.dim },
    { text: visibleLine(whyOf(one)), paint: paint.dim },
  ])
  return [
    `${paint.bold(visibleLine(flag.name))} = ${visibleLine(String(details.value))}`,
    `${flag.stage}: ${visibleLine(flag.description)}`,
    ...(flag.variants ? [`variants: ${flag.variants.map((one) => visibleLine(String(one))).join(', ')}`] : []),
    '',
    table(rows),
  ].join('\n')
}

function whyOf({ reason, errorCode, errorMessage, variant, value, where }: FlagStatement): string {
  if (errorCode === 'FLAG_NOT_FOUND') return 'does not know the flag'
  const said = errorCode === undefined ? reason : `${errorCode}${errorMessage === undefined ? '' : `: ${errorMessage}`}`
  return [said, variant === undefined || variant === String(value) ? '' : `variant ${variant}`, where ?? ''].filter(Boolean).join(', ')
}

function flagJson({ flag, details }: EvaluatedFlag): Readonly<Record<string, unknown>> {
  const { value, source, reason, variant, errorCode, errorMessage } = details
  return {
    name: flag.name,
    value,
    source,
    reason,
    stage: flag.stage,
    default: flag.default,
    description: flag.description,
    ...(variant !== undefined && { variant }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { errorMessage }),
    ...(flag.variants && { variants: flag.variants }),
  }
}
