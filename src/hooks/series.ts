/** Runs the taps of a hook one after the other: a plain loop, synchronous until a tap is not. It is the `compile` of our tapable hooks. */
import { types } from 'node:util'
import type { CallRun } from './call-run.ts'
import type { Deadline, DeadlineWheel } from './deadline-wheel.ts'
import { wrongReturn } from './returns.ts'
import { LiveTapContext } from './tap-context.ts'
import { type TapStep, thrownBy } from './tap-step.ts'
import { TapView } from './tap-view.ts'

/** A part of the pipeline itself, as a step of a hook. */
export type BuiltinStep = (run: CallRun) => Promise<void> | undefined

/** Takes a tap whose plugin does not enforce: it runs in shadow, or not at all. Throws nothing. */
export type Beside = (run: CallRun, step: TapStep) => void

/** The runner for steps in their order. A class: closures of many sessions are many functions to V8, which then inlines none. */
export class Series {
  readonly #steps: readonly (TapStep | BuiltinStep)[]
  readonly #wheel: DeadlineWheel
  readonly #beside: Beside

  constructor(steps: readonly (TapStep | BuiltinStep)[], wheel: DeadlineWheel, beside: Beside) {
    this.#steps = steps
    this.#wheel = wheel
    this.#beside = beside
  }

  /** undefined where everything was synchronous. Throws or rejects with TaplineError. */
  run(run: CallRun): Promise<void> | undefined {
    const steps = this.#steps
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at]!
      if (typeof step === 'function') {
        const pending = step(run)
        if (pending !== undefined) return this.#rest(run).resume(at, pending)
      } else if (step.cell.mode !== 'enforce') this.#beside(run, step)
      else if (step.applies(run)) {
        if (!step.isSync) return this.#rest(run).begin(at)
        step.runSync(run)
      }
    }
    return undefined
  }

  #rest(run: CallRun): SeriesRun {
    return new SeriesRun(this.#steps, this.#wheel, this.#beside, run)
  }
}

/** Runs one tap by itself, whatever its mode. As a series: throws or rejects where the tap stops its call. */
export function runAlone(step: TapStep, run: CallRun, wheel: DeadlineWheel): Promise<void> | undefined {
  if (!step.isSync) return new SeriesRun([step], wheel, nothing, run).alone()
  step.runSync(run)
  return undefined
}

const nothing = (): void => {}
const { isPromise } = types
const then = Promise.prototype.then

/** The rest of a series from its first asynchronous step on: one object and one promise, whatever the number of taps. */
class SeriesRun implements Deadline {
  wheelTick = 0
  wheelPrevious: Deadline | null = null
  wheelNext: Deadline | null = null
  readonly #steps: readonly (TapStep | BuiltinStep)[]
  readonly #wheel: DeadlineWheel
  readonly #beside: Beside
  readonly #run: CallRun
  #resolve!: () => void
  #reject!: (error: unknown) => void
  #at = -1
  #view: TapView | null = null
  #context: LiveTapContext | null = null
  #started = 0

  constructor(steps: readonly (TapStep | BuiltinStep)[], wheel: DeadlineWheel, beside: Beside, run: CallRun) {
    this.#steps = steps
    this.#wheel = wheel
    this.#beside = beside
    this.#run = run
  }

  begin(at: number): Promise<void> {
    const promise = this.#promise()
    this.#advance(at)
    return promise
  }

  /** The first step, and nothing else. */
  alone(): Promise<void> {
    const promise = this.#promise()
    try {
      if (!this.#start(0, this.#steps[0] as TapStep)) this.#resolve()
    } catch (error) {
      this.#reject(error)
    }
    return promise
  }

  resume(at: number, pending: Promise<void>): Promise<void> {
    try {
      const promise = this.#promise()
      this.#await(at, pending)
      return promise
    } catch (error) {
      // nobody will look at how the step ends
      pending.catch(() => {})
      throw error
    }
  }

  /** The call has ended otherwise: nothing waits any more. */
  abandon(): void {
    this.#wheel.remove(this)
    if (this.#context !== null) LiveTapContext.end(this.#context)
    if (this.#view !== null) TapView.settle(this.#view)
    this.#at = -1
    this.#reject(this.#run.ended)
  }

  expire(): void {
    const at = this.#at
    const step = this.#steps[at] as TapStep
    this.#leave()
    try {
      LiveTapContext.end(this.#context!)
      step.failed(this.#run, this.#view!, step.error(this.#run, 'HOOK_TIMED_OUT', `did not end within ${step.timeoutMs} ms`), this.#started)
      this.#advance(at + 1)
    } catch (error) {
      this.#reject(error)
    }
  }

  #promise(): Promise<void> {
    // from here on the host can change its own object before the call is sent
    this.#run.arguments.own()
    return new Promise<void>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  #advance(from: number): void {
    try {
      for (let at = from; at < this.#steps.length; at++) {
        this.#run.assertRunning()
        const step = this.#steps[at]!
        if (typeof step === 'function') {
          const pending = step(this.#run)
          if (pending !== undefined) return this.#await(at, pending)
        } else if (step.cell.mode !== 'enforce') this.#beside(this.#run, step)
        else if (step.applies(this.#run)) {
          if (step.isSync) step.runSync(this.#run)
          else if (this.#start(at, step)) return
        }
      }
      this.#resolve()
    } catch (error) {
      this.#reject(error)
    }
  }

  #await(at: number, pending: Promise<void>): void {
    void then.call(
      pending,
      () => this.#advance(at + 1),
      (error: unknown) => this.#reject(error),
    )
  }

  /** True where the tap is now waited for; false where it failed at once and may. */
  #start(at: number, step: TapStep): boolean {
    const run = this.#run
    const view = new TapView(run, step)
    const context = new LiveTapContext(run, step, view)
    const started = run.trace === null ? 0 : performance.now()
    let value: unknown
    let isWaiting: boolean
    try {
      // without `this`: a tap must not get hold of its step
      const { fn } = step
      value = fn(view, context)
      isWaiting = isPromise(value)
      if (isWaiting) {
        void then.call(
          value,
          (result: unknown) => this.#settled(at, step, result),
          (error: unknown) => this.#failed(at, step, error),
        )
      }
    } catch (error) {
      step.failed(run, view, thrownBy(step, run, error), started)
      return false
    }
    if (!isWaiting) {
      step.failed(run, view, wrongReturn(run, step, value, 'returned no promise (use tap for synchronous functions)'), started)
      return false
    }
    this.#at = at
    this.#view = view
    this.#context = context
    this.#started = started
    run.waiting = this
    this.#wheel.add(this, step.timeoutMs)
    return true
  }

  #settled(at: number, step: TapStep, value: unknown): void {
    if (this.#at !== at) return
    this.#leave()
    try {
      step.settled(this.#run, this.#view!, value, this.#started)
      this.#advance(at + 1)
    } catch (error) {
      this.#reject(error)
    }
  }

  #failed(at: number, step: TapStep, thrown: unknown): void {
    if (this.#at !== at) return
    this.#leave()
    try {
      step.failed(this.#run, this.#view!, thrownBy(step, this.#run, thrown), this.#started)
      this.#advance(at + 1)
    } catch (error) {
      this.#reject(error)
    }
  }

  #leave(): void {
    this.#wheel.remove(this)
    this.#run.waiting = null
    this.#at = -1
  }
}
