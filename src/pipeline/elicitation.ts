/** A question of a server to a person: judged by the policy of the owner's environment, asked, and the answer held against the form. */
import type { Connection } from '../connections/connection.ts'
import type { ServerRequest } from '../connections/server-request.ts'
import { RpcFault } from '../connections/server-request.ts'
import { isTaplineError, messageOf } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { deepFreeze, isJsonObject } from '../json.ts'
import type { FormSchema } from '../mcp.ts'
import type { Governance } from '../servers/environment.ts'
import { isFullAccess, sameGovernance } from '../servers/environment.ts'
import type { ElicitationQuestion, Elicitor } from './elicitor.ts'
import { readElicitationAnswer } from './elicitor.ts'
import { checkFormAnswer } from './form-answer.ts'
import { withoutHostOnlyMeta } from './host-only-meta.ts'
import type { QuestionHost } from './open-question.ts'
import { governanceOf, OpenQuestion } from './open-question.ts'
import { hasApprovalMarks, isEmptyForm, reviewRequest } from './review-request.ts'
import type { CompiledSchema } from './tool-schema.ts'

const DECLINE: JsonObject = Object.freeze({ action: 'decline' })
const CANCEL: JsonObject = Object.freeze({ action: 'cancel' })
const INVALID_PARAMS = -32602

type Asked =
  | { readonly mode: 'form'; readonly requestedSchema: FormSchema }
  | { readonly mode: 'url'; readonly url: string; readonly host: string; readonly elicitationId: string }

/** The result for the server. Rejects with an RpcFault for params that make no sense. */
export async function answerElicitation(
  host: QuestionHost,
  elicitor: Elicitor,
  modes: JsonObject,
  connection: Connection,
  request: ServerRequest,
): Promise<JsonObject> {
  const params = withoutHostOnlyMeta(request.params)
  const { message } = params
  if (typeof message !== 'string') throw new RpcFault(INVALID_PARAMS, 'message must be text')
  const asked = readAsked(params, modes)
  const governance = governanceOf(host, connection)
  const verdict = judge(governance, params)
  if (verdict !== null) return verdict
  if (governance.reviewer !== null && hasApprovalMarks(params)) {
    const reviewed = await reviewRequest(host, governance, connection, request, params)
    if (reviewed !== null) return reviewed
  }
  const schema = asked.mode === 'form' ? await compile(host, asked.requestedSchema) : null
  const question = new OpenQuestion(host, 'elicitation', connection, request)
  const { key, environment } = connection
  const put: ElicitationQuestion = deepFreeze({
    id: question.id,
    callId: question.callId,
    sessionId: host.sessionId,
    owner: key,
    environmentId: environment.id,
    permissions: governance.permissions,
    message,
    params,
    ...asked,
  } as never)
  const complain = (problem: string): void =>
    host.report({ code: 'elicitation_not_answered', severity: 'warning', message: `a question of ${key}: ${problem}`, owner: key })
  try {
    const answer = readElicitationAnswer(await question.ask((signal) => elicitor(put, { signal })))
    if (answer === null) {
      complain('the answer could not be read, which counts as no')
      return DECLINE
    }
    // a yes to what may not be asked any more is none
    if (answer.action === 'accept' && !sameGovernance(governanceOf(host, connection), governance)) {
      complain('what governs its server changed while somebody was asked, which counts as no')
      return DECLINE
    }
    const cleaned = withoutHostOnlyMeta(answer as unknown as JsonObject)
    if (answer.action !== 'accept' || asked.mode === 'url' || schema === null) return without(cleaned, 'content')
    const checked = checkFormAnswer(asked.requestedSchema as unknown as JsonObject, schema, answer.content)
    if ('content' in checked) return { ...cleaned, content: checked.content }
    complain(`the answer does not fit the form, and counts as no: ${checked.problem}`)
    return DECLINE
  } catch (error) {
    if (error instanceof RpcFault) throw error
    // withdrawn: nothing went wrong
    if (!isTaplineError(error) || error.code !== 'CALL_CANCELLED') complain(messageOf(error))
    return CANCEL
  }
}

function readAsked({ mode = 'form', requestedSchema, url, elicitationId }: JsonObject, modes: JsonObject): Asked {
  // a client that says nothing of modes has forms
  if (mode !== 'form' && mode !== 'url') throw new RpcFault(INVALID_PARAMS, 'mode must be form or url')
  if (modes[mode] === undefined && !(mode === 'form' && modes['url'] === undefined))
    throw new RpcFault(INVALID_PARAMS, `mode ${mode} was not declared`)
  if (mode === 'form') {
    if (!isJsonObject(requestedSchema) || requestedSchema['type'] !== 'object' || !isJsonObject(requestedSchema['properties']))
      throw new RpcFault(INVALID_PARAMS, 'requestedSchema must be a schema of type object with properties')
    return { mode, requestedSchema: requestedSchema as unknown as FormSchema }
  }
  const host = typeof url === 'string' ? hostOf(url) : null
  if (host === null) throw new RpcFault(INVALID_PARAMS, 'url must be an http or https URL')
  return { mode, url: url as string, host, elicitationId: typeof elicitationId === 'string' ? elicitationId : '' }
}

function hostOf(text: string): string | null {
  try {
    const { protocol, host } = new URL(text)
    return protocol === 'https:' || protocol === 'http:' ? host : null
  } catch {
    return null
  }
}

/** What the policy of the owner's environment answers by itself; null: somebody is asked. */
function judge({ approvalPolicy, permissions }: Governance, params: JsonObject): JsonObject | null {
  if (approvalPolicy === 'never')
    return hasApprovalMarks(params) && isEmptyForm(params) && isFullAccess(permissions) ? { action: 'accept', content: {} } : DECLINE
  return typeof approvalPolicy === 'object' && !approvalPolicy.granular.mcpElicitations ? DECLINE : null
}

/** Nobody is asked what could not be checked afterwards. */
async function compile({ schemas }: QuestionHost, schema: FormSchema): Promise<CompiledSchema> {
  const compiled = await schemas.prepare({ inputSchema: schema as unknown as JsonObject, outputSchema: null })
  if (compiled.disabled !== null) throw new RpcFault(INVALID_PARAMS, 'requestedSchema cannot be used')
  return compiled
}

function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _left, ...rest } = object
  return rest
}
