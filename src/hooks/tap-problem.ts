/** How a hook plugin that comes along says what is wrong, where a plain error would say less. */
import type { TaplineError } from '../errors.ts'
import type { CallRun } from './call-run.ts'
import { HookError } from './hook-error.ts'
import type { ViewOwner } from './tap-view.ts'

/** What a tap may say of itself. CALL_REFUSED is a decision and no failure: in dispatch it withholds the result. */
export type TapProblemCode = 'HOOK_BAD_RETURN' | 'HOOK_CHANGED_OWNER' | 'HOOK_FAILED' | 'HOOK_TIMED_OUT' | 'CALL_REFUSED'

/** Thrown by a tap about itself. It can say nothing about another tap or call: those are the ones that it was thrown in. */
export class TapProblem extends Error {
  override readonly name: string = 'TapProblem'
  readonly #code: TapProblemCode
  readonly #more: { readonly remedy?: string; readonly key?: string }

  /** `problem` goes on after `tap "x" of plugin "y"`; for CALL_REFUSED it is the reason, which the model is told. */
  constructor(
    code: TapProblemCode,
    problem: string,
    { cause, ...more }: { readonly remedy?: string; readonly key?: string; readonly cause?: unknown } = {},
  ) {
    super(problem, cause === undefined ? undefined : { cause })
    this.#code = code
    this.#more = more
  }

  /** The error of the core for what a tap threw; null where it threw something else. */
  static read(thrown: unknown, tap: ViewOwner, run: CallRun): TaplineError | null {
    if (typeof thrown !== 'object' || thrown === null || !(#code in thrown)) return null
    const { message: problem } = thrown
    const code = thrown.#code
    const { remedy, key } = thrown.#more
    const said = code === 'CALL_REFUSED' ? `refused the ${tap.hook === 'dispatch' ? 'result' : 'call'}: ${problem}` : problem
    return new HookError(code, `tap "${tap.name}" of plugin "${tap.plugin}" ${said}`, tap, run.id, {
      ...(remedy !== undefined && { remedy }),
      ...(key !== undefined && { data: { key } }),
      ...(code === 'CALL_REFUSED' && { data: { by: 'tap', reason: problem } }),
      ...(thrown.cause !== undefined && { cause: thrown.cause }),
    })
  }
}
