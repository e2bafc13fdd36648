/** Every flag that a runtime knows. */
import { TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { checkFlag } from './define-flag.ts'
import type { Flag } from './flag.ts'
import { MULTI_ENVIRONMENT_MCP } from './multi-environment-mcp.ts'

const BUILT_IN: readonly Flag[] = [MULTI_ENVIRONMENT_MCP]

/** What the names of flag variables begin with. */
export const FLAG_VARIABLE_PREFIX = 'TAPLINE_FLAG_'

/** The built-in flags and those that a host defines; fixed once made. Throws FLAG_BAD_VALUE for two flags of one name (or of one variable name). */
export class FlagRegistry implements Iterable<Flag> {
  readonly #flags = new Map<string, Flag>()
  readonly #variables = new Map<string, Flag>()

  constructor(defined: readonly Flag[] = []) {
    for (const flag of [...BUILT_IN, ...defined]) {
      // a host and its plugin may both list the one flag object that they share
      if (this.#flags.get(flag.name) === flag) continue
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
    Object.freeze(this)
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
