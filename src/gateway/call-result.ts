/** The end of a call as a client gets it. */
import type { CallOutcome } from '../hooks/outcome.ts'

/** The server's result as it came; every other end as a tool error that says what the model should know. */
export function callResult(outcome: CallOutcome): object {
  if (outcome.outcome === 'completed') return outcome.result
  const { outcome: end, code, sent, forModel } = outcome
  return { content: forModel.content, isError: true, _meta: { 'tapline/outcome': { outcome: end, code, sent } } }
}
