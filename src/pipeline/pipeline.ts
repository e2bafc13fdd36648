/** The way of a call, read from top to bottom: resolve, approve, attachMetadata, dispatch, settled. */
import type { Connection } from '../connections/connection.ts'
import { onAbort } from '../connections/on-abort.ts'
import { asTaplineError, messageOf, TaplineError } from '../errors.ts'
import type { CallView } from '../hooks/call-view.ts'
import { observe, type Observer } from '../hooks/observers.ts'
import type { CallOutcome, PipelineHook } from '../hooks/outcome.ts'
import type { Settled } from '../hooks/plugin.ts'
import type { Series } from '../hooks/series.ts'
import type { SessionHooks } from '../hooks/session-hooks.ts'
import { TapView } from '../hooks/tap-view.ts'
import type { Explanation } from '../hooks/trace.ts'
import { TraceRecorder } from '../hooks/trace-recorder.ts'
import type { JsonObject } from '../json.ts'
import type { Method } from '../mcp.ts'
import { CallIds } from './call-ids.ts'
import { paramsOf } from './dispatch.ts'
import type { PipelineHost } from './host.ts'
import { cutResult } from './cut-result.ts'
import { completed, failed } from './outcome-of.ts'
import { freezeOutcome, outcomeApart } from './outcome-shown.ts'
import { writeOverflow } from './overflow-file.ts'
import { PipelineRun } from './pipeline-run.ts'
import type { CallOptions, PipelineRequest } from './request.ts'
import { sizeOver } from './result-size.ts'

/** What a call goes through before it is sent. */
const JUDGING = ['resolve', 'approve', 'attachMetadata'] as const

// taken early: a module that patches it later must not keep a call from its end
const { then } = Promise.prototype

type Ending = (outcome: CallOutcome<Method> | null) => void

/** The pipeline of one session. */
export class Pipeline {
  readonly #host: PipelineHost
  readonly #hooks: SessionHooks
  /** in no order; a run knows its place, because a set that fills and empties all the time costs an eighth of a call */
  readonly #running: PipelineRun[] = []
  /** the hooks of JUDGING, in that order */
  readonly #judging: readonly Series[]
  readonly #ids: CallIds

  constructor(host: PipelineHost, hooks: SessionHooks) {
    this.#host = host
    this.#hooks = hooks
    this.#ids = new CallIds(host.sessionId)
    this.#judging = JUDGING.map((hook) => hooks[hook])
  }

  /** Runs a request to its one end. Never rejects; what is synchronous up to the write is written before this returns. */
  call(request: PipelineRequest, options: CallOptions = {}): Promise<CallOutcome<Method>> {
    return new Promise((end) => this.#start(request, options, end as Ending, false))
  }

  /** Runs everything up to dispatch: nothing is asked, nothing is sent. Never rejects. */
  async explain(request: PipelineRequest, options: CallOptions = {}): Promise<Explanation> {
    let run: PipelineRun | null = null
    const outcome = await new Promise<CallOutcome<Method> | null>((end) => {
      run = this.#start(request, { ...options, trace: true }, end, true)
    })
    const { call, trace, located, wouldAsk, shadow } = run!
    if (shadow !== null) await new Promise<void>((over) => shadow.whenOver(over))
    let stopped = wouldAsk ? null : outcome
    let wouldSend: Explanation['wouldSend'] = null
    if (call !== null && stopped === null) {
      try {
        wouldSend = { method: call.method, params: paramsOf(run!) }
      } catch (error) {
        stopped = failed(run!, asTaplineError(error, 'INTERNAL'))
      }
    }
    return {
      owner: located?.owner ?? null,
      tool: located?.tool ?? null,
      wouldEnd: stopped !== null ? stopped.outcome : wouldAsk ? 'asked' : 'sent',
      outcome: stopped,
      trace: trace!.read(),
      wouldSend,
    }
  }

  /** Ends every running call as cancelled. */
  cancelAll(error: TaplineError): void {
    // a copy: each that ends leaves the list, and another takes its place
    for (const run of this.#running.slice()) this.#fail(run, error)
  }

  /** The running calls that have reached this connection. */
  callsOn(connection: Connection): readonly PipelineRun[] {
    return this.#running.filter((run) => run.sent !== 'no' && run.call?.connection === connection)
  }

  /** `end` gets the outcome; null where an explanation got as far as dispatch. */
  #start(request: PipelineRequest, options: CallOptions, end: Ending, isExplanation: boolean): PipelineRun {
    const host = this.#host
    const id = this.#ids.next()
    const isTraced = options.trace === true || host.traceAll || host.recorder !== null || this.#hooks.observers.length > 0
    let run: PipelineRun
    let broken: TaplineError | null = null
    try {
      run = new PipelineRun(id, host, request, options, isTraced, isExplanation)
    } catch (error) {
      // arguments that are no object: the request has an end like any other
      broken = asTaplineError(error, 'CALL_INVALID_REQUEST')
      run = new PipelineRun(id, host, { ...request, arguments: {} }, options, isTraced, isExplanation)
    }
    run.onEnd = end
    run.onLimit = this.#timedOut
    run.place = this.#running.push(run) - 1
    run.startLimit()
    const { signal } = options
    if (broken !== null) this.#fail(run, broken)
    else if (signal === undefined) this.#drive(run, 0)
    else {
      const abort = (): void =>
        this.#fail(run, new TaplineError('CALL_CANCELLED', 'the call was cancelled by its caller', { cause: signal.reason as unknown }))
      if (signal.aborted) abort()
      else {
        run.forgetCaller = onAbort(signal, abort)
        this.#drive(run, 0)
      }
    }
    return run
  }

  /** From this phase on; synchronous as long as the phases are. */
  #drive(run: PipelineRun, from: number): void {
    try {
      for (let at = from; at < JUDGING.length; at++) {
        const hook = JUDGING[at]!
        this.#enter(run, hook)
        const pending = this.#judging[at]!.run(run)
        if (pending !== undefined) {
          void then.call(
            pending,
            () => {
              run.clock?.end(hook)
              this.#drive(run, at + 1)
            },
            (error: unknown) => this.#failed(run, error),
          )
          return
        }
        run.clock?.end(hook)
      }
      if (run.isExplanation) {
        if (run.ended === null) this.#finish(run, null)
        return
      }
      this.#enter(run, 'dispatch')
      void then.call(
        this.#hooks.dispatch.run(run),
        (result: JsonObject) => this.#completed(run, result),
        (error: unknown) => this.#failed(run, error),
      )
    } catch (error) {
      this.#failed(run, error)
    }
  }

  #enter(run: PipelineRun, hook: PipelineHook): void {
    run.assertRunning()
    run.phase = hook
  }

  #completed(run: PipelineRun, result: JsonObject): void {
    if (run.ended !== null) return
    run.clock?.end('dispatch')
    // a violation that an outer tap swallowed
    if (run.violation !== null) this.#fail(run, run.violation)
    else {
      const bytes = run.method === 'tools/call' ? sizeOver(result, run.sealed.entry.registration.policy.maxResultBytes) : null
      if (bytes === null) this.#finish(run, completed(run, result))
      else this.#overflowed(run, result, bytes)
    }
  }

  /** The host gets a part; the whole of it goes to a file where the host asked for that. After the hooks, so that the file has what they let through. */
  #overflowed(run: PipelineRun, result: JsonObject, bytes: number): void {
    const end = (file: string | null): void => {
      if (run.ended !== null) return
      const overflow = Object.freeze({ bytes, limitBytes: run.sealed.entry.registration.policy.maxResultBytes, file })
      this.#finish(run, completed(run, cutResult(result, overflow), overflow))
    }
    const { overflowFile } = run.options
    if (overflowFile === undefined) return end(null)
    // the tool has answered: no limit of the call ends it any more
    run.stopLimit()
    void then.call(
      writeOverflow(overflowFile, result, (diagnostic) => this.#host.report(diagnostic)),
      end,
    )
  }

  #failed(run: PipelineRun, error: unknown): void {
    this.#fail(run, asTaplineError(error, 'INTERNAL', `something in tapline failed: ${messageOf(error)}`))
  }

  #fail(run: PipelineRun, error: TaplineError): void {
    // an attempt on the owner is told, however the call ends after it
    if (run.ended === null) this.#finish(run, failed(run, run.violation ?? error))
  }

  readonly #timedOut = (run: PipelineRun): void => {
    const { limitMs } = run.limit
    this.#fail(
      run,
      new TaplineError('CALL_TIMED_OUT', `the call did not end within ${limitMs} ms (it was in ${run.phase})`, { data: { limitMs } }),
    )
  }

  #leave(run: PipelineRun): void {
    const last = this.#running.pop()!
    if (last === run) return
    this.#running[run.place] = last
    last.place = run.place
  }

  /** Once for each run. */
  #finish(run: PipelineRun, outcome: CallOutcome<Method> | null): void {
    this.#leave(run)
    run.stopLimit()
    run.forgetCaller?.()
    run.end()
    run.onEnd(outcome)
    // before the observers, so that those in shadow come after the taps of their plugin
    run.shadow?.ended()
    if (outcome !== null && !run.isExplanation) this.#settle(run, outcome)
  }

  #settle(run: PipelineRun, outcome: CallOutcome<Method>): void {
    // what is told when the taps in shadow are over is told of the arguments as they are now
    if (run.shadow !== null) owned(run)
    this.#host.settled(outcome)
    const { observers } = this.#hooks
    if (observers.length > 0) this.#observe(run, outcome, observers)
    const { trace, shadow } = run
    if (trace === null) return
    const traced = (): void => {
      this.#host.traced({ callId: run.callId, owner: outcome.owner, outcome, trace: trace.read() })
      this.#host.recorder?.settled(run, outcome)
    }
    if (shadow === null) traced()
    else shadow.whenOver(traced)
  }

  #observe(run: PipelineRun, outcome: CallOutcome<Method>, observers: readonly Observer[]): void {
    // what observers see is frozen; for one in shadow alone that would be too much of an effect
    const shown = observers.some(({ cell }) => cell.mode === 'enforce') ? freezeOutcome(outcome) : outcomeApart(outcome)
    const recorder = run.trace ?? new TraceRecorder(this.#host.flags)
    const now = recorder.read()
    observe(
      observers,
      run.call,
      (observer): Settled =>
        Object.freeze({
          request: Object.freeze({ method: run.method }),
          call: run.call === null ? null : (new TapView(run, observer) as unknown as CallView),
          owner: outcome.owner,
          outcome: shown,
          trace: observer.cell.mode === 'enforce' ? now : recorder.read(),
        }),
      (observer, error) =>
        this.#host.report({
          code: 'observer_failed',
          severity: 'warning',
          message: `observer "${observer.name}" of plugin "${observer.plugin}" failed: ${messageOf(error)}`,
        }),
      run.shadow,
    )
  }
}

function owned(run: PipelineRun): void {
  try {
    run.arguments.own()
  } catch {
    // no JSON: there is nothing to tell of
  }
}
