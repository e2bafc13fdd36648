/** What servers ask a person or a model while a call runs, and what counts as an answer. */
import { isJsonObject, snapshot } from '../json.ts'
import type { JsonObject } from '../json.ts'
import type { FormSchema, Root, SamplingRequest, SamplingResult } from '../mcp.ts'
import type { PermissionProfile } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'

interface ServerQuestion {
  /** unique in the runtime */
  readonly id: string
  /** the call that caused it; null where several calls of the session are on their way to that server, or none */
  readonly callId: string | null
  readonly sessionId: string
  readonly owner: ServerKey
  /** the environment whose permissions count */
  readonly environmentId: string
}

/** A question of a server to a person. A URL is shown and never opened by itself. */
export type ElicitationQuestion = ServerQuestion & {
  /** null: not set */
  readonly permissions: PermissionProfile | null
  readonly message: string
  /** the params as the server sent them, without the `_meta` keys that only a host may set */
  readonly params: JsonObject
} & (
    | { readonly mode: 'form'; readonly requestedSchema: FormSchema }
    | { readonly mode: 'url'; readonly url: string; readonly host: string; readonly elicitationId: string }
  )

/** The words of MCP elicitation. `content` belongs to a form; it is checked against its schema, defaults are filled in. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: JsonObject; readonly _meta?: JsonObject }
  | { readonly action: 'decline'; readonly _meta?: JsonObject }
  | { readonly action: 'cancel'; readonly _meta?: JsonObject }

/** Puts a question of a server to a person. The signal ends when the server or its call no longer waits. A throw is no answer. */
export type Elicitor = (question: ElicitationQuestion, context: { readonly signal: AbortSignal }) => Promise<ElicitationAnswer>

/** A question of a server to a model. */
export interface SamplingQuestion extends ServerQuestion {
  /** every field as the server sent it */
  readonly request: SamplingRequest
}

/** Lets a model answer; the host decides which, and whether a person sees it first. */
export type Sampler = (question: SamplingQuestion, context: { readonly signal: AbortSignal }) => Promise<SamplingResult>

/** The folders of the host, for servers of environments whose own are not written down. */
export type RootsProvider = (context: { readonly owner: ServerKey; readonly signal: AbortSignal }) => Promise<readonly Root[]>

/** The answer, read strictly; null for anything that is not exactly one of the three. */
export function readElicitationAnswer(value: unknown): ElicitationAnswer | null {
  if (!isJsonObject(value)) return null
  const { action, content, _meta } = snapshot(value) as JsonObject
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') return null
  if (action === 'accept' && content !== undefined && content !== null && !isJsonObject(content)) return null
  return { action, ...(action === 'accept' && isJsonObject(content) && { content }), ...(isJsonObject(_meta) && { _meta }) }
}
