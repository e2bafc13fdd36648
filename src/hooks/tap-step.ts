/** One tap of a plugin, ready to run: whom it belongs to, what it wants to see, and how it fails. */
import { types } from 'node:util'
import type { TaplineError } from '../errors.ts'
import { messageOf } from '../errors.ts'
import type { PipelineHook } from './outcome.ts'
import type { CallRun } from './call-run.ts'
import type { ModeCell } from './mode-cell.ts'
import { HookError } from './hook-error.ts'
import { LiveTapContext } from './tap-context.ts'
import type { CallFilter } from './tap-filter.ts'
import { TapProblem } from './tap-problem.ts'
import type { TapSpec } from './tap-spec.ts'
import { thrownText } from './thrown-text.ts'
import type { TapTrace } from './trace.ts'
import { changedOwner, TapView } from './tap-view.ts'

/** Reads what a tap of one hook returned and puts it into effect. Throws TaplineError where it is not allowed. */
export type Accept = (run: CallRun, step: TapStep, value: unknown) => TapTrace['decision']

/** A registered tap of a plugin. */
export class TapStep {
  readonly hook: PipelineHook
  readonly name: string
  readonly plugin: string
  readonly isSync: boolean
  readonly timeoutMs: number
  readonly fn: TapSpec['fn']
  /** the plugin itself: two plugins of one name are two */
  readonly instance: object
  /** whether it takes effect in this session */
  readonly cell: ModeCell
  readonly #onFailure: TapSpec['onFailure']
  readonly #filter: CallFilter
  readonly #accept: Accept

  constructor(spec: TapSpec, filter: CallFilter, accept: Accept, { plugin, cell }: { readonly plugin: object; readonly cell: ModeCell }) {
    this.hook = spec.hook as PipelineHook
    this.name = spec.name
    this.plugin = spec.plugin
    this.isSync = spec.kind === 'sync'
    this.timeoutMs = spec.timeoutMs
    this.fn = spec.fn
    this.instance = plugin
    this.cell = cell
    this.#onFailure = spec.onFailure
    this.#filter = filter
    this.#accept = accept
    Object.freeze(this)
  }

  applies(run: CallRun): boolean {
    return this.#filter === null || this.#filter(run.sealed)
  }

  /** Runs a synchronous tap to its end. */
  runSync(run: CallRun): void {
    const view = new TapView(run, this)
    const started = run.trace === null ? 0 : performance.now()
    let value: unknown
    try {
      // what was checked and voted on must be what is sent, and from the last hook on nobody looks again
      if (this.hook === 'attachMetadata') run.arguments.own()
      // without `this`: a tap must not get hold of its step
      const { fn } = this
      value = fn(view, new LiveTapContext(run, this, view))
    } catch (error) {
      this.failed(run, view, this.#thrown(run, error), started)
      return
    }
    this.settled(run, view, value, started)
  }

  /** Puts the value of a tap into effect; an attempt on the owner comes before everything that it returned, one in a getter or toJSON of it too. */
  settled(run: CallRun, view: TapView, value: unknown, started: number): void {
    let decision: TapTrace['decision']
    try {
      decision = this.#accept(run, this, value)
    } catch (error) {
      this.failed(run, view, ownError(this, run, error), started)
      return
    }
    this.#settle(run, view, started)
    this.trace(run, decision, started, decision === 'ask' ? run.votes?.at(-1)?.text : undefined)
  }

  /** Lets the call end with the error of this tap, or go on where the tap's failure may be ignored. Ownership is never ignored. */
  failed(run: CallRun, view: TapView, error: TaplineError, started: number): void {
    this.#settle(run, view, started)
    if (error.code === 'HOOK_CHANGED_OWNER') throw this.#violation(run, error, started)
    // a verdict that ends the call is no failure
    if (error.code === 'CALL_REFUSED') {
      this.trace(run, 'deny', started, error.data?.['reason'] as string)
      throw error
    }
    this.trace(run, error.code === 'HOOK_TIMED_OUT' ? 'timed_out' : 'failed', started, error.message, this.#onFailure === 'block')
    if (this.#onFailure === 'block') throw error
    run.context.log(error.message)
  }

  /** True where a failure of this tap stops the call. */
  get blocks(): boolean {
    return this.#onFailure === 'block'
  }

  trace(
    run: CallRun,
    decision: TapTrace['decision'],
    started: number,
    reason?: string,
    inEffect = true,
    more?: Pick<TapTrace, 'nextCalls' | 'changedResult'>,
  ): void {
    run.trace?.tap({
      hook: this.hook,
      tap: this.name,
      plugin: this.plugin,
      mode: 'enforce',
      decision,
      inEffect,
      changedArguments: decision === 'rewrite',
      durationMs: performance.now() - started,
      ...(reason !== undefined && { reason }),
      ...more,
    })
  }

  error(run: CallRun, code: 'HOOK_BAD_RETURN' | 'HOOK_FAILED' | 'HOOK_TIMED_OUT', problem: string, cause?: unknown): HookError {
    return new HookError(code, `tap "${this.name}" of plugin "${this.plugin}" ${problem} in ${this.hook}`, this, run.id, {
      remedy: remedyFor(this.hook, code, cause),
      ...(cause !== undefined && { cause }),
    })
  }

  /** The error for something that the tap threw. Our own errors about returns and ownership keep their code. */
  #thrown(run: CallRun, thrown: unknown): TaplineError {
    return thrownBy(this, run, thrown)
  }

  /** Ends the time in which an assignment counts; throws HOOK_CHANGED_OWNER where there was one. */
  #settle(run: CallRun, view: TapView, started: number): void {
    const attempt = TapView.settle(view)
    if (attempt !== null) throw this.#violation(run, changedOwner(run.id, this, attempt, 'assigned'), started)
  }

  #violation(run: CallRun, error: TaplineError, started: number): TaplineError {
    this.trace(run, 'changed_owner', started, error.message)
    run.violation ??= error
    return error
  }
}

// methods that a tap put in their place would judge every tap
Object.freeze(TapStep.prototype)

/** The error for something that a tap threw or rejected with. Only our own errors about exactly this tap and call keep their code. */
export function thrownBy(step: TapStep, run: CallRun, thrown: unknown): TaplineError {
  if (HookError.isOf(thrown, step, run.id)) return thrown
  return (
    TapProblem.read(thrown, step, run) ??
    step.error(run, 'HOOK_FAILED', `threw ${thrownText(thrown, (text) => run.context.secrets.redact(text))}`, thrown)
  )
}

/** The error itself where our own reading of a return made it; a getter or a Proxy may throw anything. */
export function ownError(step: TapStep, run: CallRun, error: unknown): TaplineError {
  return HookError.isOf(error, step, run.id) ? error : step.error(run, 'HOOK_BAD_RETURN', 'returned a value that cannot be read', error)
}

const { isNativeError } = types

const RETURNS: Readonly<Record<PipelineHook, string>> = {
  resolve: 'Return nothing, { arguments }, or deny(reason) of tapline/plugin.',
  approve: 'Return nothing, allow(), deny(reason) or ask(question) of tapline/plugin.',
  attachMetadata: 'Return nothing, or an object whose keys have a prefix, such as { "example.com/ticket": "T-1" }.',
  dispatch: 'Return what next() gave, a changed copy of it, or a result of your own.',
}

/** What an author has to do, as far as it can be told. */
function remedyFor(hook: PipelineHook, code: 'HOOK_BAD_RETURN' | 'HOOK_FAILED' | 'HOOK_TIMED_OUT', cause: unknown): string {
  if (code === 'HOOK_BAD_RETURN') return RETURNS[hook]
  if (code === 'HOOK_TIMED_OUT') return 'Make the tap faster, or raise its timeoutMs.'
  if (isNativeError(cause) && /not extensible|read only property|Cannot (?:assign|delete|define)/.test(messageOf(cause))) {
    if (hook === 'dispatch') return 'What next() gives is frozen: change a copy, and return that.'
    return 'A call and its arguments are frozen: change a copy, and return it from resolve as { arguments }.'
  }
  return hook === 'approve'
    ? 'Correct the tap; to refuse a call it returns deny(reason).'
    : 'Correct the tap; TAPLINE_DEBUG=1 shows its stack on the command line.'
}
