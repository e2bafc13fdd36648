/** Reads the members of one object by name and takes down what is wrong with them. */
import { nearest } from '../nearest.ts'
import type { Bounds } from './bounds.ts'
import { LONGEST_SEC } from './bounds.ts'
import type { ListValue, Member, ObjectValue, Report, TextValue, Value } from './value.ts'
import { duplicateKey, kindName, quoted } from './value.ts'

export interface FieldOptions {
  /** also take `tool_timeout_sec` for `toolTimeoutSec`; default true */
  readonly snakeCase?: boolean
  /** other names of a key */
  readonly aliases?: ReadonlyMap<string, string>
  /** treat `null` as left out, as other clients write it */
  readonly nullIsAbsent?: boolean
  /** gets the unknown keys in place of the report */
  readonly onUnknown?: (member: Member) => void
}

/** The members of one object. Making it reports unknown and repeated keys; reading a member reports a wrong type and gives `undefined`. */
export class Fields {
  readonly object: ObjectValue
  readonly #members = new Map<string, Member>()
  readonly #report: Report

  constructor(object: ObjectValue, known: readonly string[], report: Report, options: FieldOptions = {}) {
    this.object = object
    this.#report = report
    const names = new Set(known)
    for (const member of object.members) {
      const name = canonical(member.name, names, options)
      if (name === null) {
        if (options.onUnknown) options.onUnknown(member)
        else report(member.where, unknownKey(member.name, object.path, known))
        continue
      }
      const earlier = this.#members.get(name)
      if (earlier !== undefined) {
        const same = earlier.name === member.name
        report(
          member.where,
          same
            ? duplicateKey(member.name, object.path, earlier.where)
            : `${quoted(earlier.name)} (${earlier.where}) and ${quoted(member.name)} are two spellings of one key; take one out`,
        )
        continue
      }
      if (options.nullIsAbsent && member.value.kind === 'null') continue
      this.#members.set(name, member)
    }
  }

  has(name: string): boolean {
    return this.#members.has(name)
  }

  /** The member under its own name or another spelling. */
  member(name: string): Member | undefined {
    return this.#members.get(name)
  }

  value(name: string): Value | undefined {
    return this.#members.get(name)?.value
  }

  /** Takes a mistake down at the value of this key. */
  reject(name: string, message: string): void {
    const value = this.value(name)
    this.#report(value?.where ?? this.object.where, `${value?.path ?? name} ${message}`)
  }

  text(name: string): TextValue | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (value.kind !== 'text' || value.text.includes('\0')) {
      this.#report(
        value.where,
        `${value.path} must be text${value.kind === 'text' ? ' without NUL characters' : `, not ${kindName(value)}`}`,
      )
      return undefined
    }
    return value
  }

  /** Text that is not empty. */
  word(name: string): TextValue | undefined {
    const value = this.text(name)
    if (value?.text !== '') return value
    this.#report(value.where, `${value.path} must not be empty; leave the key out, or give it a value`)
    return undefined
  }

  boolean(name: string): boolean | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (value.kind === 'boolean') return value.boolean
    this.#report(value.where, `${value.path} must be true or false, not ${kindName(value)}`)
    return undefined
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : choiceOf(value, choices, this.#report)
  }

  /** A time limit in seconds (above 0, at most 86,400), given back in ms. */
  seconds(name: string): number | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (value.kind === 'number' && value.number > 0 && value.number <= LONGEST_SEC) return Math.max(1, Math.round(value.number * 1000))
    this.#report(value.where, `${value.path} must be a number of seconds above 0 and at most ${LONGEST_SEC}`)
    return undefined
  }

  /** A whole number within the bounds. */
  whole(name: string, { least, most }: Bounds): number | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (value.kind === 'number' && Number.isInteger(value.number) && value.number >= least && value.number <= most) return value.number
    this.#report(value.where, `${value.path} must be a whole number from ${least} to ${most}`)
    return undefined
  }

  section(name: string): ObjectValue | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : objectOf(value, this.#report)
  }

  list(name: string): ListValue | undefined {
    const value = this.value(name)
    if (value === undefined || value.kind === 'list') return value
    this.#report(value.where, `${value.path} must be a list, not ${kindName(value)}`)
    return undefined
  }

  texts(name: string): readonly TextValue[] | undefined {
    return this.list(name)?.items.filter((item): item is TextValue => {
      const good = item.kind === 'text' && !item.text.includes('\0')
      if (!good)
        this.#report(item.where, `${item.path} must be text${item.kind === 'text' ? ' without NUL characters' : `, not ${kindName(item)}`}`)
      return good
    })
  }
}

/** The object, or undefined and a mistake. */
export function objectOf(value: Value, report: Report): ObjectValue | undefined {
  if (value.kind === 'object') return value
  report(value.where, `${value.path || 'the document'} must be an object, not ${kindName(value)}`)
  return undefined
}

/** One of the words, or undefined and a mistake that lists them. */
export function choiceOf<T extends string>(value: Value, choices: readonly T[], report: Report): T | undefined {
  if (value.kind === 'text') {
    const found = choices.find((choice) => choice === value.text)
    if (found !== undefined) return found
  }
  const near = value.kind === 'text' ? didYouMean(value.text, choices) : ''
  report(value.where, `${value.path} must be ${choices.map((choice) => `"${choice}"`).join(' or ')}${near}`)
  return undefined
}

/** ` (did you mean "x"?)` for the nearest candidate, or nothing. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = nearest(name, candidates)
  return near === null ? '' : ` (did you mean "${near}"?)`
}

/** The sentence about a key that is not known, with the nearest known one or all of them. */
export function unknownKey(name: string, path: string, known: readonly string[]): string {
  const near = didYouMean(name, known)
  return `unknown key ${quoted(name)}${path === '' ? ' at the top level' : ` in ${path}`}${near || `; known keys: ${known.join(', ')}`}`
}

function canonical(name: string, known: ReadonlySet<string>, options: FieldOptions): string | null {
  if (known.has(name)) return name
  const alias = options.aliases?.get(name)
  if (alias !== undefined) return alias
  if (options.snakeCase === false || !/^[a-z0-9]+(_[a-z0-9]+)+$/.test(name)) return null
  const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  return known.has(camel) ? camel : null
}
