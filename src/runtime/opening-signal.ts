/** The signal of a session while the session is being opened. */
import { untilAborted } from '../connections/on-abort.ts'
import { TaplineError } from '../errors.ts'

/** Throws CALL_CANCELLED once the signal has aborted. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled(signal)
}

/** The work, or a rejection with CALL_CANCELLED as soon as the signal aborts; the work itself goes on. */
export function whileOpening<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return untilAborted(work, signal, () => cancelled(signal))
}

const cancelled = (signal: AbortSignal | undefined): TaplineError =>
  new TaplineError('CALL_CANCELLED', 'opening the session was cancelled by its signal', { cause: signal?.reason })
