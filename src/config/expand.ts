/** `${VAR}` and `${VAR:-default}`, expanded once; in files of editors their own variables too. */
import type { Secrets } from '../secrets.ts'
import type { Meaning } from './editor-variables.ts'

/** The variables that a configuration may use. */
export type Variables = Readonly<Record<string, string | undefined>>

const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?$/
const ANY = /\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?|[^${}]+)\}/g
/** Names whose values are kept out of every output, wherever such a value comes from. */
const SECRET_NAME = /token|key|secret|passw|passphrase|credential|auth|cookie/i

/** What every local server gets anyway (spec 30): a folder or a language is no secret, and blackening it would blacken every path. */
const ORDINARY: ReadonlySet<string> = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'LANG', 'TERM', 'TMPDIR', 'TZ', 'PWD'])

/** What `${…}` means beside variables: the words of an editor, or of a plugin package. */
export interface Words {
  /** null where the word is none of these */
  meaning(word: string): Meaning | null
}

/** True where a variable or header of this name usually carries a secret. */
export function looksSecret(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** The value of a variable; names are case-insensitive on Windows. */
export function lookUp(variables: Variables, name: string): string | undefined {
  if (Object.hasOwn(variables, name)) return variables[name]
  if (process.platform !== 'win32') return undefined
  const found = Object.keys(variables).find((other) => other.toUpperCase() === name.toUpperCase())
  return found === undefined ? undefined : variables[found]
}

/** True where the text refers to a variable, or to an input of VS Code. */
export function refersToVariable(text: string): boolean {
  return [...text.matchAll(ANY)].some(([, word]) => REFERENCE.test(word as string) || /^(?:env|input):/.test(word as string))
}

/** Expands the texts of one server. Values go to the secrets; names without value are collected. */
export class Expansion {
  readonly missing: Set<string> = new Set()
  /** those of them that are written as `${NAME}`, where a default can stand */
  readonly defaultable: Set<string> = new Set()
  /** words of an editor that were put in, with what they stand for; of an input its default, since an answer is the person's own */
  readonly filled: Map<string, string | null> = new Map()
  /** why other references have no value */
  readonly problems: Set<string> = new Set()
  readonly #variables: Variables
  readonly #secrets: Secrets
  readonly #editor: Words | null

  constructor(variables: Variables, secrets: Secrets, editor: Words | null = null) {
    this.#variables = variables
    this.#secrets = secrets
    this.#editor = editor
  }

  /** how many references have no value so far */
  get unmet(): number {
    return this.missing.size + this.problems.size
  }

  /** The text with its references replaced; what a value itself says is never looked at again. What has no value stays as written. */
  text(text: string): string {
    return text.replace(ANY, (written, word: string) => {
      const meaning = this.#editor?.meaning(word) ?? null
      if (meaning !== null) {
        if (meaning.kind === 'value') {
          this.filled.set(word, meaning.value)
          return meaning.value
        }
        if (meaning.kind === 'variable') return this.#value(meaning.name, undefined) ?? written
        if (meaning.kind === 'problem') {
          this.problems.add(meaning.why)
          return written
        }
        this.filled.set(word, meaning.default)
        this.#secrets.add(meaning.value)
        return meaning.value
      }
      const [, name, fallback] = REFERENCE.exec(word) ?? []
      return name === undefined ? written : (this.#value(name, fallback) ?? written)
    })
  }

  #value(name: string, fallback: string | undefined): string | undefined {
    const value = lookUp(this.#variables, name)
    // as in a shell: `:-` also stands in for an empty value
    if (fallback !== undefined && (value === undefined || value === '')) {
      if (looksSecret(name)) this.#secrets.add(fallback)
      return fallback
    }
    if (value === undefined) {
      this.missing.add(name)
      this.defaultable.add(name)
    } else if (!ORDINARY.has(name)) this.#secrets.add(value)
    return value
  }

  /** The value of a variable that a definition names outright; it counts as secret. */
  variable(name: string): string {
    const value = lookUp(this.#variables, name)
    if (value === undefined) this.missing.add(name)
    else this.#secrets.add(value)
    return value ?? ''
  }
}
