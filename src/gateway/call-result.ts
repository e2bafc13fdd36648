/** The end of a call as a client gets it. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

const MARK = 'tapline/outcome'

/** The server's result as it came, but for our own mark; every other end as a tool error that says what the model should know. */
export function callResult(outcome: CallOutcome): JsonObject {
  if (outcome.outcome === 'completed') return unmarked(outcome.result as unknown as JsonObject)
  const { outcome: end, code, sent, forModel } = outcome
  return { content: forModel.content, isError: true, _meta: { [MARK]: { outcome: end, code, sent } } } as unknown as JsonObject
}

/** A server could say that its tool did not run. */
function unmarked(result: JsonObject): JsonObject {
  const { _meta: meta } = result
  if (!isJsonObject(meta) || !Object.hasOwn(meta, MARK)) return result
  const { [MARK]: _forged, ...rest } = meta
  return { ...result, _meta: rest }
}
