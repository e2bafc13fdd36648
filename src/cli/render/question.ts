/** The question before a call, as text for a terminal. */
import type { ApprovalQuestion } from '../../runtime/types.ts'
import type { PermissionProfile } from '../../servers/environment.ts'
import type { Paint } from '../output.ts'
import { cut, visible, visibleLine } from './escape.ts'
import { ownerText } from './owner.ts'
import { table } from './table.ts'

/** Longer values are folded: a question must fit on a screen. The whole length is always said. */
const LINES = 24
const VALUE = 400

/** Who would run what, where, with which arguments; everything a server or model gave is escaped. */
export function questionText(question: ApprovalQuestion, paint: Paint): string {
  const rows: [string, string][] = [
    ['server', ownerText(question.owner)],
    ['environment', visibleLine(question.environmentId)],
    ['permissions', visibleLine(permissionsText(question.permissions))],
    [
      'tool',
      visibleLine(question.title !== '' && question.title !== question.tool ? `${question.tool} (${question.title})` : question.tool),
    ],
  ]
  const about = question.description.trim().split('\n')[0] ?? ''
  if (about !== '') rows.push(['about', cut(visibleLine(about), 160)])
  const hints = hintsText(question)
  if (hints !== '') rows.push(['says it is', hints])
  for (const note of question.notes) rows.push(['note', `${visibleLine(note.plugin)}: ${visibleLine(note.question)}`])
  const head = table(
    rows.map(([name, text]) => ['', { text: name, paint: paint.dim }, { text, ...(name === 'tool' ? { paint: paint.bold } : {}) }]),
  )
  return `${head}\n  ${paint.dim('arguments')}\n${argumentsText(question.arguments)}`
}

/** The arguments as indented JSON; long values and many lines are folded, and the fold says how much is hidden. */
export function argumentsText(value: unknown): string {
  const json = JSON.stringify(value, (_key, one: unknown) => (typeof one === 'string' && one.length > VALUE ? fold(one) : one), 2)
  const lines = visible(json).split('\n')
  const shown =
    lines.length > LINES
      ? [...lines.slice(0, LINES), `… ${lines.length - LINES} more lines, ${JSON.stringify(value).length} characters in all`]
      : lines
  return shown.map((line) => `    ${line}`).join('\n')
}

/** Head and tail: what does harm likes to stand at the end. */
function fold(text: string): string {
  const half = VALUE / 2
  return `${text.slice(0, half)} … ${text.length - VALUE} more characters … ${text.slice(-half)}`
}

function permissionsText(permissions: PermissionProfile | null): string {
  if (permissions === null) return 'not set'
  if (typeof permissions === 'string') return permissions
  const more = Object.entries(permissions).filter(([name]) => name !== 'type' && name !== 'sandboxState')
  return `${permissions.type}${more.map(([name, value]) => `, ${name} ${JSON.stringify(value)}`).join('')}`
}

function hintsText({ annotations }: ApprovalQuestion): string {
  const words: string[] = []
  if (annotations.readOnlyHint === true) words.push('read-only')
  if (annotations.destructiveHint !== undefined) words.push(annotations.destructiveHint === true ? 'destructive' : 'not destructive')
  if (annotations.openWorldHint !== undefined) words.push(annotations.openWorldHint === true ? 'open-world' : 'closed-world')
  return words.join(', ')
}
