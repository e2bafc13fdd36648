/** What a call got, for taps that see it afterwards. */
import { isTaplineError, TaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { frozenCopy } from '../json.ts'

const { isFrozen } = Object

/** A `next` that gives the end again, each time. The host has the result itself, so this is a frozen copy where that is not frozen yet: one for all taps of a call. */
export function replayOf(
  end: { readonly result: JsonObject } | { readonly error: unknown },
  copies: Map<JsonObject, JsonObject>,
): () => Promise<JsonObject> {
  if ('error' in end) {
    const error = errorApart(end.error)
    return () => Promise.reject(error)
  }
  const result = copies.get(end.result) ?? (apart(end.result) as JsonObject)
  copies.set(end.result, result)
  return () => Promise.resolve(result)
}

/** A deeply frozen value that shares nothing with what somebody else may change. */
export function apart(value: Json): Json {
  return isFrozen(value) ? value : frozenCopy(value)
}

/** The same error with frozen copies of what it carries; errors of others as they are. */
function errorApart(error: unknown): unknown {
  if (!isTaplineError(error) || error.data === undefined) return error
  const data: Record<string, unknown> = { ...error.data }
  for (const key of ['rawResult', 'rpcData']) if (data[key] !== undefined) data[key] = apart(data[key] as Json)
  const { code, message, remedy, cause, hook, tap, plugin, callId, where } = error
  return new TaplineError(code, message, {
    remedy,
    data,
    ...(cause !== undefined && { cause }),
    ...(hook !== undefined && { hook }),
    ...(tap !== undefined && { tap }),
    ...(plugin !== undefined && { plugin }),
    ...(callId !== undefined && { callId }),
    ...(where !== undefined && { where }),
  })
}
