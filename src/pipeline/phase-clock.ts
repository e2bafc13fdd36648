/** Times of the phases of a call, where a trace is kept. */
import type { PipelineHook } from '../hooks/outcome.ts'
import type { TraceRecorder } from '../hooks/trace-recorder.ts'

/** Starts with the first phase; each end is the start of the next one. */
export class PhaseClock {
  readonly #trace: TraceRecorder
  #began: number = performance.now()

  constructor(trace: TraceRecorder) {
    this.#trace = trace
  }

  end(phase: PipelineHook): void {
    const now = performance.now()
    this.#trace.time(phase, now - this.#began)
    this.#began = now
  }
}
