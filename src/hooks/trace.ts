/** What a call leaves behind for people: every tap with its decision, where the approval came from, what was added. */
import type { FlagDetails } from '../flags/flag.ts'
import type { JsonObject } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { ServerKey } from '../servers/key.ts'
import type { CallOutcome, PipelineHook } from './outcome.ts'

export interface TapTrace {
  readonly hook: PipelineHook
  readonly tap: string
  readonly plugin: string
  readonly mode: 'shadow' | 'enforce'
  readonly decision:
    | 'none'
    | 'rewrite'
    | 'allow'
    | 'deny'
    | 'ask'
    | 'patch'
    | 'called_next'
    | 'answered'
    | 'failed'
    | 'timed_out'
    | 'changed_owner'
  /** false in shadow mode: what would have happened */
  readonly inEffect: boolean
  readonly reason?: string
  readonly changedArguments: boolean
  readonly durationMs: number
}

export interface CallTrace {
  readonly candidates: readonly ServerKey[]
  readonly taps: readonly TapTrace[]
  readonly approval: {
    readonly source: 'not_needed' | 'tap' | 'mode' | 'remembered' | 'reviewer' | 'person'
    readonly waitedMs: number
  } | null
  /** keys of `_meta` and who set them; reserved keys of a caller that were dropped have `by: 'dropped'` */
  readonly metaKeys: readonly { readonly key: string; readonly by: string }[]
  readonly connection: { readonly id: string; readonly reused: boolean } | null
  readonly flags: readonly FlagDetails[]
  /** ms */
  readonly timingsMs: Readonly<Partial<Record<PipelineHook | 'queue' | 'server', number>>>
}

/** Everything up to dispatch, nothing sent. */
export interface Explanation {
  readonly owner: ServerKey | null
  /** raw name, or null */
  readonly tool: string | null
  /** `asked`: a person would be asked; `sent`: the call would go out */
  readonly wouldEnd: CallOutcome['outcome'] | 'asked' | 'sent'
  /** the outcome where the call would not be sent */
  readonly outcome: CallOutcome<Method> | null
  readonly trace: CallTrace
  readonly wouldSend: { readonly method: Method; readonly params: JsonObject } | null
}
