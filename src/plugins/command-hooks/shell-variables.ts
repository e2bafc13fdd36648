/** Variables of a command line, with every value that the line itself says they may have. */
import { TooManyPaths } from './script-paths.ts'
import { unquoted } from './shell-words.ts'

/** Characters of a value or word that may be a path: no system opens longer ones, and values of values would double with each other. */
const LONGEST = 4096
/** Texts that one word may stand for, and words that one command may have. */
export const MOST_WORDS = 4096
/** Ways to fill in a text that has several commands in it: beyond these only its words are filled in, each for itself. */
const MOST_LINES = 64
/** Characters that are gone through for one command. */
const MOST_WORK = 4_000_000
const REFERENCE = /\$\(\s*pwd\s*\)|`\s*pwd\s*`|\$\{(\w+)|\$([A-Za-z_]\w*)/g
const MARK = /\0(\d+)\0/g

/** One variable as it is written. */
interface Reference {
  readonly written: string
  /** a name, or null where the line has only a value */
  readonly name: string
  /** of `${NAME:-…}`, `:=` and `:+`, marked */
  readonly other: string | null
  readonly sign: string
}

/** A command that cannot be looked through as a whole is not trusted: what is left out would be, without anybody having looked at it. */
export function tooMuch(): TooManyPaths {
  return new TooManyPaths('names more than can be looked for; put a part of it into a script')
}

export class ShellVariables {
  readonly #values = new Map<string, Set<string>>()
  readonly #references: Reference[] = []
  readonly #marks = new Map<string, string>()
  #work = 0

  constructor(known: Readonly<Record<string, readonly string[]>>) {
    for (const [name, values] of Object.entries(known)) this.add(name, values)
  }

  /** Also values that come after each other count, each. */
  add(name: string, values: readonly string[]): void {
    const known = this.#values.get(name) ?? new Set()
    for (const value of values) known.add(value)
    if (known.size > MOST_WORDS) throw tooMuch()
    this.#values.set(name, known)
  }

  valuesOf(name: string): readonly string[] {
    return [...(this.#values.get(name) ?? [])]
  }

  /** The text with a mark in the place of every variable, so that cutting the text cuts none of them. It must have no NUL in it. */
  marked(text: string): string {
    this.#spend(text.length)
    const ends = bracesOf(text)
    let marked = ''
    let at = 0
    for (const found of text.matchAll(REFERENCE)) {
      const [start, braced, bare] = found as unknown as [string, string?, string?]
      const end = braced === undefined ? found.index + start.length : ends.get(found.index)
      if (found.index < at || end === undefined) continue
      const written = text.slice(found.index, end)
      const [, sign = '', other] = (braced !== undefined && /^:?([-=+])(.*)\}$/s.exec(written.slice(start.length))) || []
      const reference = { written, name: braced ?? bare ?? 'PWD', other: other === undefined ? null : this.marked(other), sign }
      marked += text.slice(at, found.index) + this.#mark(reference)
      at = end
    }
    return marked + text.slice(at)
  }

  #mark(reference: Reference): string {
    const known = this.#marks.get(reference.written)
    if (known !== undefined) return known
    const mark = `\0${this.#references.push(reference) - 1}\0`
    this.#marks.set(reference.written, mark)
    return mark
  }

  /** Something is run for a part of the marked text. */
  runsSomething(text: string): boolean {
    const written = text.replace(MARK, (_, at: string) => {
      const reference = this.#references[Number(at)]
      return reference === undefined || reference.other === null ? '' : reference.written
    })
    return /\$\(|`/.test(written)
  }

  /** All that a marked text may stand for; a variable has one value at a time. */
  expanded(text: string): readonly string[] {
    const marks = [...new Set(Array.from(text.matchAll(MARK), ([, at]) => Number(at)))]
    const values = marks.map((at) => this.#valuesFor(this.#references[at] as Reference))
    const ways = values.reduce((count, { length }) => count * length, 1)
    if (ways > MOST_LINES && /[;|&\n]/.test(text)) return []
    if (ways > MOST_WORDS) throw tooMuch()
    const found = new Set<string>()
    for (let way = 0; way < ways; way++) {
      let left = way
      const chosen = new Map(
        marks.map((at, index) => {
          const all = values[index] as readonly string[]
          const value = all[left % all.length] as string
          left = Math.floor(left / all.length)
          return [at, value]
        }),
      )
      const whole = text.replace(MARK, (_, at: string) => chosen.get(Number(at)) ?? '')
      this.#spend(whole.length + 1)
      if (whole !== '' && whole.length <= LONGEST) found.add(whole)
    }
    return [...found]
  }

  /** What is not known stays as it is. */
  #valuesFor({ name, other, sign, written }: Reference): readonly string[] {
    const values = new Set(this.valuesOf(name))
    if (other !== null) {
      const others = other === '' ? [''] : this.expanded(unquoted(other))
      if (sign === '=') this.add(name, others)
      if (sign === '+') values.add('')
      for (const value of others) values.add(value)
    }
    return values.size === 0 ? [written] : [...values]
  }

  #spend(work: number): void {
    this.#work += work
    if (this.#work > MOST_WORK) throw tooMuch()
  }
}

/** Where each `${` of a text ends, behind its brace. */
function bracesOf(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (const { 0: sign, index } of text.matchAll(/\\\}|\$\{|\}/g)) {
    if (sign === '${') open.push(index)
    else if (sign === '}') {
      const start = open.pop()
      if (start !== undefined) ends.set(start, index + 1)
    }
  }
  return ends
}
