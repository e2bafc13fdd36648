/** The report of `tapline doctor` in JSON and as a table. */
import type { Check } from '../doctor/check.ts'
import type { Paint } from '../output.ts'
import { visibleLine, visibleMessage } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'

/** The document. `ok` is false where a check failed. */
export function doctorJson(checks: readonly Check[]): Readonly<Record<string, unknown>> {
  return {
    ok: checks.every(({ status }) => status !== 'failed'),
    checks: checks.map(({ owner, ...check }) => ({ ...check, ...(owner && { owner: ownerJson(owner) }) })),
  }
}

const WIDTH = Math.max(...(['warning', 'skipped'] as const).map((word) => word.length)) + 2

/** A line for each check, what to do below, and a last line that counts. */
export function doctorText(checks: readonly Check[], paint: Paint): string {
  const count = (status: Check['status']): number => checks.filter((one) => one.status === status).length
  const warnings = count('warning')
  const counts = `${count('failed')} failed, ${warnings} warning${warnings === 1 ? '' : 's'}`
  return [...checks.map((check) => lineOf(check, paint)), `${checks.length} checks: ${counts}`].join('\n')
}

function lineOf({ check, status, message, code, remedy, where, owner, environmentId }: Check, paint: Paint): string {
  const colour = { ok: paint.green, warning: paint.yellow, failed: paint.red, skipped: paint.dim }[status]
  const about = owner ? ownerText(owner) : environmentId === undefined ? '' : visibleLine(environmentId)
  const subject = paint.bold(about === '' ? check : `${check} ${about}`)
  const place = where === undefined || message.includes(where) ? '' : `${visibleLine(where)}: `
  const why = code === undefined ? '' : ` ${paint.dim(`(${visibleLine(code)})`)}`
  const advice = remedy === undefined || remedy === '' ? '' : `\n${' '.repeat(WIDTH)}${paint.dim(visibleMessage(remedy))}`
  return `${colour(status)}${' '.repeat(WIDTH - status.length)}${subject}: ${place}${visibleMessage(message)}${why}${advice}`
}
