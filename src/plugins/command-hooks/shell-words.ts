/** How a shell cuts a line: quotes, escapes, comments, lines that go on, and what is only written to. */

export interface ShellWord {
  /** without its quotes */
  readonly text: string
  /** a file that the line writes */
  readonly isWritten: boolean
}

const SEPARATOR = /[\s`;|&()<>]/
/** What a shell joins lines within, and what not: comments, quotes, escapes. */
const UNITS = /(?<![^\s;|&()])#[^\n]*|\$'(?:\\.|[^'\\])*'?|'[^']*'?|"(?:\\.|[^"\\])*"?|\\./gs
/** Escapes of `$'…'`. */
const ESCAPE = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|([0-7]{1,3})|(.))/gs
const CONTROL: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b', f: '\f', v: '\v' }

/** Lines that end in a backslash go on, but within single quotes. */
export function joined(text: string): string {
  if (!text.includes('\\\n')) return text
  return text.replace(UNITS, (unit) => {
    if (unit === '\\\n') return ''
    return unit.startsWith('"') ? unit.replace(/\\(.)/gs, (escape, char) => (char === '\n' ? '' : escape)) : unit
  })
}

/** A text as one word, whatever is in it. */
export function unquoted(text: string): string {
  let word = ''
  for (let at = 0; at < text.length; at++) {
    const unit = unitAt(text, at)
    word += unit?.text ?? text[at]
    if (unit !== null) at = unit.end - 1
  }
  return word
}

/**
 * The words; null: a command of the line ends. Files that the line only writes are marked (`>> log`, `| tee -a log`): a hook that keeps a log
 * would change what its trust is bound to, each time that it runs. Words of comments are words as well, but nothing in them writes.
 */
export function cutLine(text: string): readonly (ShellWord | null)[] {
  const found: (ShellWord | null)[] = []
  let word = ''
  /** the next word is written to; with `tee` every word up to the next operator */
  let written: 'no' | 'next' | 'all' = 'no'
  let isPiped = false
  let isComment = false
  const end = (): void => {
    if (word === '') return
    found.push({ text: word, isWritten: written !== 'no' })
    if (written === 'next') written = 'no'
    else if (isPiped && word === 'tee') written = 'all'
    isPiped = false
    word = ''
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    const before = text[at - 1] ?? ''
    if (char === '#' && word === '' && /^[\s;|&()]?$/.test(before)) {
      isComment = true
      written = 'no'
      isPiped = false
    }
    const unit = isComment ? null : unitAt(text, at)
    if (unit !== null) {
      word += unit.text
      at = unit.end - 1
    } else if (SEPARATOR.test(char)) {
      end()
      if (char === '\n') isComment = false
      if (isComment) continue
      // <> opens for reading too; >( runs something; >| and >& go on with the same
      if (char === '>' && before !== '<') written = 'next'
      else if (/[`;()<\n]/.test(char) || (/[|&]/.test(char) && before !== '>')) written = 'no'
      // behind a pipe the line may go on below
      if (!/\s/.test(char)) isPiped = char === '|'
      if (/[`;|&()\n]/.test(char)) found.push(null)
    } else word += char
  }
  end()
  return found
}

/** What is in quotes or behind a backslash, without these, and where the text goes on. */
function unitAt(text: string, at: number): { readonly text: string; readonly end: number } | null {
  const char = text[at]
  const next = text[at + 1] ?? ''
  if (char === '\\') return { text: next === '\n' ? '' : next, end: at + 2 }
  if (char === "'") {
    const end = closed(text, "'", at + 1)
    return { text: text.slice(at + 1, end), end: end + 1 }
  }
  if (char === '"') return doubleQuoted(text, at + 1)
  if (char !== '$') return null
  if (next === '"') return doubleQuoted(text, at + 2)
  if (next !== "'") return null
  let end = at + 2
  while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1
  return { text: text.slice(at + 2, end).replace(ESCAPE, meaningOf), end: end + 1 }
}

function closed(text: string, quote: string, from: number): number {
  const at = text.indexOf(quote, from)
  return at < 0 ? text.length : at
}

function doubleQuoted(text: string, from: number): { readonly text: string; readonly end: number } {
  let word = ''
  let at = from
  for (; at < text.length && text[at] !== '"'; at++) {
    const next = text[at + 1] ?? ''
    // a variable that is marked begins with a NUL in the place of $
    if (text[at] !== '\\' || !/["\\$`\n\0]/.test(next)) word += text[at]
    else {
      at++
      if (next !== '\n') word += next
    }
  }
  return { text: word, end: at + 1 }
}

function meaningOf(escape: string, hex?: string, unicode?: string, octal?: string, char = ''): string {
  const code = hex ?? unicode ?? octal
  if (code === undefined) return CONTROL[char] ?? (/['"\\?]/.test(char) ? char : escape)
  const value = Number.parseInt(code, octal === undefined ? 16 : 8)
  return value === 0 ? '' : String.fromCharCode(value)
}
