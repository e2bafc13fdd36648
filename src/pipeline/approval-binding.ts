/** An approval's identity: server key, raw tool, and everything of the definitions that a person said yes to, as salted hashes. */
import { createHmac } from 'node:crypto'
import type { SealedCall } from '../hooks/sealed-call.ts'
import type { Json } from '../json.ts'
import { canonicalJson } from '../json.ts'
import type { KeyParts } from '../servers/key.ts'
import { approvalParts } from './approval-parts.ts'
import type { ApprovalPart } from './approval-parts.ts'

/** A part with its values hashed. */
export interface BoundPart {
  readonly what: string
  readonly hashes: readonly string[]
  readonly text: string | null
}

/** What one call would be remembered as, under one salt. */
export interface ApprovalBinding {
  /** 32 hex digits; the same for the same owner, tool, definitions and scope */
  readonly id: string
  /** the same for every approval of this owner and tool, whatever their definitions are */
  readonly subject: string
  /** 64 hex digits over the definitions of tool, launch and environment */
  readonly definitionDigest: string
  readonly owner: KeyParts
  readonly tool: string
  readonly parts: readonly BoundPart[]
  /** the parts before they were hashed, to show what holds now */
  readonly now: readonly ApprovalPart[]
}

/** `scope` tells the approvals of one session from those of another; the store's have none. The salt never leaves the store or the process. */
export function bind(call: SealedCall, salt: Buffer, scope: string): ApprovalBinding {
  const { name, environmentId, installationId } = call.owner
  const owner: KeyParts = { name, environmentId, installationId }
  const hash = (value: Json): string => createHmac('sha256', salt).update(canonicalJson(value)).digest('hex')
  const now = approvalParts(call)
  // the name of the part is hashed with it: equal values of two variables do not look alike
  const parts = now.map(({ what, values, text }) => ({
    what,
    hashes: values.map((value) => hash(['part', what, value]).slice(0, 32)),
    text,
  }))
  const subject = hash(['subject', [name, environmentId, installationId], call.target])
  const definitionDigest = hash(['definition', parts.map(({ what, hashes }): Json => [what, hashes])])
  return {
    id: hash(['approval', scope, subject, definitionDigest]).slice(0, 32),
    subject,
    definitionDigest,
    owner,
    tool: call.target,
    parts,
    now,
  }
}
