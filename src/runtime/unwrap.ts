/** From an outcome to a result or an error, for those who want exceptions. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Method, ResultOf } from '../mcp.ts'
import { TaplineError } from '../errors.ts'

/** The result of a completed call; for every other end throws TaplineError with the outcome as its cause. A tool's own `isError` is a result. */
export function unwrap<M extends Method>(outcome: CallOutcome<M>): ResultOf<M> {
  if (outcome.outcome === 'completed') return outcome.result
  throw new TaplineError(outcome.code, outcome.message, {
    remedy: outcome.remedy,
    cause: outcome,
    callId: outcome.callId,
    ...(outcome.outcome === 'invalid_request' && { data: { keys: outcome.candidates } }),
    ...(outcome.outcome === 'server_failed' &&
      outcome.rpcError && { data: { rpcCode: outcome.rpcError.code, rpcData: outcome.rpcError.data } }),
  })
}
