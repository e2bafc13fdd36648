/** Who is asked before a tool runs, and what counts as an answer. */
import { isJsonObject } from '../json.ts'
import type { ApprovalQuestion } from '../servers/approval-question.ts'

/** The words of MCP elicitation, because a person answers. */
export type ApprovalAnswer =
  | { readonly action: 'accept'; readonly remember?: 'session' | 'always' }
  | { readonly action: 'decline'; readonly reason?: string }
  | { readonly action: 'cancel' }

/** Puts a question to a person. The signal ends with the call. A throw, or an answer that is none of the three, is no yes. */
export type Approver = (question: ApprovalQuestion, context: { readonly signal: AbortSignal }) => Promise<ApprovalAnswer>

/** The answer, read strictly; null for anything that is not exactly one of the three. */
export function readAnswer(value: unknown): ApprovalAnswer | null {
  if (!isJsonObject(value)) return null
  const { action, remember, reason } = value as { readonly action?: unknown; readonly remember?: unknown; readonly reason?: unknown }
  if (action === 'accept')
    return remember === undefined ? { action } : remember === 'session' || remember === 'always' ? { action, remember } : null
  if (action === 'decline') return typeof reason === 'string' ? { action, reason } : { action }
  return action === 'cancel' ? { action } : null
}
