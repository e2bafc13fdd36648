/** What is put to a person, or to a reviewer, before a tool runs: the types. */
import type { JsonObject } from '../json.ts'
import type { ToolAnnotations } from '../mcp.ts'
import type { Verdict } from '../verdicts.ts'
import type { PermissionProfile } from './environment.ts'
import type { ServerKey } from './key.ts'

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
  /** what may be remembered: empty in mode `prompt` and where a tap asks; without `always` where the store cannot be used */
  readonly canRemember: readonly ('session' | 'always')[]
  /** filled where an earlier approval of this tool no longer counts: what is different now, at most 21 entries; texts of any length */
  readonly changes: readonly { readonly what: string; readonly before: string; readonly after: string }[]
  /** texts of `ask` verdicts */
  readonly notes: readonly { readonly plugin: string; readonly question: string }[]
}

/** A second opinion before a person is asked: `allow` runs the call, `deny` refuses it, `ask` leaves it to the person. The signal ends with the call and with the limit; what comes late, or is no verdict, is a deny. */
export type Reviewer = (question: ApprovalQuestion, context: { readonly signal: AbortSignal }) => Promise<Verdict>
