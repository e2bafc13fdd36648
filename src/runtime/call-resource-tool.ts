/** Runs a tool for resources: requests of the pipeline, with all its hooks, and their ends as the one end of a tool call. */
import { randomUUID } from 'node:crypto'
import type { CallOutcome, Overflow } from '../hooks/outcome.ts'
import type { Explanation } from '../hooks/trace.ts'
import { TraceRecorder } from '../hooks/trace-recorder.ts'
import type { JsonObject } from '../json.ts'
import type { Method, ToolResult } from '../mcp.ts'
import { cutResult } from '../pipeline/cut-result.ts'
import { modelResult } from '../pipeline/for-model.ts'
import { writeOverflow } from '../pipeline/overflow-file.ts'
import type { CallOptions } from '../pipeline/request.ts'
import { sizeOver } from '../pipeline/result-size.ts'
import type { ServerKey } from '../servers/key.ts'
import type { LiveSession } from './live-session.ts'
import { resourceToolRequest } from './resource-tool-request.ts'
import { mergedResult, oneResult, ownerFields } from './resource-tool-result.ts'
import type { ResourceToolKind } from './resource-tools.ts'

type Outcome = CallOutcome<Method>

/** Never rejects. One server: its outcome. All: a failing server is an entry of `errors`, but a call that was cancelled or attacked ends as such. */
export async function callResourceTool(
  session: LiveSession,
  kind: ResourceToolKind,
  given: unknown,
  options: CallOptions,
): Promise<CallOutcome> {
  const fieldsOf = ownerFields(session.resolver.takesEnvironment)
  const asked = resourceToolRequest(kind, given, session.resolver)
  if (asked.to === 'one') {
    const outcome = await session.pipeline.call(asked.request, options)
    if (outcome.outcome !== 'completed') return outcome
    const owner = outcome.owner as ServerKey
    return within(session, outcome, oneResult(kind, owner, outcome.result as unknown as JsonObject, fieldsOf), [owner], options)
  }
  const began = performance.now()
  const { servers, requestOf } = asked
  const outcomes = await Promise.all(servers.map((entry) => session.pipeline.call(requestOf(entry), options)))
  const stopped =
    outcomes.find(({ outcome }) => outcome === 'ownership_violation') ?? outcomes.find(({ outcome }) => outcome === 'cancelled')
  if (stopped !== undefined) return { ...stopped, forModel: stopped.forModel, sent: sentOf(outcomes) } as CallOutcome
  const ends = outcomes.map((outcome, index) => ({ outcome, owner: servers[index]!.key }))
  const result = mergedResult(
    kind.field as string,
    ends.flatMap(({ outcome, owner }) =>
      outcome.outcome === 'completed' ? [{ owner, result: outcome.result as unknown as JsonObject }] : [],
    ),
    ends.flatMap(({ outcome, owner }) =>
      outcome.outcome === 'completed' ? [] : [{ owner, code: outcome.code, message: outcome.message }],
    ),
    fieldsOf,
  )
  const context = outcomes.flatMap(({ additionalContext = [] }) => additionalContext)
  const whole = {
    outcome: 'completed' as const,
    code: 'OK' as const,
    callId: options.callId ?? randomUUID(),
    owner: null,
    tool: null,
    durationMs: performance.now() - began,
    sent: sentOf(outcomes),
    ...(context.length > 0 && { additionalContext: Object.freeze(context) }),
  }
  return within(
    session,
    whole,
    result,
    servers.map(({ key }) => key),
    options,
  )
}

/** Everything up to dispatch, for one server or for all of them at once. */
export async function explainResourceTool(
  session: LiveSession,
  kind: ResourceToolKind,
  given: unknown,
  options: CallOptions,
): Promise<Explanation> {
  const asked = resourceToolRequest(kind, given, session.resolver)
  if (asked.to === 'one') return session.pipeline.explain(asked.request, options)
  const all = await Promise.all(asked.servers.map((entry) => session.pipeline.explain(asked.requestOf(entry), options)))
  const told = all.find(({ wouldEnd }) => wouldEnd === 'sent') ?? all[0]
  const trace = told?.trace ?? new TraceRecorder(session.flags).read()
  return {
    owner: null,
    tool: null,
    wouldEnd: told?.wouldEnd ?? 'completed',
    outcome: told?.outcome ?? null,
    trace: { ...trace, candidates: asked.servers.map(({ key }) => key), taps: all.flatMap((one) => one.trace.taps) },
    wouldSend: told?.wouldSend ?? null,
  }
}

/** The outcome with the result of a tool, cut where it is larger than the servers' limit. */
async function within(
  session: LiveSession,
  outcome: object,
  whole: ToolResult,
  owners: readonly ServerKey[],
  { overflowFile }: CallOptions,
): Promise<CallOutcome> {
  const json = whole as unknown as JsonObject
  const limits = owners.flatMap((owner) => session.resolver.view.get(owner)?.registration.policy.maxResultBytes ?? [])
  const limitBytes = Math.max(0, ...limits) || Infinity
  const bytes = sizeOver(json, limitBytes)
  let overflow: Overflow | null = null
  if (bytes !== null) {
    const file = overflowFile === undefined ? null : await writeOverflow(overflowFile, json, (diagnostic) => session.report(diagnostic))
    overflow = Object.freeze({ bytes, limitBytes, file })
  }
  const result = overflow === null ? json : cutResult(json, overflow)
  return Object.freeze({
    ...outcome,
    result,
    ...(overflow !== null && { overflow }),
    forModel: modelResult(result),
  }) as unknown as CallOutcome
}

function sentOf(outcomes: readonly Outcome[]): Outcome['sent'] {
  const all = new Set(outcomes.map(({ sent }) => sent))
  return all.has('yes') ? 'yes' : all.has('unknown') ? 'unknown' : 'no'
}
