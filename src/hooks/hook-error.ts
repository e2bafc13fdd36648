/** Errors that the core itself makes about a tap. */
import type { ErrorCode, ErrorDetails } from '../errors.ts'
import { TaplineError } from '../errors.ts'
import type { ViewOwner } from './tap-view.ts'

/**
 * Frozen, because a tap that catches one could write another's name into it; known by a private field, because a tap could throw a
 * look-alike, or one that was made for another tap or another call.
 */
export class HookError extends TaplineError {
  readonly #tap: ViewOwner
  readonly #callId: string

  constructor(code: ErrorCode, message: string, tap: ViewOwner, callId: string, details: ErrorDetails = {}) {
    super(code, message, {
      ...details,
      hook: tap.hook,
      tap: tap.name,
      plugin: tap.plugin,
      callId,
      ...(details.data && { data: Object.freeze(details.data) }),
    })
    this.#tap = tap
    this.#callId = callId
    Object.freeze(this)
  }

  /** True for an error that was made about exactly this tap in this call. Runs no code of the value. */
  static isOf(value: unknown, tap: ViewOwner, callId: string): value is HookError {
    return typeof value === 'object' && value !== null && #tap in value && value.#tap === tap && value.#callId === callId
  }
}
