/** Does a call need approval, and what does the policy of the owner's environment make of that? Pure functions (spec 60). */
import type { ToolRecord } from '../connections/connection.ts'
import type { ToolAnnotations } from '../mcp.ts'
import type { ApprovalMode, ServerPolicy } from '../servers/definition.ts'
import type { ApprovalPolicy, Governance, PermissionProfile } from '../servers/environment.ts'
import { isFullAccess } from '../servers/environment.ts'

/** `ask`: somebody has to agree; `deny`: the mode of the tool forbids it, and nothing lifts that. */
export type ApprovalNeed = 'none' | 'ask' | 'deny'

/** What the rule looks at. */
export interface ApprovalInput {
  readonly mode: ApprovalMode
  /** as the server listed them; a hint that is no boolean counts as absent */
  readonly annotations: ToolAnnotations
  /** false: the annotations are not looked at */
  readonly trustAnnotations: boolean
}

/** Whether a call needs approval, by the mode of the tool and its annotations. */
export function approvalQuestion({ mode, annotations, trustAnnotations }: ApprovalInput): ApprovalNeed {
  const hints: ToolAnnotations = trustAnnotations ? (annotations ?? {}) : {}
  switch (mode) {
    case 'deny':
      return 'deny'
    case 'approve':
      return 'none'
    case 'auto':
      return hints.readOnlyHint === true || (hints.destructiveHint === false && hints.openWorldHint === false) ? 'none' : 'ask'
    case 'writes':
      return hints.readOnlyHint === true ? 'none' : 'ask'
    default:
      return 'ask'
  }
}

/** What becomes of that need: under `never` a question is a refusal (APPROVAL_POLICY_NEVER), except with full access, where the call runs. */
export function underPolicy(need: ApprovalNeed, policy: ApprovalPolicy, permissions: PermissionProfile | null): 'run' | 'ask' | 'refuse' {
  if (need === 'none') return 'run'
  if (need === 'deny') return 'refuse'
  if (policy !== 'never') return 'ask'
  return isFullAccess(permissions) ? 'run' : 'refuse'
}

/** What becomes of a call to this tool under this governance, before anybody has a say. */
export function needOf(
  mode: ApprovalMode,
  { trustAnnotations }: Pick<ServerPolicy, 'trustAnnotations'>,
  { annotations }: Pick<ToolRecord, 'annotations'>,
  { approvalPolicy, permissions }: Governance,
): 'run' | 'ask' | 'refuse' {
  return underPolicy(approvalQuestion({ mode, annotations, trustAnnotations }), approvalPolicy, permissions)
}
