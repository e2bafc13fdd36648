/** The way of a call, read from top to bottom: resolve, approve, attachMetadata, dispatch, settled. */
import { asTaplineError, TaplineError } from '../errors.ts'
import type { CallView } from '../hooks/call-view.ts'
import { observe } from '../hooks/observers.ts'
import type { CallOutcome, PipelineHook } from '../hooks/outcome.ts'
import type { Settled } from '../hooks/plugin.ts'
import type { SessionHooks } from '../hooks/session-hooks.ts'
import { TapView } from '../hooks/tap-view.ts'
import type { Explanation } from '../hooks/trace.ts'
import { TraceRecorder } from '../hooks/trace-recorder.ts'
import type { Json, JsonObject } from '../json.ts'
import { deepFreeze } from '../json.ts'
import type { Method } from '../mcp.ts'
import { paramsOf } from './dispatch.ts'
import type { PipelineHost } from './host.ts'
import { completed, failed } from './outcome-of.ts'
import { PipelineRun } from './pipeline-run.ts'
import type { CallOptions, PipelineRequest } from './request.ts'

/** Times of the phases, where a trace is kept. */
class PhaseClock {
  readonly #trace: TraceRecorder
  #began = performance.now()

  constructor(trace: TraceRecorder) {
    this.#trace = trace
  }

  end(phase: PipelineHook): void {
    const now = performance.now()
    this.#trace.time(phase, now - this.#began)
    this.#began = now
  }
}

type Ending = (outcome: CallOutcome<Method>) => void

/** The pipeline of one session. */
export class Pipeline {
  readonly #host: PipelineHost
  readonly #hooks: SessionHooks
  readonly #running = new Map<PipelineRun, (error: TaplineError) => void>()
  #count = 0

  constructor(host: PipelineHost, hooks: SessionHooks) {
    this.#host = host
    this.#hooks = hooks
  }

  /** Runs a request to its one end. Never rejects; what is synchronous up to the write is written before this returns. */
  call(request: PipelineRequest, options: CallOptions = {}): Promise<CallOutcome<Method>> {
    return new Promise((end) => this.#start(request, options, end))
  }

  /** Runs everything up to dispatch: nothing is asked, nothing is sent. Never rejects. */
  async explain(request: PipelineRequest, options: CallOptions = {}): Promise<Explanation> {
    let run: PipelineRun | null = null
    const outcome = await new Promise<CallOutcome<Method> | null>((end) => {
      run = this.#start(request, { ...options, trace: true }, end, () => end(null))
    })
    const { call, trace, located, wouldAsk } = run! as PipelineRun
    let stopped = wouldAsk ? null : outcome
    let wouldSend: Explanation['wouldSend'] = null
    if (call !== null && stopped === null) {
      try {
        wouldSend = { method: call.method, params: paramsOf(run!) }
      } catch (error) {
        stopped = failed(run!, asTaplineError(error, 'INTERNAL'), 0)
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
    for (const cancel of this.#running.values()) cancel(error)
  }

  #start(request: PipelineRequest, options: CallOptions, end: Ending, explained: (() => void) | null = null): PipelineRun {
    const began = performance.now()
    const host = this.#host
    const id = `${host.sessionId}.${++this.#count}`
    const isTraced = options.trace === true || host.traceAll || this.#hooks.observers.length > 0
    let run: PipelineRun
    let broken: TaplineError | null = null
    try {
      run = new PipelineRun(id, host, request, options, isTraced, explained !== null)
    } catch (error) {
      // arguments that are no object: the request has an end like any other
      broken = asTaplineError(error, 'CALL_INVALID_REQUEST')
      run = new PipelineRun(id, host, { ...request, arguments: {} }, options, isTraced, explained !== null)
    }
    let isOver = false
    const finish = (outcome: CallOutcome<Method>): void => {
      isOver = true
      this.#running.delete(run)
      run.limit.stop()
      options.signal?.removeEventListener('abort', abort)
      run.end()
      end(outcome)
      if (explained === null) this.#settle(run, outcome)
    }
    const fail = (error: TaplineError): void => {
      if (!isOver) finish(failed(run, error, performance.now() - began))
    }
    const abort = (): void => fail(new TaplineError('CALL_CANCELLED', 'the call was cancelled by its caller', { cause: options.signal?.reason as unknown }))
    this.#running.set(run, fail)
    run.onLimit = () => fail(new TaplineError('CALL_TIMED_OUT', `the call did not end within ${run.limit.limitMs} ms (it was in ${run.phase})`, { data: { limitMs: run.limit.limitMs } }))
    if (broken !== null) fail(broken)
    else if (options.signal?.aborted) abort()
    else {
      options.signal?.addEventListener('abort', abort, { once: true })
      this.#drive(run).then(
        (result) => {
          if (isOver) return
          if (result === null) {
            isOver = true
            this.#running.delete(run)
            run.limit.stop()
            run.end()
            explained!()
          } else finish(completed(run, result, performance.now() - began))
        },
        (error: unknown) => fail(asTaplineError(error, 'INTERNAL', `something in tapline failed: ${error instanceof Error ? error.message : String(error)}`)),
      )
    }
    return run
  }

  /** null where an explanation stops. Synchronous as long as its parts are. */
  async #drive(run: PipelineRun): Promise<JsonObject | null> {
    run.startLimit()
    const clock = run.trace === null ? null : new PhaseClock(run.trace)
    let pending = this.#hooks.resolve(run)
    if (pending !== undefined) await pending
    clock?.end('resolve')
    pending = this.#enter(run, 'approve')(run)
    if (pending !== undefined) await pending
    clock?.end('approve')
    pending = this.#enter(run, 'attachMetadata')(run)
    if (pending !== undefined) await pending
    clock?.end('attachMetadata')
    if (run.isExplanation) return null
    const result = await this.#enter(run, 'dispatch')(run)
    clock?.end('dispatch')
    // a violation that an outer tap swallowed
    if (run.violation !== null) throw run.violation
    return result
  }

  #enter<H extends PipelineHook>(run: PipelineRun, hook: H): SessionHooks[H] {
    run.assertRunning()
    run.phase = hook
    return this.#hooks[hook]
  }

  #settle(run: PipelineRun, outcome: CallOutcome<Method>): void {
    this.#host.settled({ callId: run.callId, owner: outcome.owner, outcome })
    const { observers } = this.#hooks
    if (observers.length === 0) return
    if (outcome.outcome === 'completed') deepFreeze(outcome.result as unknown as Json)
    const trace = (run.trace ?? new TraceRecorder(this.#host.flags)).read()
    observe(
      observers,
      run.call,
      (observer): Settled =>
        Object.freeze({
          request: Object.freeze({ method: run.method }),
          call: run.call === null ? null : (new TapView(run, observer) as unknown as CallView),
          owner: outcome.owner,
          outcome,
          trace,
        }),
      (observer, error) =>
        this.#host.report({
          code: 'observer_failed',
          severity: 'warning',
          message: `observer "${observer.name}" of plugin "${observer.plugin}" failed: ${error instanceof Error ? error.message : String(error)}`,
        }),
    )
  }
}
