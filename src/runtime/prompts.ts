/** Prompts and completions, through the pipeline. */
import { TaplineError } from '../errors.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { CompleteResult, GetPromptResult } from '../mcp.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { ServerKey } from '../servers/key.ts'
import { listItems, OWNER_KEYS, ownFields, targetOf, textOf, textsOf } from './listings.ts'
import type { LiveSession } from './live-session.ts'
import type { CompletionRequest, ListQuery, Listing, Owned, PromptItem, PromptRequest } from './types.ts'
import { assertKnownKeys } from './unknown-key.ts'
import { unwrap } from './unwrap.ts'

/** Throws what `listItems` throws. */
export function listPrompts(session: LiveSession, query: ListQuery): Promise<Listing<PromptItem>> {
  return listItems(session, 'prompts/list', query, (owner, raw) => ({
    owner,
    name: textOf(raw['name']),
    ...textsOf(raw, 'title', 'description'),
    raw,
  }))
}

/** One prompt of one server, filled in. Throws what `unwrap` throws. */
export async function getPrompt(session: LiveSession, request: PromptRequest, options: CallOptions): Promise<GetPromptResult & Owned> {
  assertKnownKeys('a request for a prompt', request, [...OWNER_KEYS, 'prompt', 'arguments'])
  const given = ownFields(request)
  const { prompt, arguments: args } = given
  const outcome = await session.pipeline.call({ method: 'prompts/get', target: targetOf(given), subject: prompt, arguments: args }, options)
  const result = unwrap(outcome as CallOutcome<'prompts/get'>)
  if (!Array.isArray(result.messages)) throw new TaplineError('SERVER_FAILED', `${outcome.owner} answered prompts/get without messages`)
  return { ...result, owner: outcome.owner as ServerKey }
}

/** Values for one argument of a prompt or of a template. Throws what `unwrap` throws. */
export async function complete(session: LiveSession, request: CompletionRequest, options: CallOptions): Promise<CompleteResult & Owned> {
  assertKnownKeys('a request for a completion', request, [...OWNER_KEYS, 'ref', 'argument', 'context'])
  const given = ownFields(request)
  const { ref, argument, context } = given
  const outcome = await session.pipeline.call(
    {
      method: 'completion/complete',
      target: targetOf(given),
      subject: '',
      arguments: {
        ref: onTheWire(ref),
        argument: argument as unknown as JsonObject,
        ...(context !== undefined && { context: context as unknown as JsonObject }),
      },
    },
    options,
  )
  const result = unwrap(outcome as CallOutcome<'completion/complete'>)
  if (!isJsonObject(result.completion) || !Array.isArray(result.completion['values']))
    throw new TaplineError('SERVER_FAILED', `${outcome.owner} answered completion/complete without values`)
  return { ...result, owner: outcome.owner as ServerKey }
}

/** The reference in the words of MCP; what is none is left as it is, to be refused where every request is judged. */
function onTheWire(ref: CompletionRequest['ref']): Json {
  const given = { __proto__: null, ...(ref as object) } as { readonly prompt?: Json; readonly uriTemplate?: Json }
  const { prompt, uriTemplate } = given
  if (prompt !== undefined && uriTemplate === undefined) return { type: 'ref/prompt', name: prompt }
  if (uriTemplate !== undefined && prompt === undefined) return { type: 'ref/resource', uri: uriTemplate }
  return {}
}
