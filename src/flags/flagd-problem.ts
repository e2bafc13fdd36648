/** What is wrong with a flagd definition, and where. */
import { messageOf } from '../errors.ts'
import { isJsonObject } from '../json.ts'

/** A mistake; line and column count from 1, and are left out where the place is not known. */
export interface FlagdProblem {
  readonly problem: string
  readonly line?: number
  readonly column?: number
}

/** The first mistake of a text that flagd-core did not take. */
export async function flagdProblem(error: unknown, text: string): Promise<FlagdProblem> {
  const { parseTree, printParseErrorCode, findNodeAtLocation } = await import('jsonc-parser')
  const errors: { error: number; offset: number; length: number }[] = []
  let root: ReturnType<typeof parseTree>
  try {
    root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false })
  } catch {
    // its parser calls itself for each level
    return { problem: 'it is no JSON that can be read: it is nested too deeply' }
  }
  const [first] = errors
  if (first) return { problem: `it is not JSON (${wordsOf(printParseErrorCode(first.error))})`, ...placeOf(text, first.offset) }
  const broken = schemaMistake(messageOf(error))
  if (broken === null) return { problem: causeOf(error) }
  const path = broken.path.map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  for (let length = path.length; length >= 0; length--) {
    const node = root && findNodeAtLocation(root, path.slice(0, length))
    if (node) return { problem: broken.problem, ...placeOf(text, node.offset) }
  }
  return { problem: broken.problem }
}

/** flagd-core appends the mistakes that its schema found, as JSON; the one that lies deepest says most. */
function schemaMistake(message: string): { readonly problem: string; readonly path: readonly string[] } | null {
  const start = message.indexOf('[')
  if (start < 0) return null
  let mistakes: unknown
  try {
    mistakes = JSON.parse(message.slice(start))
  } catch {
    return null
  }
  if (!Array.isArray(mistakes)) return null
  const found = mistakes.filter(isJsonObject).map(({ instancePath, message: says }) => ({
    path: textOf(instancePath).split('/').slice(1).map(unescaped),
    says: textOf(says),
  }))
  const deepest = found.reduce<(typeof found)[number] | null>(
    (best, one) => (best && best.path.length >= one.path.length ? best : one),
    null,
  )
  return deepest && { problem: `${deepest.path.join('.') || 'the document'} ${deepest.says}`, path: deepest.path }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return messageOf(cause).split('\n', 1)[0] ?? ''
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** `CommaExpected` → `comma expected` */
function wordsOf(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}
