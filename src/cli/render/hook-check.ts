/** The report of `tapline hooks check` for people. */
import type { CheckFinding, CheckReport } from '../../testing/check/finding.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'

/** One block a finding, and a last line that counts. */
export function hookCheckText(report: CheckReport, paint: Paint): string {
  const { findings, plugin, taps, calls, seed } = report
  const errors = findings.filter(({ level }) => level === 'error').length
  const name = visibleLine(plugin)
  const counted = `${calls} calls, ${taps.length} taps, seed ${seed}`
  const idle = taps.filter(({ runs }) => runs === 0).map(({ hook, tap }) => paint.yellow(`never ran: ${visibleLine(`${hook}/${tap}`)}`))
  const summary =
    findings.length === 0
      ? paint.green(`${name}: nothing found (${counted})`)
      : `${name}: ${count(errors, 'error')}, ${count(findings.length - errors, 'warning')} (${counted})`
  return [...findings.map((one) => block(one, paint)), ...idle, summary].join('\n')
}

function block({ kind, level, hook, tap, message, remedy, call }: CheckFinding, paint: Paint): string {
  const colour = level === 'error' ? paint.red : paint.yellow
  const where = hook === null ? '' : `  ${hook}${tap === null ? '' : `/${tap}`}`
  return [
    `${colour(kind)}${visibleLine(where)}`,
    `  ${visibleLine(message)}`,
    ...(call === null ? [] : [paint.dim(`  call: ${visibleLine(`${call.method} ${call.owner} ${call.target ?? ''} ${call.arguments}`)}`)]),
    `  do: ${visibleLine(remedy)}`,
    '',
  ].join('\n')
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
