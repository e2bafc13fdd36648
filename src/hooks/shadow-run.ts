/** A call as one tap in shadow has it: a state of its own, so that nothing that the tap does can reach the call. */
import { CallRun } from './call-run.ts'
import type { JsonObject } from '../json.ts'
import type { CallArguments } from './call-arguments.ts'
import type { PolicyQuestion } from './call-view.ts'
import { differs } from './differs.ts'
import type { TapStep } from './tap-step.ts'
import type { ShadowEffect, TapTrace, TraceNote } from './trace.ts'
import { TraceRecorder } from './trace-recorder.ts'

/** Arguments, votes, `_meta`, violation and signal are copies as of now; the sealed call is the same. Throws CALL_INVALID_REQUEST for arguments that are not JSON. */
export class ShadowRun extends CallRun {
  readonly step: TapStep

  constructor(run: CallRun, step: TapStep) {
    const args = run.arguments.apart()
    super(run.id, run.method, args, run.context, run.trace === null ? null : new ShadowRecorder(run.trace, step, args, run.sealed.question))
    this.step = step
    if (this.trace !== null) (this.trace as ShadowRecorder).run = this
    this.seal(run.sealed)
    this.located = run.located
    this.sent = run.sent
    if (run.patch !== null) this.patch = new Map(run.patch)
  }

  override get mode(): 'shadow' {
    return 'shadow'
  }
}

/** Writes what the tap did into the trace of the call as something that is not in effect. */
class ShadowRecorder extends TraceRecorder {
  readonly #trace: TraceRecorder
  readonly #step: TapStep
  readonly #arguments: CallArguments
  readonly #before: JsonObject
  readonly #question: PolicyQuestion | null
  /** set once both are made */
  run: ShadowRun | null = null
  #hasKeys = false

  constructor(trace: TraceRecorder, step: TapStep, args: CallArguments, question: PolicyQuestion | null) {
    super(trace.flags)
    this.#trace = trace
    this.#step = step
    this.#arguments = args
    this.#before = args.value
    this.#question = question
  }

  override meta(): void {
    this.#hasKeys = true
  }

  override note(note: TraceNote): void {
    this.#trace.note(note)
  }

  override tap(entry: TapTrace): void {
    const changedArguments = entry.decision === 'rewrite' && differs(this.#before, this.#arguments.value)
    const shadow: TapTrace = { ...entry, mode: 'shadow', inEffect: false, changedArguments }
    this.#trace.tap(shadow)
    const effects = this.#effects(shadow)
    this.#trace.shadow(entry.plugin, (this.run?.additionalContext ?? null) === null ? effects : [...effects, 'context'])
  }

  #effects({ decision, changedArguments, changedResult, nextCalls = 0 }: TapTrace): readonly ShadowEffect[] {
    switch (decision) {
      case 'changed_owner':
        return ['violated']
      case 'failed':
      case 'timed_out':
        return this.#step.blocks ? ['failed'] : []
      case 'deny':
        return ['refused']
      case 'ask':
        return ['asked']
      case 'allow':
        return this.#question === null ? [] : ['allowed']
      case 'rewrite':
        return changedArguments ? ['rewritten'] : []
      case 'patch':
        return this.#hasKeys ? ['metadata'] : []
      case 'answered':
        return ['answered']
      case 'called_next':
        return [...(nextCalls > 1 ? (['repeated'] as const) : []), ...(changedResult === true ? (['changed_result'] as const) : [])]
      default:
        return []
    }
  }
}

/** Notes that a tap in shadow was not run to its end. */
export function noteSkipped(trace: TraceRecorder | null, step: TapStep, reason: string): void {
  trace?.tap({
    hook: step.hook,
    tap: step.name,
    plugin: step.plugin,
    mode: 'shadow',
    decision: 'skipped',
    inEffect: false,
    changedArguments: false,
    durationMs: 0,
    reason,
  })
  trace?.shadow(step.plugin, [])
}
