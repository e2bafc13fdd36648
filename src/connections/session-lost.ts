/** An HTTP session that its server no longer knows: what may be asked once more, in a new one. */
import { isTaplineError } from '../errors.ts'

/** True for the error of a request whose session was lost. */
export function isSessionLost(error: unknown): boolean {
  return isTaplineError(error) && error.data?.['sessionLost'] === true
}

/** Does the work, and does it once more where the session was lost meanwhile: for lists only, which do no harm. */
export async function onceMore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isSessionLost(error)) return work()
    throw error
  }
}
