/** Waits for somebody outside the pipeline; the clock of the call stands still meanwhile. */
import { TaplineError } from '../errors.ts'
import type { PipelineRun } from './pipeline-run.ts'

/** Rejects when the call or the limit ends first, and with what the one who was asked throws. */
export async function answerWithin<T>(run: PipelineRun, limitMs: number, put: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), limitMs)
  run.limit.pause()
  try {
    const signal = AbortSignal.any([run.signal, limit.signal])
    return await new Promise<T>((resolve, reject) => {
      const end = (): void => reject(new WithdrawnError())
      if (signal.aborted) return end()
      signal.addEventListener('abort', end, { once: true })
      // one who throws at once is one who rejects
      new Promise<T>((answer) => answer(put(signal))).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    run.limit.resume()
  }
}

/** Nobody waits for the answer any more. */
export class WithdrawnError extends TaplineError {
  constructor() {
    super('CALL_CANCELLED', 'the question was withdrawn')
  }
}
