/** Makes the record of a call that has ended. */
import { createHash, type BinaryLike } from 'node:crypto'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { CallTrace } from '../hooks/trace.ts'
import type { TraceRecorder } from '../hooks/trace-recorder.ts'
import type { JsonObject } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { ServerKey } from '../servers/key.ts'
import { displayKey } from '../servers/key.ts'
import type { KeyJson } from '../servers/key.ts'
import { TRACE_VERSION } from './records.ts'
import type { ArgumentsRecord, CallRecord, KeptTrace } from './records.ts'

/** An ended call, as far as a record speaks of it. */
export interface EndedCall {
  readonly id: string
  readonly method: Method
  readonly outcome: CallOutcome<Method>
  readonly trace: TraceRecorder | null
  /** null where they cannot be written as JSON */
  readonly arguments: JsonObject | null
  /** ms since 1970 */
  readonly began: number
}

/** What is said of arguments. */
export interface ArgumentRules {
  /** of the digests of one session */
  readonly key: BinaryLike
  /** also the arguments themselves, up to 64 KiB of JSON */
  readonly whole: boolean
}

/** bytes; larger ones have a digest only */
const WHOLE_BYTES = 64 * 1024

/** The record, not yet redacted. */
export function callRecord(session: string, call: EndedCall, rules: ArgumentRules): CallRecord {
  const { outcome, arguments: args } = call
  return {
    v: TRACE_VERSION,
    type: 'call',
    time: new Date(call.began).toISOString(),
    session,
    id: call.id,
    callId: outcome.callId,
    method: call.method,
    owner: outcome.owner === null ? null : keyJson(outcome.owner),
    tool: outcome.tool,
    arguments: args === null ? null : argumentsRecord(args, rules),
    outcome: outcome.outcome,
    code: outcome.code,
    sent: outcome.sent,
    durationMs: rounded(outcome.durationMs),
    ...endOf(outcome),
    trace: call.trace === null ? NO_TRACE : keptTrace(call.trace.read()),
  }
}

const NO_TRACE: KeptTrace = { candidates: [], taps: [], shadow: [], approval: null, metaKeys: [], connection: null, timingsMs: {} }

/** What only this kind of end has; never what a server answered. */
function endOf(outcome: CallOutcome<Method>): Partial<CallRecord> {
  if (outcome.outcome === 'completed') return 'isError' in outcome.result ? { isError: outcome.result.isError === true } : {}
  const { message } = outcome
  switch (outcome.outcome) {
    case 'refused':
      return { message, by: outcome.by, reason: outcome.reason }
    case 'cancelled':
      return { message, by: outcome.by }
    case 'timed_out':
      return { message, phase: outcome.phase, limitMs: outcome.limitMs }
    case 'ownership_violation':
    case 'result_withheld':
      return { message, hook: outcome.hook, tap: outcome.tap, ...('plugin' in outcome && { plugin: outcome.plugin }) }
    case 'authority_changed':
      return { message, what: outcome.what }
    default:
      return { message }
  }
}

function argumentsRecord(args: JsonObject, { key, whole }: ArgumentRules): ArgumentsRecord {
  const text = JSON.stringify(args)
  const bytes = Buffer.byteLength(text)
  // as good as an HMAC, because no digest is written whole, and half the price
  const digest = createHash('sha256').update(key).update(text).digest('base64url').slice(0, 22)
  return { bytes, digest, ...(whole && bytes <= WHOLE_BYTES && { value: args }) }
}

function keptTrace({ flags: _flags, ...trace }: CallTrace): KeptTrace {
  return {
    ...trace,
    candidates: trace.candidates.map(keyJson),
    taps: trace.taps.map((tap) => ({ ...tap, durationMs: rounded(tap.durationMs) })),
    timingsMs: Object.fromEntries(Object.entries(trace.timingsMs).map(([name, ms]) => [name, rounded(ms)])),
  }
}

const keyJson = (key: ServerKey): KeyJson => ({
  name: key.name,
  environmentId: key.environmentId,
  installationId: key.installationId,
  display: displayKey(key),
})

/** To the microsecond: what is beyond it is noise. */
const rounded = (ms: number): number => Math.max(0, Math.round(ms * 1000) / 1000)
