/** A question of a server to a model, handed to the host. */
import type { Connection } from '../connections/connection.ts'
import type { ServerRequest } from '../connections/server-request.ts'
import { RpcFault } from '../connections/server-request.ts'
import { messageOf } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { deepFreeze, isJsonObject, snapshot } from '../json.ts'
import type { SamplingRequest } from '../mcp.ts'
import type { Sampler } from './elicitor.ts'
import { withoutHostOnlyMeta } from './host-only-meta.ts'
import type { QuestionHost } from './open-question.ts'
import { OpenQuestion } from './open-question.ts'

/** What the host's model said. Rejects with an RpcFault, also where the host said no. */
export async function answerSampling(
  host: QuestionHost,
  sampler: Sampler,
  connection: Connection,
  request: ServerRequest,
): Promise<JsonObject> {
  const params = withoutHostOnlyMeta(request.params)
  if (!Array.isArray(params['messages'])) throw new RpcFault(-32602, 'messages must be a list')
  const question = new OpenQuestion(host, 'sampling', connection, request)
  const { key, environment } = connection
  const put = Object.freeze({
    id: question.id,
    callId: question.callId,
    sessionId: host.sessionId,
    owner: key,
    environmentId: environment.id,
    request: deepFreeze(params) as unknown as SamplingRequest,
  })
  try {
    const result = await question.ask((signal) => sampler(put, { signal }))
    if (!isJsonObject(result)) throw new TypeError('the handler gave no result')
    return withoutHostOnlyMeta(snapshot(result) as JsonObject)
  } catch (error) {
    if (error instanceof RpcFault) throw error
    host.report({
      code: 'sampling_not_answered',
      severity: 'warning',
      message: `a model was asked by ${key}: ${messageOf(error)}`,
      owner: key,
    })
    // what MCP gives for a host that says no
    throw new RpcFault(-1, 'The request for sampling was not answered')
  }
}
