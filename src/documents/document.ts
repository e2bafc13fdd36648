/** JSON with comments, read into a tree in which every key and value has its line and column. */
import { parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Node, ParseError } from 'jsonc-parser'
import type { Member, Report, Value } from './value.ts'
import { DEEPEST, memberPath } from './value.ts'

const SAID: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a key between double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here',
  CommaExpected: 'a comma is expected here',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'there is something after the end of the document',
  InvalidSymbol: 'this is no JSON value (text and keys need double quotes)',
  InvalidNumberFormat: 'this is no JSON number',
  UnexpectedEndOfComment: 'the comment has no end',
  UnexpectedEndOfString: 'the text has no closing quote on its line',
  UnexpectedEndOfNumber: 'the number is cut off',
  InvalidUnicode: 'a \\u escape needs four hex digits',
  InvalidEscapeCharacter: 'this escape is not known in JSON',
  InvalidCharacter: 'a control character must be written as an escape',
}

/** The tree of a document, or null where its text is no JSON: then the first error is reported (those after it only follow from it). */
export function parseDocument(text: string, file: string, report: Report): Value | null {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  const place = locator(body, file)
  const errors: ParseError[] = []
  let root: Node | undefined
  try {
    root = parseTree(body, errors, { allowTrailingComma: true })
    const [first] = errors
    if (root === undefined || root.type === undefined) {
      if (first === undefined || first.length === 0) report(place(0), 'the file is empty; write {} at least')
      else report(place(first.offset), said(first))
      return null
    }
    if (first !== undefined) {
      report(place(first.offset), said(first))
      return null
    }
    return convert(root, '', 0, body, place, report)
  } catch (error) {
    // the parser recurses: very deep nesting ends its stack
    if (!(error instanceof RangeError)) throw error
    report(place(0), `the file is nested too deeply; ${DEEPEST} levels are the limit`)
    return null
  }
}

function said(error: ParseError): string {
  return `the JSON is broken: ${SAID[printParseErrorCode(error.error)] ?? 'this cannot be read'}`
}

/** Offset → `file:line:column`; both from 1, columns in UTF-16 units as editors count them. */
export function locator(text: string, file: string): (offset: number) => string {
  const starts = [0]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1)
  }
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return `${file}:${low + 1}:${offset - (starts[low] as number) + 1}`
  }
}

function convert(node: Node, path: string, depth: number, text: string, place: (offset: number) => string, report: Report): Value {
  const at = { where: place(node.offset), path }
  if (depth > DEEPEST) {
    report(at.where, `${path} is nested too deeply; ${DEEPEST} levels are the limit`)
    return { ...at, kind: 'null' }
  }
  switch (node.type) {
    case 'object': {
      const members: Member[] = []
      for (const { children } of node.children ?? []) {
        const [key, value] = children ?? []
        if (key === undefined || value === undefined) continue
        const name = String(key.value)
        members.push({ name, where: place(key.offset), value: convert(value, memberPath(path, name), depth + 1, text, place, report) })
      }
      return { ...at, kind: 'object', members }
    }
    case 'array':
      return {
        ...at,
        kind: 'list',
        items: (node.children ?? []).map((item, index) => convert(item, `${path}[${index}]`, depth + 1, text, place, report)),
      }
    case 'string':
      return { ...at, kind: 'text', text: String(node.value) }
    case 'number': {
      const number = Number(node.value)
      return { ...at, kind: 'number', number, exact: isExact(text.slice(node.offset, node.offset + node.length), number) }
    }
    case 'boolean':
      return { ...at, kind: 'boolean', boolean: node.value === true }
    default:
      return { ...at, kind: 'null' }
  }
}

/** True where printing the number gives the value that was written (1.0 and 1 are the same value). */
export function isExact(written: string, number: number): boolean {
  return Number.isFinite(number) && decimal(written) === decimal(String(number))
}

/** Digits and exponent of a decimal number in one canonical form. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}
