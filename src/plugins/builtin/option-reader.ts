/** Options of the built-in plugins, checked by hand: none of them needs a validator to be installed. */
import { nearest } from '../../nearest.ts'
import type { Schema } from '../../schema.ts'

interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
}
/** Bounds of a number; both are allowed values. */
interface Bounds {
  readonly least: number
  readonly most: number
}

/** Reads the members of an options object; gathers what is wrong in place of throwing at the first of it. */
export class OptionReader {
  readonly issues: Issue[]
  readonly #given: Readonly<Record<string, unknown>>
  readonly #path: readonly (string | number)[]

  constructor(given: unknown, known: readonly string[], path: readonly (string | number)[] = [], issues: Issue[] = []) {
    this.issues = issues
    this.#path = path
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
    // own members only: what somebody put on Object.prototype is no option
    this.#given = { __proto__: null, ...(isObject ? given : {}) }
    if (!isObject) this.fail('', 'must be an object')
    for (const key of Object.keys(this.#given)) {
      if (known.includes(key)) continue
      const near = nearest(key, new Set(known))
      this.fail(key, `is no option${near === null ? ` (there are ${known.join(', ')})` : ` (did you mean "${near}"?)`}`)
    }
  }

  /** Notes a mistake; `key` is the member, or the empty string for the whole object. */
  fail(key: string | readonly (string | number)[], message: string): void {
    const below = typeof key === 'string' ? (key === '' ? [] : [key]) : key
    this.issues.push({ path: [...this.#path, ...below], message })
  }

  /** The path of a member, for readers of what is inside of it. */
  at(...below: readonly (string | number)[]): readonly (string | number)[] {
    return [...this.#path, ...below]
  }

  has(key: string): boolean {
    return this.#given[key] !== undefined
  }

  /** The member as it is. */
  value(key: string): unknown {
    return this.#given[key]
  }

  truth(key: string, otherwise: boolean): boolean {
    const value = this.#given[key] ?? otherwise
    if (typeof value === 'boolean') return value
    this.fail(key, 'must be true or false')
    return otherwise
  }

  number(key: string, otherwise: number, { least, most }: Bounds): number {
    const value = this.#given[key] ?? otherwise
    if (typeof value === 'number' && value >= least && value <= most) return value
    this.fail(key, `must be a number from ${least} to ${most}`)
    return otherwise
  }

  whole(key: string, otherwise: number, { least, most }: Bounds): number {
    const value = this.#given[key] ?? otherwise
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
    this.fail(key, `must be a whole number from ${least} to ${most}`)
    return otherwise
  }

  choice<T extends string>(key: string, otherwise: T, choices: readonly T[]): T {
    const value = this.#given[key] ?? otherwise
    if (choices.includes(value as T)) return value as T
    this.fail(key, `must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}`)
    return otherwise
  }

  text(key: string): string | null {
    const value = this.#given[key]
    if (value === undefined) return null
    if (typeof value === 'string' && value !== '') return value
    this.fail(key, 'must be a text')
    return null
  }

  /** Null where it is not given. Whether an empty one means something is for the caller to say. */
  list(key: string): readonly unknown[] | null {
    const value = this.#given[key]
    if (value === undefined) return null
    if (Array.isArray(value)) return value as readonly unknown[]
    this.fail(key, 'must be a list')
    return null
  }

  /** Null where it is not given. A list of names that is given names something: an empty one would guard nothing without a word. */
  texts(key: string): readonly string[] | null {
    const items = this.list(key)
    if (items === null) return null
    if (items.length === 0) this.fail(key, 'must not be empty')
    return items.filter((item, index): item is string => {
      if (typeof item === 'string' && item !== '') return true
      this.fail([key, index], 'must be a text')
      return false
    })
  }

  /** An object of the host that has this method; a configuration cannot give one. */
  object(key: string, method: string): object | null {
    const value = this.#given[key]
    if (value === undefined) return null
    if (typeof value === 'object' && value !== null && typeof (value as Readonly<Record<string, unknown>>)[method] === 'function')
      return value
    this.fail(key, `must be an object with ${method}()`)
    return null
  }

  /** A function of the host; a configuration cannot give one. */
  function(key: string): ((...args: never) => unknown) | null {
    const value = this.#given[key]
    if (value === undefined) return null
    if (typeof value === 'function') return value as (...args: never) => unknown
    this.fail(key, 'must be a function')
    return null
  }
}

/** A schema for `definePlugin`. No options at all count as an empty object. */
export function optionSchema<Input, Output>(
  known: readonly (keyof Input & string)[],
  read: (options: OptionReader) => Output,
): Schema<Input | undefined, Output> {
  return {
    '~standard': {
      version: 1,
      vendor: 'tapline',
      validate(value) {
        const options = new OptionReader(value ?? {}, known)
        const output = read(options)
        return options.issues.length === 0 ? { value: output } : { issues: options.issues }
      },
    },
  }
}
