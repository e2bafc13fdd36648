/** The arguments of one call: the host's object until something asynchronous or a tap comes near it, ours from then on. */
import { TaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { deepFreeze, isJsonObject, snapshot } from '../json.ts'

/** Holds what will be sent. Nothing that the host does to its own object after `own` or `read` changes it. */
export class CallArguments {
  #value: JsonObject
  #isOurs = false
  #isFrozen = false
  #apart: JsonObject | null = null

  /** Takes the host's value; undefined counts as {}. Throws CALL_INVALID_REQUEST for what is not an object. */
  constructor(value: unknown) {
    if (value === undefined) {
      this.#value = {}
      this.#isOurs = true
    } else if (isJsonObject(value)) {
      this.#value = value
      // it writes itself as something else: that is what is looked at, and sent
      if (typeof value['toJSON'] === 'function') this.own()
    } else {
      throw new TaplineError('CALL_INVALID_REQUEST', `arguments must be a JSON object, not ${describe(value)}`, {
        remedy: 'Send the arguments as an object.',
      })
    }
  }

  /** What will be sent, as it is now. */
  get value(): JsonObject {
    return this.#value
  }

  /** Makes the value ours: one JSON snapshot. Throws CALL_INVALID_REQUEST where it is not JSON. */
  own(): void {
    if (this.#isOurs) return
    this.#value = copyOf(this.#value)
    this.#isOurs = true
  }

  /** The value for taps: ours, and frozen all the way down. */
  read(): JsonObject {
    if (!this.#isFrozen) {
      this.own()
      deepFreeze(this.#value)
      this.#isFrozen = true
    }
    return this.#value
  }

  /** What `read` would give now, for somebody whose `replace` reaches nobody else; the host's object stays in use. Throws CALL_INVALID_REQUEST where it is not JSON. */
  apart(): CallArguments {
    const copy = new CallArguments(undefined)
    copy.#value = this.#isOurs ? this.read() : (this.#apart ??= deepFreeze(copyOf(this.#value)))
    copy.#isFrozen = true
    return copy
  }

  /** Puts a tap's arguments in place; the value must be ours already. */
  replace(value: JsonObject): void {
    this.#value = value
    this.#isOurs = true
    this.#isFrozen = false
  }
}

function copyOf(value: JsonObject): JsonObject {
  let copy: Json
  try {
    copy = snapshot(value)
  } catch (error) {
    throw new TaplineError('CALL_INVALID_REQUEST', `arguments cannot be written as JSON: ${(error as Error).message}`, { cause: error })
  }
  // an object whose toJSON gives something else
  if (!isJsonObject(copy)) throw new TaplineError('CALL_INVALID_REQUEST', 'arguments must be a JSON object')
  return copy
}

const describe = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`)
