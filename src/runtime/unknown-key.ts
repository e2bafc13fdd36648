/** Mistyped keys of what a host hands in: nothing that was meant is dropped without a word. */
import { TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'

/** One line about the first key that is not known, with the nearest one that is; null where all are. */
export function unknownKey(what: string, given: object, known: readonly string[]): string | null {
  // no Object.keys: a call with one key must not cost a list
  for (const key in given) {
    if (known.includes(key) || !Object.hasOwn(given, key)) continue
    const near = nearest(key, known)
    return `unknown key ${JSON.stringify(key.slice(0, 60))} in ${what}${near === null ? `; known are ${known.join(', ')}` : `: did you mean "${near}"?`}`
  }
  return null
}

/** Throws CALL_INVALID_REQUEST for the first key that is not known. */
export function assertKnownKeys(what: string, given: object, known: readonly string[]): void {
  const unknown = typeof given === 'object' && given !== null ? unknownKey(what, given, known) : `${what} must be an object`
  if (unknown !== null) throw new TaplineError('CALL_INVALID_REQUEST', unknown)
}
