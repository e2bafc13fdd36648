/** Foreign text in our own messages: one line, no escape sequences, bounded. */
import { stripVTControlCharacters } from 'node:util'

/** The text as one line of at most `limit` characters, without control characters; a cut is marked with an ellipsis. */
export function printable(text: string, limit: number): string {
  const line = stripVTControlCharacters(text.slice(0, limit * 4))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return line.length > limit ? `${line.slice(0, limit)}…` : line
}

/** Milliseconds for people: `2 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${ms / 1000} s`
}
