/** What a person is asked before a tool runs, and what counts as an answer. */
import { isJsonObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import type { ToolAnnotations } from '../mcp.ts'
import type { PermissionProfile } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'

/** One question; everything in it is what will be sent if the answer is yes. */
export interface ApprovalQuestion {
  /** unique in the runtime */
  readonly id: string
  readonly callId: string
  readonly sessionId: string
  readonly owner: ServerKey
  /** the environment whose permissions count */
  readonly environmentId: string
  /** null: not set */
  readonly permissions: PermissionProfile | null
  /** raw name; for methods without a tool the uri or the empty string */
  readonly tool: string
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  /** exactly what will be sent; frozen */
  readonly arguments: JsonObject
  /** what may be remembered: empty in mode `prompt` and where a tap asks */
  readonly canRemember: readonly 'session'[]
  /** texts of `ask` verdicts */
  readonly notes: readonly { readonly plugin: string; readonly question: string }[]
}

/** The words of MCP elicitation, because a person answers. */
export type ApprovalAnswer =
  | { readonly action: 'accept'; readonly remember?: 'session' }
  | { readonly action: 'decline'; readonly reason?: string }
  | { readonly action: 'cancel' }

/** Puts a question to a person. The signal ends with the call. A throw, or an answer that is none of the three, is no yes. */
export type Approver = (question: ApprovalQuestion, context: { readonly signal: AbortSignal }) => Promise<ApprovalAnswer>

/** The answer, read strictly; null for anything that is not exactly one of the three. */
export function readAnswer(value: unknown): ApprovalAnswer | null {
  if (!isJsonObject(value)) return null
  const { action, remember, reason } = value as { readonly action?: unknown; readonly remember?: unknown; readonly reason?: unknown }
  if (action === 'accept') return remember === undefined ? { action } : remember === 'session' ? { action, remember } : null
  if (action === 'decline') return typeof reason === 'string' ? { action, reason } : { action }
  return action === 'cancel' ? { action } : null
}
