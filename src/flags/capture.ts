/** Evaluates every flag once, when a session opens. */
import { TaplineError } from '../errors.ts'
import { accepts, allowedValues } from './define-flag.ts'
import type { CapturedFlags, Flag, FlagDetails, FlagValue } from './flag.ts'
import { FLAG_VARIABLE_PREFIX } from './registry.ts'
import type { FlagRegistry } from './registry.ts'

/** Where values come from, strongest first. The place of an OpenFeature provider is between the variables and the configuration. */
export interface FlagSources {
  /** of code and of the command line; for these a text is read as that of a variable is */
  readonly override?: Readonly<Record<string, FlagValue>>
  /** `process.env`: `TAPLINE_FLAG_<NAME>` with on, off, true, false, 1, 0 or a variant */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** strongest file last */
  readonly features?: readonly { readonly name: string; readonly value: FlagValue; readonly where: string }[]
}

/** The values of all flags, frozen. Throws FLAG_UNKNOWN and FLAG_BAD_VALUE, naming the place and what would be right. */
export function captureFlags(registry: FlagRegistry, sources: FlagSources = {}): CapturedFlags {
  const found = new Map<Flag, FlagDetails>()
  const take = (flag: Flag, value: FlagValue, source: FlagDetails['source']): void => {
    found.set(flag, details(flag, value, 'STATIC', source))
  }
  // weakest first: a stronger source replaces what a weaker one said, and a mistake in any of them is told
  for (const { name, value, where } of sources.features ?? []) {
    const flag = registry.get(name, where)
    if (!accepts(flag, value)) throw badValue(flag, value, where)
    take(flag, value, 'configuration')
  }
  for (const [variable, text] of Object.entries(sources.variables ?? {})) {
    if (text === undefined || !variable.startsWith(FLAG_VARIABLE_PREFIX)) continue
    const flag = registry.ofVariable(variable)
    take(flag, read(flag, text, `the environment variable ${variable}`), 'environment_variable')
  }
  for (const [name, value] of Object.entries(sources.override ?? {})) {
    const flag = registry.get(name)
    take(flag, read(flag, value, 'the override'), 'override')
  }
  return new Captured([...registry].map((flag) => found.get(flag) ?? details(flag, flag.default, 'DEFAULT', 'default')))
}

const SWITCH_TEXT: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['on', true],
  ['off', false],
  ['1', true],
  ['0', false],
])

function read(flag: Flag, value: FlagValue, where: string): FlagValue {
  if (accepts(flag, value)) return value
  if (typeof value === 'string') {
    if (typeof flag.default === 'boolean') {
      const on = SWITCH_TEXT.get(value.toLowerCase())
      if (on !== undefined) return on
    } else if (typeof flag.default === 'number' && value.trim() !== '' && accepts(flag, Number(value))) {
      return Number(value)
    }
  }
  // here a text is read too, where a file has true or false
  const taken = typeof flag.default === 'boolean' ? [...SWITCH_TEXT.keys()].join(', ') : allowedValues(flag)
  throw badValue(flag, value, where, taken)
}

function badValue(flag: Flag, value: unknown, where: string, taken = allowedValues(flag)): TaplineError {
  const message = `the flag "${flag.name}" cannot be ${JSON.stringify(value)} (${where}): it is one of ${taken}`
  return new TaplineError('FLAG_BAD_VALUE', message, { where, data: { name: flag.name } })
}

function details(flag: Flag, value: FlagValue, reason: string, source: FlagDetails['source']): FlagDetails {
  return Object.freeze({ flagKey: flag.name, value, ...(flag.variants && { variant: String(value) }), reason, source })
}

class Captured implements CapturedFlags {
  readonly #byName: ReadonlyMap<string, FlagDetails>
  readonly #all: readonly FlagDetails[]

  constructor(all: readonly FlagDetails[]) {
    this.#all = Object.freeze([...all])
    this.#byName = new Map(all.map((one) => [one.flagKey, one]))
    Object.freeze(this)
  }

  // functions without `this`, because users take them apart: `const { get } = flags`
  readonly get = <V extends FlagValue>(flag: Flag<V>): V => this.details(flag).value

  readonly details = <V extends FlagValue>(flag: Flag<V>): FlagDetails<V> => {
    const captured = this.#byName.get(flag.name)
    if (!captured) {
      throw new TaplineError('FLAG_UNKNOWN', `the flag "${flag.name}" was not defined when the session opened`, {
        remedy: 'Add the flag to flags.define of the runtime.',
      })
    }
    if (accepts(flag, captured.value)) return captured as FlagDetails<V>
    // another flag object of that name with other values: never hand out a value that its type does not have
    const errorMessage = `${JSON.stringify(captured.value)} is not one of ${allowedValues(flag)}`
    return Object.freeze({
      flagKey: flag.name,
      value: flag.default,
      reason: 'ERROR',
      errorCode: 'TYPE_MISMATCH',
      errorMessage,
      source: 'default' as const,
    })
  }

  readonly all = (): readonly FlagDetails[] => this.#all
}
// hook plugins get to see these objects
Object.freeze(Captured.prototype)
