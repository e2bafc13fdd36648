/** Runs the taps of plugins in shadow beside the calls of one session: on the same inputs, with nothing of it in effect. */
import type { TaplineError } from '../errors.ts'
import { isTaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { CallRun } from './call-run.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'
import { runLayer } from './onion.ts'
import { replayOf } from './replay.ts'
import { runAlone } from './series.ts'
import { ShadowCall } from './shadow-call.ts'
import { noteSkipped, ShadowRun } from './shadow-run.ts'
import type { TapStep } from './tap-step.ts'

/** Taps of a session that may run or wait in shadow at a time: a plugin that hangs must not fill the memory. */
const MOST_RUNNING = 1000
const TOO_MANY = `not run: ${MOST_RUNNING} taps of the session were running in shadow`
const CLOSED = 'not run to its end: the session was closed'

const { then } = Promise.prototype

/** The shadow side of a session's hooks. Nothing here throws. */
export class Shadows {
  readonly #wheel: DeadlineWheel
  readonly #running = new Set<ShadowRun>()
  #count = 0
  #closed: TaplineError | null = null
  #onQuiet: (() => void) | null = null

  constructor(wheel: DeadlineWheel) {
    this.#wheel = wheel
  }

  /** Runs a tap of resolve, approve or attachMetadata beside its call; a plugin that is off does not run. */
  readonly beside = (run: CallRun, step: TapStep): void => {
    if (step.cell.mode !== 'shadow' || !step.applies(run)) return
    const shadow = this.#enter(run, step)
    if (shadow !== null) this.#add(run, shadow, () => runAlone(step, shadow, this.#wheel))
  }

  /** Gives what is inside of a tap of dispatch, and runs the tap on that once the call has ended. */
  readonly around = (run: CallRun, step: TapStep, inner: () => Promise<JsonObject>): Promise<JsonObject> => {
    if (step.cell.mode !== 'shadow' || !step.applies(run)) return inner()
    // now, because the host may change its object while the server works
    const shadow = this.#enter(run, step)
    if (shadow === null) return inner()
    let end: { readonly result: JsonObject } | { readonly error: unknown } | null = null
    callOf(run).atEnd(() => {
      if (end === null) {
        // the call ended before anything came back: no tap could have judged it
        this.#over(shadow)
        return
      }
      // in the turn in which the caller gets it: afterwards the host may change it
      const next = replayOf(end, callOf(run).copies)
      this.#add(run, shadow, () => then.call(runLayer(step, shadow, this.#wheel, next), ignore) as Promise<void>)
    })
    let result: Promise<JsonObject>
    try {
      result = inner()
    } catch (error) {
      end = { error }
      throw error
    }
    void then.call(
      result,
      (value: JsonObject) => {
        end = { result: value }
      },
      (error: unknown) => {
        end = { error }
      },
    )
    return result
  }

  /** Ends what still runs, after so many ms at most; the taps are told by their signals. */
  async close(reason: TaplineError, waitMs: number): Promise<void> {
    if (this.#count > 0 && waitMs > 0) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve
        timer = setTimeout(resolve, waitMs)
      })
      clearTimeout(timer)
    }
    this.#closed = reason
    for (const shadow of this.#running) {
      noteSkipped(shadow.trace, shadow.step, CLOSED)
      shadow.end(reason)
    }
  }

  #enter(run: CallRun, step: TapStep): ShadowRun | null {
    if (this.#closed !== null || this.#count >= MOST_RUNNING) {
      noteSkipped(run.trace, step, this.#closed === null ? TOO_MANY : CLOSED)
      return null
    }
    try {
      const shadow = new ShadowRun(run, step)
      callOf(run).keep(shadow)
      this.#count++
      return shadow
    } catch (error) {
      noteSkipped(run.trace, step, isTaplineError(error) ? error.message : 'the call cannot be shown to it')
      return null
    }
  }

  #add(run: CallRun, shadow: ShadowRun, start: () => Promise<void> | undefined): void {
    callOf(run).add(shadow.step.cell, () => {
      // lowered, or closed, while it waited for an earlier tap of its plugin
      if (this.#closed !== null) noteSkipped(run.trace, shadow.step, CLOSED)
      else if (shadow.step.cell.mode === 'shadow') {
        try {
          const pending = start()
          if (pending !== undefined) {
            this.#running.add(shadow)
            const over = (): void => this.#over(shadow)
            return then.call(pending, over, over) as Promise<void>
          }
        } catch {
          // its failure is in the trace
        }
      }
      this.#over(shadow)
      return undefined
    })
  }

  #over(shadow: ShadowRun): void {
    this.#running.delete(shadow)
    if (--this.#count === 0) this.#onQuiet?.()
  }
}

const callOf = (run: CallRun): ShadowCall => (run.shadow ??= new ShadowCall())
const ignore = (): void => {}
