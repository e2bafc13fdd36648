/** Collects the trace of one call; there is none where nobody asked for it. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { ServerKey } from '../servers/key.ts'
import type { PipelineHook } from './outcome.ts'
import type { CallTrace, TapTrace } from './trace.ts'

type Approval = NonNullable<CallTrace['approval']>

/** Written by the core while the call runs; read once, when it is over. */
export class TraceRecorder {
  readonly #taps: TapTrace[] = []
  readonly #metaKeys: { readonly key: string; readonly by: string }[] = []
  readonly #timings: Partial<Record<PipelineHook | 'server', number>> = {}
  readonly #flags: CapturedFlags
  #candidates: readonly ServerKey[] = []
  #approval: Approval | null = null
  #connection: CallTrace['connection'] = null

  constructor(flags: CapturedFlags) {
    this.#flags = flags
  }

  candidates(keys: readonly ServerKey[]): void {
    this.#candidates = keys
  }
  tap(entry: TapTrace): void {
    this.#taps.push(entry)
  }
  approval(source: Approval['source'], waitedMs = 0): void {
    this.#approval = { source, waitedMs }
  }
  meta(key: string, by: string): void {
    this.#metaKeys.push({ key, by })
  }
  connection(id: string, reused: boolean): void {
    this.#connection = { id, reused }
  }
  /** Adds ms to a phase. */
  time(phase: PipelineHook | 'server', ms: number): void {
    this.#timings[phase] = (this.#timings[phase] ?? 0) + ms
  }

  read(): CallTrace {
    return {
      candidates: this.#candidates,
      taps: [...this.#taps],
      approval: this.#approval,
      metaKeys: [...this.#metaKeys],
      connection: this.#connection,
      flags: this.#flags.all(),
      timingsMs: { ...this.#timings },
    }
  }
}
