/** A server's own request for approval of a call, as some clients know it: put to the reviewer of the environment. */
import type { Connection } from '../connections/connection.ts'
import { onAbort, untilAborted } from '../connections/on-abort.ts'
import type { ServerRequest } from '../connections/server-request.ts'
import { messageOf } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { deepFreeze, isJsonObject } from '../json.ts'
import type { ApprovalQuestion } from '../servers/approval-question.ts'
import type { Governance } from '../servers/environment.ts'
import { sameGovernance } from '../servers/environment.ts'
import { readVerdict } from '../verdicts.ts'
import type { QuestionHost } from './open-question.ts'
import { governanceOf } from './open-question.ts'

/** True for a question with the marks of such a request, whatever its form is. */
export function hasApprovalMarks({ _meta: meta }: JsonObject): boolean {
  return isJsonObject(meta) && meta['codex_request_type'] === 'approval_request' && meta['codex_approval_kind'] === 'mcp_tool_call'
}

/** The answer for the server; null: a person is asked. One that names no tool, and a verdict that is late or unreadable, is declined. */
export async function reviewRequest(
  host: QuestionHost,
  governance: Governance,
  connection: Connection,
  request: ServerRequest,
  params: JsonObject,
): Promise<JsonObject | null> {
  const question = questionOf(host, governance, connection, params)
  const { reviewer } = governance
  // an empty form alone is a yes or a no
  if (question === null || reviewer === null || !isEmptyForm(params)) return declined('the request is not one that can be reviewed')
  const withdrawn = new AbortController()
  const { signal } = withdrawn
  const timer = setTimeout(() => withdrawn.abort(new Error('it did not answer in time')), host.reviewTimeoutMs)
  const leave = (): void => withdrawn.abort(new Error('nobody waits any more'))
  const others = [request.signal, host.signal].map((other) => {
    if (other.aborted) leave()
    return onAbort(other, leave)
  })
  const calls = host.callsOn(connection)
  for (const call of calls) call.limit.pause()
  try {
    const answer = await untilAborted(new Promise<unknown>((give) => give(reviewer(question, { signal }))), signal, () => signal.reason)
    const verdict = readVerdict(answer)
    if (verdict === null) throw new Error('its answer is no verdict')
    // what it was told must still hold
    if (!sameGovernance(governanceOf(host, connection), governance)) return declined('what governs the server changed meanwhile')
    if (verdict.kind === 'deny') return declined(verdict.text ?? 'the reviewer said no')
    return verdict.kind === 'ask' ? null : { action: 'accept', content: {}, _meta: { approvals_reviewer: BY } }
  } catch (error) {
    const message = `the reviewer could not judge a request of ${connection.key} for approval, which counts as no: ${messageOf(error)}`
    host.report({ code: 'elicitation_not_answered', severity: 'warning', message, owner: connection.key })
    return declined('the reviewer could not judge the request')
  } finally {
    clearTimeout(timer)
    for (const forget of others) forget()
    for (const call of calls) call.limit.resume()
  }
}

/** True for a form without a field. */
export function isEmptyForm({ mode = 'form', requestedSchema }: JsonObject): boolean {
  const properties = isJsonObject(requestedSchema) ? requestedSchema['properties'] : undefined
  return mode === 'form' && isJsonObject(properties) && Object.keys(properties).length === 0
}

let count = 0

/** How the mark of a reviewer reads on the wire. */
const BY = 'auto_review'

const declined = (message: string): JsonObject => ({ action: 'decline', _meta: { approvals_reviewer: BY, message } })

function questionOf(host: QuestionHost, { permissions }: Governance, connection: Connection, params: JsonObject): ApprovalQuestion | null {
  const { key, environment } = connection
  const calls = host.callsOn(connection)
  const meta: JsonObject = isJsonObject(params['_meta']) ? params['_meta'] : {}
  const { tool_name: tool, tool_title: title, tool_description: description, tool_params: given, tool_annotations: annotations } = meta
  if (typeof tool !== 'string' || tool === '') return null
  return deepFreeze({
    id: `${host.sessionId}.review.${++count}`,
    callId: calls.length === 1 ? calls[0]!.callId : '',
    sessionId: host.sessionId,
    owner: key,
    environmentId: environment.id,
    permissions,
    tool,
    title: typeof title === 'string' ? title : tool,
    description: typeof description === 'string' ? description : typeof params['message'] === 'string' ? params['message'] : '',
    annotations: isJsonObject(annotations) ? annotations : {},
    arguments: isJsonObject(given) ? given : {},
    canRemember: [],
    changes: [],
    notes: [],
  } as never)
}
