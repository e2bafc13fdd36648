/** Every flag that a runtime knows. */
import { TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { allowedValues, checkFlag } from './define-flag.ts'
import type { Flag } from './flag.ts'
import { MULTI_ENVIRONMENT_MCP } from './multi-environment-mcp.ts'

const BUILT_IN: readonly Flag[] = [MULTI_ENVIRONMENT_MCP]

/** What the names of flag variables begin with. */
export const FLAG_VARIABLE_PREFIX = 'TAPLINE_FLAG_'

/** The built-in flags and those that a host defines; hook entries may declare more. Throws FLAG_BAD_VALUE for two flags of one name (or of one variable name). */
export class FlagRegistry implements Iterable<Flag> {
  readonly #flags = new Map<string, Flag>()
  readonly #variables = new Map<string, Flag>()

  constructor(defined: readonly Flag[] = []) {
    for (const flag of [...BUILT_IN, ...defined]) this.#add(flag)
    Object.freeze(this)
  }

  /** A flag that a hook entry names. One of that name with the same values and the same default is shared; throws FLAG_BAD_VALUE for any other; `where` is the place that names it. */
  declare(flag: Flag, where?: string): void {
    const other = this.#flags.get(flag.name)
    if (other === undefined) return this.#add(flag)
    const place = where === undefined ? {} : { where }
    const values = new Set(other.variants)
    if (values.size !== flag.variants?.length || !flag.variants.every((value) => values.has(value)))
      throw new TaplineError('FLAG_BAD_VALUE', `the flag "${flag.name}" is defined with other values than ${allowedValues(flag)}`, {
        remedy: 'Name another flag, or define it with these variants.',
        ...place,
      })
    if (other.default !== flag.default)
      throw new TaplineError(
        'FLAG_BAD_VALUE',
        `the flag "${flag.name}" has two defaults, ${JSON.stringify(other.default)} and ${JSON.stringify(flag.default)}`,
        { remedy: 'Give it the same default wherever it is named, or name two flags.', ...place },
      )
  }

  #add(flag: Flag): void {
    // a host and its plugin may both list the one flag object that they share
    if (this.#flags.get(flag.name) === flag) return
    checkFlag(flag)
    const variable = flagVariable(flag.name)
    const other = this.#flags.get(flag.name) ?? this.#variables.get(variable)
    if (other) {
      const what =
        other.name === flag.name
          ? `the flag "${flag.name}" is defined twice`
          : `the flags "${other.name}" and "${flag.name}" have the same variable ${variable}`
      throw new TaplineError('FLAG_BAD_VALUE', what, { remedy: 'Rename one of the two flags.' })
    }
    this.#flags.set(flag.name, flag)
    this.#variables.set(variable, flag)
  }

  /** The flag of this name. Throws FLAG_UNKNOWN with the nearest name; `where` is the place that named it. */
  get(name: string, where?: string): Flag {
    const flag = this.#flags.get(name)
    if (flag) return flag
    const place = where === undefined ? '' : ` (${where})`
    throw new TaplineError('FLAG_UNKNOWN', `there is no flag ${JSON.stringify(name)}${didYouMean(name, this.#flags.keys())}${place}`, {
      ...(where !== undefined && { where }),
    })
  }

  /** The flag that an environment variable sets. Throws FLAG_UNKNOWN with the nearest variable. */
  ofVariable(variable: string): Flag {
    const flag = this.#variables.get(variable)
    if (flag) return flag
    // compared without the prefix, which would make everything look alike
    const known = [...this.#variables.keys()].map((name) => name.slice(FLAG_VARIABLE_PREFIX.length))
    const hint = didYouMean(variable.slice(FLAG_VARIABLE_PREFIX.length), known, FLAG_VARIABLE_PREFIX)
    throw new TaplineError('FLAG_UNKNOWN', `the environment variable ${variable} names no flag${hint}`)
  }

  /** All flags, by name. */
  *[Symbol.iterator](): IterableIterator<Flag> {
    for (const name of [...this.#flags.keys()].sort()) yield this.#flags.get(name) as Flag
  }
}

/** The environment variable of a flag: upper case, `_` for what a variable cannot hold. */
function flagVariable(name: string): string {
  return FLAG_VARIABLE_PREFIX + name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')
}

function didYouMean(name: string, known: Iterable<string>, prefix = ''): string {
  const near = nearest(name, known)
  return near === null ? '' : `: did you mean "${prefix}${near}"?`
}
