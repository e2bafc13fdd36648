/** The question before a call, as text for a terminal. */
import type { ApprovalQuestion } from '../../runtime/types.ts'
import { permissionsText } from '../../servers/permissions-text.ts'
import type { Paint } from '../output.ts'
import { cut, visible, visibleLine } from './escape.ts'
import { ownerText } from './owner.ts'
import { table } from './table.ts'

/** Longer values are folded: a question must fit on a screen. The whole length is always said. */
const LINES = 24
const VALUE = 400
const ABOUT = 160

/** Who would run what, where, with which arguments, and what changed since the last yes; everything a server or model gave is escaped. `all`: nothing is folded. */
export function questionText(question: ApprovalQuestion, paint: Paint, all = false): string {
  const rows: [string, string][] = [
    ['server', ownerText(question.owner)],
    ['environment', visibleLine(question.environmentId)],
    ['permissions', visibleLine(permissionsText(question.permissions))],
    [
      'tool',
      visibleLine(question.title !== '' && question.title !== question.tool ? `${question.tool} (${question.title})` : question.tool),
    ],
  ]
  const about = question.description.trim()
  const [first = ''] = about.split('\n')
  if (about !== '') rows.push(['about', all ? visibleLine(about) : cut(visibleLine(first), ABOUT)])
  const hints = hintsText(question)
  if (hints !== '') rows.push(['says it is', hints])
  for (const note of question.notes) rows.push(['note', `${visibleLine(note.plugin)}: ${visibleLine(note.question)}`])
  const head = table(
    rows.map(([name, text]) => ['', { text: name, paint: paint.dim }, { text, ...(name === 'tool' ? { paint: paint.bold } : {}) }]),
  )
  return `${head}\n${changesText(question, paint, all)}  ${paint.dim('arguments')}\n${argumentsText(question.arguments, all)}`
}

/** The arguments as indented JSON; long values and many lines are folded, and the fold says how much is hidden. */
export function argumentsText(value: unknown, all = false): string {
  const json = JSON.stringify(value, (_key, one: unknown) => (typeof one === 'string' && !all ? fold(one) : one), 2)
  const lines = visible(json).split('\n')
  const shown =
    lines.length > LINES && !all
      ? [...lines.slice(0, LINES), `… ${lines.length - LINES} more lines, ${JSON.stringify(value).length} characters in all`]
      : lines
  return shown.map((line) => `    ${line}`).join('\n')
}

/** True where something is hidden that `all` would show. */
export function isFolded(question: ApprovalQuestion, paint: Paint): boolean {
  return questionText(question, paint) !== questionText(question, paint, true)
}

function changesText({ changes }: ApprovalQuestion, paint: Paint, all: boolean): string {
  if (changes.length === 0) return ''
  const value = (sign: string, text: string): string => `      ${sign} ${visibleLine(all ? text : fold(text))}`
  const lines = changes.flatMap(({ what, before, after }) => [
    `    ${visibleLine(what)}`,
    paint.red(value('-', before)),
    paint.green(value('+', after)),
  ])
  return `  ${paint.bold(paint.yellow('changed since it was last allowed'))}\n${lines.join('\n')}\n`
}

/** Head and tail: what does harm likes to stand at the end. */
function fold(text: string): string {
  if (text.length <= VALUE) return text
  const half = VALUE / 2
  return `${text.slice(0, half)} … ${text.length - VALUE} more characters … ${text.slice(-half)}`
}

function hintsText({ annotations }: ApprovalQuestion): string {
  const words: string[] = []
  if (annotations.readOnlyHint === true) words.push('read-only')
  if (annotations.destructiveHint !== undefined) words.push(annotations.destructiveHint === true ? 'destructive' : 'not destructive')
  if (annotations.openWorldHint !== undefined) words.push(annotations.openWorldHint === true ? 'open-world' : 'closed-world')
  return words.join(', ')
}
