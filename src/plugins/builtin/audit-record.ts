/** What an audit log keeps of one call. */
import type { CallView } from '../../hooks/call-view.ts'
import type { Settled } from '../../hooks/plugin.ts'
import type { Json, JsonObject } from '../../json.ts'
import { digest } from '../../json.ts'

/** How much of the arguments is kept. */
export type KeptArguments = 'digest' | 'full' | 'none'

/** One record, without secrets taken out yet. `v` is 1; a later version adds members, and changes the number where one changes its meaning. */
export function auditRecord({ request, call, owner, outcome, trace }: Settled, session: string, kept: KeptArguments): JsonObject {
  const { outcome: end, code, callId, sent, durationMs } = outcome
  return {
    v: 1,
    time: new Date().toISOString(),
    session,
    call: callId,
    method: request.method,
    owner: owner === null ? null : { name: owner.name, environmentId: owner.environmentId, installationId: owner.installationId },
    ...targetOf(call, outcome.tool),
    outcome: end,
    code,
    sent,
    ...('by' in outcome && { by: outcome.by }),
    ...('reason' in outcome && { reason: outcome.reason }),
    ...(end === 'completed' && request.method === 'tools/call' && { isError: (outcome.result as { isError?: unknown }).isError === true }),
    durationMs: Math.round(durationMs * 1000) / 1000,
    approval: trace.approval === null ? null : trace.approval.source,
    taps: trace.taps
      .filter(({ decision }) => decision !== 'none')
      .map(({ hook, plugin, tap, decision, inEffect }): Json => ({ hook, plugin, tap, decision, ...(!inEffect && { inEffect }) })),
    ...argumentsOf(call, kept),
  }
}

/** The raw name, also where the call was refused before anything was known of the tool. */
function targetOf(call: CallView | null, tool: string | null): JsonObject {
  if (call?.method === 'resources/read') return { uri: call.uri }
  if (call?.method === 'prompts/get') return { prompt: call.prompt }
  return tool === null ? {} : { tool }
}

function argumentsOf(call: CallView | null, kept: KeptArguments): JsonObject {
  if (call === null || kept === 'none') return {}
  return kept === 'full' ? { arguments: call.arguments } : { argumentsDigest: digest(call.arguments) }
}
