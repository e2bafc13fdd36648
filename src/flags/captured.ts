/** The values of a session. */
import { TaplineError } from '../errors.ts'
import { accepts, allowedValues } from './define-flag.ts'
import type { CapturedFlags, Flag, FlagDetails, FlagValue } from './flag.ts'
import type { Statements } from './statements.ts'
import { detailsOf } from './statements.ts'

/** What a session captured, frozen. */
export class Captured implements CapturedFlags {
  readonly #byName: ReadonlyMap<string, FlagDetails>
  readonly #all: readonly FlagDetails[]

  constructor(statements: Statements) {
    const all = [...statements].map(([flag, said]) => detailsOf(flag, said))
    this.#all = Object.freeze(all)
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
