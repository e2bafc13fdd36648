/** What a call leaves behind for people: every tap with its decision, where the approval came from, what was added. */
import type { HookName } from '../errors.ts'
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
    /** in shadow only: it was not run to its end, because the session closed or too many taps in shadow were running */
    | 'skipped'
  /** false in shadow, where it is what would have happened, and for a failure that the call survived */
  readonly inEffect: boolean
  readonly reason?: string
  readonly changedArguments: boolean
  /** dispatch only: how often it called next() */
  readonly nextCalls?: number
  /** dispatch only, where it called next(): it returned another result than it got */
  readonly changedResult?: boolean
  /** of the tap, next() included; in shadow next() takes no time */
  readonly durationMs: number
}

/**
 * Something that a plugin in shadow would have done to a call. `failed`: a failure that would have stopped it. `answered`: without the server.
 * `repeated`: sent more than once. `allowed`: only where there was a question to answer. `context`: text for the model.
 */
export type ShadowEffect =
  | 'violated'
  | 'failed'
  | 'refused'
  | 'asked'
  | 'allowed'
  | 'answered'
  | 'repeated'
  | 'changed_result'
  | 'rewritten'
  | 'metadata'
  | 'context'

/** What one plugin in shadow would have done to one call. Only taps that the call reached count. */
export interface ShadowSummary {
  readonly plugin: string
  /** gravest first, as the type lists them; empty: nothing */
  readonly wouldHave: readonly ShadowEffect[]
}

/** A remark of a tap about the call. */
export interface TraceNote {
  readonly hook: HookName
  readonly tap: string
  readonly plugin: string
  readonly text: string
}

export interface CallTrace {
  readonly candidates: readonly ServerKey[]
  /** in the order in which they ended; those in shadow may end after the call */
  readonly taps: readonly TapTrace[]
  /** every plugin of which a tap ran in shadow */
  readonly shadow: readonly ShadowSummary[]
  /** in the order in which taps made them; left out where there are none */
  readonly notes?: readonly TraceNote[]
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
