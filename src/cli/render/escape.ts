/** Text that came from a server, a model or a file, made harmless for a terminal. */

/** C0 (but newline and tab), DEL, C1, line and paragraph separators, and what reorders text (bidi marks, embeddings, isolates) or is not seen at all. */
// oxlint-disable-next-line no-control-regex -- to find them is the point
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
// oxlint-disable-next-line no-control-regex -- to find them is the point
const HARMFUL_OR_BREAK = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escaped = (char: string): string => NAMED[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The text with control characters shown as `\u001b`; newlines and tabs stay, CR LF becomes LF. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(HARMFUL, escaped)
}

/** The same on one line: newlines and tabs are shown as `\n` and `\t`. */
export function visibleLine(text: string): string {
  return text.replace(HARMFUL_OR_BREAK, escaped)
}

/** A message that may have several lines: those after the first are indented, so that none can pose as a line of ours. */
export function visibleMessage(text: string): string {
  return visible(text.trimEnd()).replaceAll('\n', '\n    ')
}

/** JSON text in which what JSON.stringify leaves raw (DEL, C1, separators, bidi marks) is escaped too; the value stays the same. */
export function jsonForTerminal(json: string): string {
  return json.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)
}

/** The text cut to so many code points, with `…` in place of the rest. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const points = [...text]
  return points.length <= max ? text : `${points.slice(0, max - 1).join('')}…`
}
