/** The status of servers in JSON and as a table. */
import type { Page, ServerStatus } from '../../runtime/types.ts'
import type { Paint } from '../output.ts'
import { visibleLine, visibleMessage } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'
import { table } from './table.ts'
import { toolJson } from './tool.ts'

/** A row of `data`. */
function statusJson(row: ServerStatus): Readonly<Record<string, unknown>> {
  return { ...row, owner: ownerJson(row.owner), tools: row.tools.map(toolJson) }
}

/** The document of `tapline status`. */
export function statusPageJson(page: Page<ServerStatus>): Readonly<Record<string, unknown>> {
  return { data: page.data.map(statusJson), nextCursor: page.nextCursor }
}

/** A table with a line for each server, the errors below, and how to get the next page. */
export function statusPageText({ data, nextCursor }: Page<ServerStatus>, paint: Paint): string {
  const head = ['SERVER', 'STATUS', 'AUTH', 'TOOLS', 'RESOURCES', 'PROMPTS', 'FROM'].map((text) => ({ text, paint: paint.dim }))
  const lines = data.length === 0 ? [] : [table([head, ...data.map((row) => cells(row, paint))])]
  for (const { owner, error } of data) {
    if (error === null) continue
    lines.push(
      `${paint.red('failed')} ${ownerText(owner)}: ${visibleMessage(error.message)} ${paint.dim(`(${error.code})`)}\n  ${paint.dim(visibleLine(error.remedy))}`,
    )
  }
  if (nextCursor !== null) lines.push(paint.dim(`next page: --cursor ${visibleLine(nextCursor)}`))
  return lines.join('\n')
}

const colourOf = (status: ServerStatus['runtimeStatus'], paint: Paint): ((text: string) => string) =>
  status === 'connected' ? paint.green : status === 'failed' || status === 'auth_required' ? paint.red : paint.dim

function cells(row: ServerStatus, paint: Paint): { text: string; paint?: (text: string) => string }[] {
  const known = row.runtimeStatus === 'connected'
  const count = (list: readonly unknown[] | null): { text: string } => ({ text: known && list !== null ? String(list.length) : '-' })
  return [
    { text: ownerText(row.owner), paint: paint.bold },
    { text: row.runtimeStatus, paint: colourOf(row.runtimeStatus, paint) },
    { text: row.authStatus },
    count(row.tools),
    count(row.resources),
    count(row.prompts),
    { text: visibleLine(row.provenance[0] ?? ''), paint: paint.dim },
  ]
}
