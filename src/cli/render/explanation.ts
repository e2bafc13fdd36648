/** What a call would do, in JSON and for people. */
import type { Explanation } from '../../hooks/trace.ts'
import type { Paint } from '../output.ts'
import { visible, visibleLine, visibleMessage } from './escape.ts'
import { outcomeJson } from './outcome.ts'
import { ownerJson, ownerText } from './owner.ts'
import { traceJson, traceText } from './trace.ts'

/** The document of `tapline explain`: as that of `call`, with what would be sent. */
export function explanationJson(explanation: Explanation, asked: string | null): Readonly<Record<string, unknown>> {
  const { outcome, owner, wouldEnd, wouldSend, trace } = explanation
  // `explain` of a session speaks of tool calls only
  const end = outcome === null ? null : outcomeJson(outcome as Parameters<typeof outcomeJson>[0], asked)
  return {
    ...(end ?? { code: null, message: null }),
    outcome: wouldEnd,
    sent: 'no',
    owner: owner === null ? null : ownerJson(owner),
    tool: explanation.tool ?? asked,
    result: null,
    wouldSend,
    trace: traceJson(trace),
  }
}

/** What would happen, what would be sent, and why. */
export function explanationText(explanation: Explanation, asked: string | null, paint: Paint): string {
  const { owner, wouldEnd, outcome, wouldSend, trace } = explanation
  const tool = explanation.tool ?? asked
  const head = `${owner !== null ? ownerText(owner) : wouldSend !== null ? 'all servers' : 'no owner'}${tool === null ? '' : `  ${visibleLine(tool)}`}`
  const why = outcome === null || outcome.outcome === 'completed' ? '' : `: ${visibleMessage(outcome.message)} (${outcome.code})`
  const lines = [paint.bold(head), `${END[wouldEnd] ?? `would end as ${wouldEnd}`}${why}`]
  if (outcome?.outcome === 'invalid_request') for (const candidate of outcome.candidates) lines.push(`  - ${ownerText(candidate)}`)
  if (wouldSend !== null)
    lines.push(`${paint.bold('request')} ${wouldSend.method}`, visible(JSON.stringify(wouldSend.params, null, 2)).replace(/^/gm, '  '))
  const rest = traceText(trace, paint)
  return [...lines, ...(rest === '' ? [] : [rest])].join('\n')
}

const END: Readonly<Partial<Record<Explanation['wouldEnd'], string>>> = {
  sent: 'would be sent',
  asked: 'would be asked about first',
}
