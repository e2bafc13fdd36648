/** Remembered approvals in JSON and for people. */
import type { RememberedApproval } from '../../runtime/approvals.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'
import { table } from './table.ts'

/** Digits of an id that people are shown; they are enough for `approvals revoke`. */
const SHOWN = 12

export function approvalJson({ id, owner, tool, scope, definitionDigest, since }: RememberedApproval): object {
  return { id, owner: ownerJson(owner), tool, scope, definitionDigest, since: since.toISOString() }
}

/** One line. */
export function approvalText({ id, owner, tool }: RememberedApproval): string {
  return `${id.slice(0, SHOWN)} (${visibleLine(tool)} of ${ownerText(owner)})`
}

/** A table; a sentence where there is none. */
export function approvalsText(approvals: readonly RememberedApproval[], paint: Paint): string {
  if (approvals.length === 0) return 'No tool is allowed for always.'
  return table([
    ['ID', 'TOOL', 'SERVER', 'SINCE'].map((text) => ({ text, paint: paint.dim })),
    ...approvals.map(({ id, owner, tool, since }) => [
      id.slice(0, SHOWN),
      { text: visibleLine(tool), paint: paint.bold },
      ownerText(owner),
      since.toISOString().slice(0, 16).replace('T', ' '),
    ]),
  ])
}
