/** Which failures of a request may be over the next time. */
import type { ErrorCode } from '../../errors.ts'
import { isTaplineError } from '../../errors.ts'

/** A server or its machine that cannot be reached now. Everything else (a refusal, a cancellation, a changed authority, a limit) is not to be tried again. */
const UNREACHABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_EXITED',
  'SERVER_START_FAILED',
  'SERVER_START_TIMED_OUT',
  'ENVIRONMENT_UNAVAILABLE',
])
/** A start comes before anything is written. */
const STARTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['SERVER_START_FAILED', 'SERVER_START_TIMED_OUT'])
/** Statuses by which HTTP says "later". */
const LATER: ReadonlySet<unknown> = new Set([408, 425, 429, 500, 502, 503, 504])

/** True where a server was to be started and did not come up. */
export const isFailedStart = (error: unknown): boolean => isTaplineError(error) && STARTS.has(error.code)

/** Null for what is no passing failure; else whether the request may have reached the server. */
export function passing(error: unknown): 'no' | 'maybe' | null {
  if (!isTaplineError(error)) return null
  const { code, data = {} } = error
  const isUnsent = data['sent'] === 'no' || STARTS.has(code)
  if (UNREACHABLE.has(code)) return isUnsent ? 'no' : 'maybe'
  if (code !== 'SERVER_FAILED') return null
  // a JSON-RPC error is an answer: the server has judged the request
  return LATER.has(data['httpStatus']) ? 'maybe' : null
}
