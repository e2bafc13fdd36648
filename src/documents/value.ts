/** A configuration value that still knows where it was written, whether it came from a file or from code. */
import type { Json } from '../json.ts'

interface At {
  /** `file:line:column`, or `host` for a value given in code */
  readonly where: string
  /** the way to it for people: `mcpServers.docs.args[1]`; empty at the top */
  readonly path: string
}
export interface ObjectValue extends At {
  readonly kind: 'object'
  /** in written order; a key that is written twice is there twice */
  readonly members: readonly Member[]
}
export interface ListValue extends At {
  readonly kind: 'list'
  readonly items: readonly Value[]
}
export interface TextValue extends At {
  readonly kind: 'text'
  readonly text: string
}
export interface NumberValue extends At {
  readonly kind: 'number'
  readonly number: number
  /** false where the written number is not the one that was read (an integer beyond 2^53, too many digits) */
  readonly exact: boolean
}
export interface BooleanValue extends At {
  readonly kind: 'boolean'
  readonly boolean: boolean
}
export interface NullValue extends At {
  readonly kind: 'null'
}
/** What JSON cannot hold: a function, a cycle or a symbol of code, a date of TOML. */
export interface ForeignValue extends At {
  readonly kind: 'foreign'
  /** with its article */
  readonly what?: string
}

/** Any value of a configuration. */
export type Value = ObjectValue | ListValue | TextValue | NumberValue | BooleanValue | NullValue | ForeignValue

/** One key of an object with its value; `where` is the place of the key. */
export interface Member {
  readonly name: string
  readonly where: string
  readonly value: Value
}

/** One thing that is wrong, with its place. */
export interface Mistake {
  readonly where: string
  /** one line: what is wrong and what to do; never a value that could be secret */
  readonly message: string
}

/** Takes a mistake down. */
export type Report = (where: string, message: string) => void

/** Deeper nesting is a mistake: no configuration needs it, and recursion has an end. */
export const DEEPEST = 100

/** The path of a member below a path. */
export function memberPath(path: string, name: string): string {
  const shown = /^[A-Za-z0-9_$@/:-]+$/.test(name) && name.length <= 80 ? name : quoted(name)
  return path === '' ? shown : `${path}.${shown}`
}

/** A name from a file between quotes: control characters escaped, at most 80 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name)
}

/** The tree of a value given in code; `undefined` members are left out, `where` is `host` everywhere. */
export function fromCode(value: unknown): Value {
  return convert(value, '', 0)
}

function convert(value: unknown, path: string, depth: number): Value {
  const at = { where: 'host', path }
  if (value === null) return { ...at, kind: 'null' }
  if (typeof value === 'string') return { ...at, kind: 'text', text: value }
  if (typeof value === 'number') return { ...at, kind: 'number', number: value, exact: Number.isFinite(value) }
  if (typeof value === 'boolean') return { ...at, kind: 'boolean', boolean: value }
  if (typeof value !== 'object' || depth >= DEEPEST) return { ...at, kind: 'foreign' }
  if (Array.isArray(value)) {
    return { ...at, kind: 'list', items: value.map((item: unknown, index) => convert(item, `${path}[${index}]`, depth + 1)) }
  }
  // A Map, a Date, an error: what it holds would be lost without a word.
  if (Object.keys(value).length === 0 && !isPlain(value)) return { ...at, kind: 'foreign' }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => ({ name, where: 'host', value: convert(member, memberPath(path, name), depth + 1) }))
  return { ...at, kind: 'object', members }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The plain JSON of a value that is handed on unchanged. Reports what would not arrive as it was written: a key twice, a number with lost digits. */
export function toJson(value: Value, report: Report): Json {
  switch (value.kind) {
    case 'null':
      return null
    case 'text':
      return value.text
    case 'boolean':
      return value.boolean
    case 'number':
      if (!value.exact) report(value.where, `the number ${value.path} cannot be kept exactly; write it as text, or with fewer digits`)
      return value.number
    case 'list':
      return value.items.map((item) => toJson(item, report))
    case 'object': {
      reportDuplicates(value, report)
      // fromEntries makes own properties, for "__proto__" too
      return Object.fromEntries(value.members.map((member) => [member.name, toJson(member.value, report)]))
    }
    case 'foreign':
      report(value.where, `${value.path || 'the value'} is not JSON; give plain data, nested at most ${DEEPEST} deep`)
      return null
  }
}

/** Reports every key that the object has more than once. */
export function reportDuplicates(object: ObjectValue, report: Report): void {
  const first = new Map<string, string>()
  for (const { name, where } of object.members) {
    const earlier = first.get(name)
    if (earlier === undefined) first.set(name, where)
    else report(where, duplicateKey(name, object.path, earlier))
  }
}

/** The sentence about a key that is there twice. */
export function duplicateKey(name: string, path: string, earlier: string): string {
  return `the key ${quoted(name)} is there twice${path === '' ? '' : ` in ${path}`} (first at ${earlier}); take one out`
}

/** The kind of a value in words, for "must be …, not …". */
export function kindName(value: Value): string {
  return value.kind === 'object'
    ? 'an object'
    : value.kind === 'list'
      ? 'a list'
      : value.kind === 'null'
        ? 'null'
        : value.kind === 'foreign'
          ? (value.what ?? 'something that is not JSON')
          : value.kind === 'text'
            ? 'text'
            : `a ${value.kind}`
}
