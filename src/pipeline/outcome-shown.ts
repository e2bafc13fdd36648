/** The outcome of a call as observers see it: they must not change what the host has. */
import type { CallOutcome } from '../hooks/outcome.ts'
import { apart } from '../hooks/replay.ts'
import type { Json } from '../json.ts'
import { deepFreeze } from '../json.ts'
import type { Method } from '../mcp.ts'

/** The outcome itself, frozen all the way down. */
export function freezeOutcome(outcome: CallOutcome<Method>): CallOutcome<Method> {
  if (outcome.outcome === 'completed') deepFreeze(outcome.result as unknown as Json)
  else if (outcome.outcome === 'server_failed') {
    const { rawResult, rpcError } = outcome
    for (const value of [rawResult, rpcError]) if (value !== undefined) deepFreeze(value)
  } else if (outcome.outcome === 'invalid_request') Object.freeze(outcome.candidates)
  return outcome
}

/** A frozen outcome that says the same, for observers that must not even freeze what the host has. */
export function outcomeApart(outcome: CallOutcome<Method>): CallOutcome<Method> {
  const copy: Record<string, unknown> = { ...outcome }
  if (outcome.outcome === 'completed') copy['result'] = apart(outcome.result as unknown as Json)
  else if (outcome.outcome === 'server_failed') {
    const { rawResult, rpcError } = outcome
    for (const [key, value] of Object.entries({ rawResult, rpcError })) if (value !== undefined) copy[key] = apart(value)
  } else if (outcome.outcome === 'invalid_request') copy['candidates'] = Object.freeze([...outcome.candidates])
  // built on first read, as that of the outcome is
  Object.defineProperty(copy, 'forModel', { get: () => apart({ ...outcome.forModel } as unknown as Json) })
  return Object.freeze(copy) as unknown as CallOutcome<Method>
}
