/** Compares JSON for the trace. */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../json.ts'

/** True where the values are not the same; what is nested too deep to be compared counts as another value. */
export function differs(a: JsonObject, b: JsonObject): boolean {
  try {
    return !isDeepStrictEqual(a, b)
  } catch {
    return true
  }
}
