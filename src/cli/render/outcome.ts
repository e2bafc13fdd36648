/** The end of a call in JSON (spec 95) and for people. */
import type { CallOutcome } from '../../hooks/outcome.ts'
import type { CallTrace } from '../../hooks/trace.ts'
import type { Paint } from '../output.ts'
import { resultText } from './content.ts'
import { visibleMessage } from './escape.ts'
import { ownerJson, ownerText } from './owner.ts'
import { traceJson } from './trace.ts'

/** The document of `tapline call`. `tool` is the raw name: that of the tool that was found, else the one `asked` for, else null. */
export function outcomeJson(
  outcome: CallOutcome,
  asked: string | null,
  trace: CallTrace | undefined = outcome.trace,
): Readonly<Record<string, unknown>> {
  const failed = outcome.outcome === 'completed' ? null : outcome
  return {
    outcome: outcome.outcome,
    code: outcome.code,
    sent: outcome.sent,
    owner: outcome.owner === null ? null : ownerJson(outcome.owner),
    tool: outcome.tool ?? asked,
    result: outcome.outcome === 'completed' ? outcome.result : null,
    message: failed === null ? null : failed.message,
    ...(failed === null ? {} : { remedy: failed.remedy }),
    ...detailsOf(outcome),
    ...(outcome.additionalContext !== undefined && { additionalContext: outcome.additionalContext }),
    callId: outcome.callId,
    durationMs: outcome.durationMs,
    ...(trace === undefined ? {} : { trace: traceJson(trace) }),
  }
}

/** What only this kind of end has. */
function detailsOf(outcome: CallOutcome): Readonly<Record<string, unknown>> {
  switch (outcome.outcome) {
    case 'invalid_request':
      return { candidates: outcome.candidates.map(ownerJson) }
    case 'refused':
      return { by: outcome.by, reason: outcome.reason }
    case 'cancelled':
      return { by: outcome.by }
    case 'timed_out':
      return { phase: outcome.phase, limitMs: outcome.limitMs }
    case 'ownership_violation':
      return { hook: outcome.hook, tap: outcome.tap, plugin: outcome.plugin, key: outcome.key }
    case 'authority_changed':
      return { what: outcome.what }
    case 'result_withheld':
      return { hook: outcome.hook, tap: outcome.tap, ...(outcome.reason !== undefined && { reason: outcome.reason }) }
    case 'server_failed':
      return outcome.rawResult === undefined ? {} : { rawResult: outcome.rawResult }
    case 'completed':
      return outcome.overflow === undefined ? {} : { overflow: outcome.overflow }
    case 'no_approver':
      return {}
  }
}

/** The outcomes in words. */
const WORDS: Readonly<Record<CallOutcome['outcome'], string>> = {
  completed: 'completed',
  refused: 'refused',
  no_approver: 'not approved',
  cancelled: 'cancelled',
  timed_out: 'timed out',
  ownership_violation: 'ownership violation',
  authority_changed: 'authority changed',
  server_failed: 'server failed',
  result_withheld: 'result withheld',
  invalid_request: 'invalid request',
}
/** The outcome in words; one that a later version has as it is. */
export const outcomeWords = (outcome: string): string => (WORDS as Readonly<Record<string, string>>)[outcome] ?? outcome
/** What reached the server, in words. */
export const sentWords = (sent: CallOutcome['sent']): string => SENT[sent]

const SENT = {
  no: 'nothing was sent',
  yes: 'the call was sent and may have run',
  unknown: 'the call may have been sent and may have run',
} as const

/** What the tool answered, for stdout; empty for every other end. */
export function outcomeText(outcome: CallOutcome): string {
  return outcome.outcome === 'completed' ? resultText(outcome.result) : ''
}

/** Everything else that people should know, for stderr; empty where all went well. */
export function outcomeNote(outcome: CallOutcome, paint: Paint): string {
  const owner = outcome.owner === null ? '' : `${ownerText(outcome.owner)}: `
  const context = (outcome.additionalContext ?? []).map((text) => `${paint.bold('for the model')}: ${visibleMessage(text)}`)
  if (outcome.outcome === 'completed')
    return [...(outcome.result.isError === true ? [`${owner}${paint.red('the tool answered with an error')}`] : []), ...context].join('\n')
  // most messages name the server themselves
  const prefix = outcome.owner !== null && outcome.message.includes(String(outcome.owner)) ? '' : owner
  const lines = [
    `${paint.red(WORDS[outcome.outcome])}: ${prefix}${visibleMessage(outcome.message)} ${paint.dim(`(${outcome.code}; ${SENT[outcome.sent]})`)}`,
  ]
  if (outcome.outcome === 'invalid_request') for (const candidate of outcome.candidates) lines.push(`  - ${ownerText(candidate)}`)
  if (outcome.remedy !== '') lines.push(visibleMessage(outcome.remedy))
  lines.push(...context)
  return lines.join('\n')
}
