/** Runs the taps of dispatch as layers around the owner's connection: the `compile` of the dispatch hook. */
import { types } from 'node:util'
import { isTaplineError, TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { deepFreeze } from '../json.ts'
import type { CallRun } from './call-run.ts'
import { differs } from './differs.ts'
import type { Deadline, DeadlineWheel } from './deadline-wheel.ts'
import { HookError } from './hook-error.ts'
import { ownerNamedIn, readResult, wrongReturn } from './returns.ts'
import { LiveTapContext } from './tap-context.ts'
import { ownError, type TapStep, thrownBy } from './tap-step.ts'
import { changedOwner, TapView } from './tap-view.ts'
import type { TapTrace } from './trace.ts'

/** The innermost layer: writes to the owner's connection. */
export type Innermost = (run: CallRun) => Promise<JsonObject>
/** Takes a tap whose plugin does not enforce, and gives what is inside of it as it is. */
export type Around = (run: CallRun, step: TapStep, inner: () => Promise<JsonObject>) => Promise<JsonObject>

/** The runner for layers, the first one outermost. A class, as `Series` is one. */
export class Onion {
  readonly #steps: readonly TapStep[]
  readonly #innermost: Innermost
  readonly #wheel: DeadlineWheel
  readonly #around: Around

  constructor(steps: readonly TapStep[], innermost: Innermost, wheel: DeadlineWheel, around: Around) {
    this.#steps = steps
    this.#innermost = innermost
    this.#wheel = wheel
    this.#around = around
  }

  /** Gives the result, or rejects with TaplineError. May throw what the innermost layer throws. */
  run(run: CallRun): Promise<JsonObject> {
    return this.#from(0, run)
  }

  #from(at: number, run: CallRun): Promise<JsonObject> {
    for (let i = at; i < this.#steps.length; i++) {
      const step = this.#steps[i]!
      if (step.cell.mode !== 'enforce') return this.#around(run, step, () => this.#from(i + 1, run))
      if (step.applies(run)) return new Layer(step, run, this.#wheel, () => this.#from(i + 1, run)).start()
    }
    const innermost = this.#innermost
    return innermost(run)
  }
}

/** Runs one tap around what `inner` gives, whatever its mode. Rejects where the tap stops its call. */
export function runLayer(step: TapStep, run: CallRun, wheel: DeadlineWheel, inner: () => Promise<JsonObject>): Promise<JsonObject> {
  return new Layer(step, run, wheel, inner).start()
}

const { isPromise } = types
const then = Promise.prototype.then
const ignore = (): void => {}

/** A tap that drops the promise must not end the host's process. */
function quiet<T>(answer: Promise<T>): Promise<T> {
  void then.call(answer, undefined, ignore)
  return answer
}

/** What a tap lets through keeps its outcome, so no tap may write another one into it. */
function freezeError(error: TaplineError): void {
  if (error.data !== undefined) Object.freeze(error.data)
  Object.freeze(error)
}

/** One tap around what is inside of it. */
class Layer implements Deadline {
  wheelTick = 0
  wheelPrevious: Deadline | null = null
  wheelNext: Deadline | null = null
  readonly #step: TapStep
  readonly #run: CallRun
  readonly #wheel: DeadlineWheel
  readonly #inner: () => Promise<JsonObject>
  readonly #view: TapView
  readonly #context: LiveTapContext
  readonly #started: number
  #resolve!: (result: JsonObject) => void
  #reject!: (error: unknown) => void
  #isOver = false
  #pending = 0
  #calls = 0
  #msLeft: number
  #last: Promise<JsonObject> | null = null
  #result: JsonObject | null = null
  #innerErrors: unknown[] | null = null
  #outer: CallRun['waiting'] = null

  constructor(step: TapStep, run: CallRun, wheel: DeadlineWheel, inner: () => Promise<JsonObject>) {
    this.#step = step
    this.#run = run
    this.#wheel = wheel
    this.#inner = inner
    this.#view = new TapView(run, step)
    this.#context = new LiveTapContext(run, step, this.#view)
    this.#started = run.trace === null ? 0 : performance.now()
    this.#msLeft = step.timeoutMs
  }

  start(): Promise<JsonObject> {
    this.#run.arguments.own()
    const outcome = new Promise<JsonObject>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#outer = this.#run.waiting
    this.#run.waiting = this
    this.#wheel.add(this, this.#msLeft)
    try {
      // without `this`: a tap must not get hold of its step
      const { fn } = this.#step
      const value = fn(this.#view, this.#next, this.#context)
      if (isPromise(value)) {
        void then.call(
          value,
          (result: unknown) => this.#settled(result),
          (error: unknown) => this.#failed(thrownBy(this.#step, this.#run, error), error),
        )
      } else this.#failed(wrongReturn(this.#run, this.#step, value, 'returned no promise'), null)
    } catch (error) {
      this.#failed(thrownBy(this.#step, this.#run, error), error)
    }
    return outcome
  }

  /** The call has ended otherwise: no clock of it runs on, here and further out. */
  abandon(): void {
    if (this.#leave()) {
      LiveTapContext.end(this.#context)
      TapView.settle(this.#view)
      this.#reject(this.#run.ended)
    }
    this.#outer?.abandon()
  }

  expire(): void {
    LiveTapContext.end(this.#context)
    this.#failed(this.#step.error(this.#run, 'HOOK_TIMED_OUT', `did not end within ${this.#step.timeoutMs} ms`), null)
  }

  /** Bound to the owner: takes nothing, and does nothing once the tap has ended. */
  readonly #next = (...args: readonly unknown[]): Promise<JsonObject> => {
    try {
      return this.#call(args)
    } catch (error) {
      return quiet(Promise.reject<JsonObject>(error))
    }
  }

  /** No async function: this is half of what a layer costs. */
  #call(args: readonly unknown[]): Promise<JsonObject> {
    if (this.#isOver) throw new TaplineError('HOOK_FAILED', `next() was called after tap "${this.#step.name}" had ended: nothing was sent`)
    this.#run.assertRunning()
    if (args.some((arg) => arg !== undefined)) throw this.#passed(args)
    this.#calls++
    if (this.#pending++ === 0) this.#msLeft = this.#wheel.remove(this)
    try {
      this.#last = this.#inner()
    } catch (error) {
      throw this.#unanswered(error)
    }
    const answer: Promise<JsonObject> = then.call(
      this.#last,
      (result: JsonObject) => this.#answered(result),
      (error: unknown) => {
        throw this.#unanswered(error)
      },
    ) as Promise<JsonObject>
    // before the tap has it: what it does to the promise must not matter
    return quiet(answer)
  }

  #answered(result: JsonObject): JsonObject {
    // frozen, because whoever keeps it could change it after somebody else has judged it
    this.#result = deepFreeze(result)
    this.#resume()
    return result
  }

  #unanswered(error: unknown): unknown {
    if (isTaplineError(error)) freezeError(error)
    ;(this.#innerErrors ??= []).push(error)
    this.#resume()
    return error
  }

  /** The tap's own clock goes on when nothing inside of it is pending any more. */
  #resume(): void {
    if (--this.#pending === 0 && !this.#isOver) this.#wheel.add(this, this.#msLeft)
  }

  /** The error for what a tap handed to next(). */
  #passed(args: readonly unknown[]): TaplineError {
    let word: string | null = null
    try {
      // next(call), as other libraries want it, names the owner that the call has
      for (const arg of args) if (arg !== this.#view) word ??= ownerNamedIn(arg)
    } catch {
      // it cannot be read: an argument all the same
    }
    if (word !== null) return this.#violation(changedOwner(this.#run.id, this.#step, word, 'passed'))
    return this.#step.error(this.#run, 'HOOK_BAD_RETURN', 'passed an argument to next(), which takes none,')
  }

  #settled(value: unknown): void {
    if (!this.#leave()) return
    try {
      // a getter or toJSON of the value may make the attempt
      const result = readResult(this.#run, this.#step, value, this.#result)
      const attempt = this.#attempt()
      if (attempt !== null) return this.#violated(attempt)
      this.#trace(this.#result === null ? 'answered' : 'called_next', result)
      this.#resolve(result)
    } catch (error) {
      const attempt = this.#attempt()
      if (attempt === null) this.#end(ownError(this.#step, this.#run, error))
      else this.#violated(attempt)
    }
  }

  /** `thrown` is what the tap rejected with: an error of next() that it lets through keeps its own outcome. */
  #failed(error: TaplineError, thrown: unknown): void {
    if (!this.#leave()) return
    const attempt = this.#attempt()
    if (attempt !== null) return this.#violated(attempt)
    if (thrown !== null && this.#innerErrors?.includes(thrown)) {
      this.#trace('called_next', null)
      this.#reject(thrown)
      return
    }
    this.#end(error)
  }

  #end(error: TaplineError): void {
    if (error.code === 'HOOK_CHANGED_OWNER') return this.#violated(error)
    // a decision about the result is no failure
    if (error.code === 'CALL_REFUSED') {
      this.#trace('deny', null, error.data?.['reason'] as string)
      return this.#reject(error)
    }
    this.#trace(error.code === 'HOOK_TIMED_OUT' ? 'timed_out' : 'failed', null, error.message, this.#step.blocks)
    if (this.#step.blocks) return this.#reject(error)
    this.#run.context.log(error.message)
    if (this.#result !== null) return this.#resolve(this.#result)
    try {
      // what the tap started is waited for, so that nothing is sent twice
      void then.call(this.#last ?? this.#inner(), this.#resolve, this.#reject)
    } catch (failure) {
      // the write was refused at once: what the call was judged by has changed
      this.#reject(failure)
    }
  }

  /** What this tap tried on the owner: an assignment, or something that it handed to next(). */
  #attempt(): TaplineError | null {
    const assigned = TapView.settle(this.#view)
    const { violation } = this.#run
    if (HookError.isOf(violation, this.#step, this.#run.id)) return violation
    return assigned === null ? null : changedOwner(this.#run.id, this.#step, assigned, 'assigned')
  }

  #violation(error: TaplineError): TaplineError {
    return (this.#run.violation ??= error)
  }

  #violated(error: TaplineError): void {
    this.#trace('changed_owner', null, error.message)
    this.#reject(this.#violation(error))
  }

  #trace(decision: TapTrace['decision'], result: JsonObject | null, reason?: string, inEffect = true): void {
    if (this.#run.trace === null) return
    const changedResult = result !== null && this.#result !== null && result !== this.#result && differs(result, this.#result)
    this.#step.trace(this.#run, decision, this.#started, reason, inEffect, {
      nextCalls: this.#calls,
      ...(result !== null && this.#result !== null && { changedResult }),
    })
  }

  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    if (this.#run.waiting === this) this.#run.waiting = this.#outer
    this.#wheel.remove(this)
    return true
  }
}
