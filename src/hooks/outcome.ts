/** How calls end: one union, one member for each end (spec 20). */
import type { ErrorCode } from '../errors.ts'
import type { Json } from '../json.ts'
import type { ContentBlock, Method, ResultOf } from '../mcp.ts'
import type { ServerKey } from '../servers/key.ts'
import type { CallTrace } from './trace.ts'

/** What to tell the model: built on first read; no secret, no stack. */
export interface ForModel {
  readonly text: string
  readonly isError: boolean
  /** result blocks as they came, or one text block */
  readonly content: readonly ContentBlock[]
}

export type PipelineHook = 'resolve' | 'approve' | 'attachMetadata' | 'dispatch'

interface Ended {
  readonly callId: string
  /** null where no owner could be found */
  readonly owner: ServerKey | null
  /** raw name; null for other methods, and where no tool could be found */
  readonly tool: string | null
  readonly durationMs: number
  /** did anything reach the server: it may have run for 'yes' and 'unknown' */
  readonly sent: 'no' | 'yes' | 'unknown'
  readonly forModel: ForModel
  /** what hooks want to have told to the model beside it, in their order; left out where there is nothing. The conversation is the host's */
  readonly additionalContext?: readonly string[]
  /** where a trace was asked for */
  readonly trace?: CallTrace
}
/** What is told of a result that was larger than its server's `maxResultBytes`. */
export interface Overflow {
  /** of the whole result */
  readonly bytes: number
  readonly limitBytes: number
  /** absolute path of the whole result as JSON, where the call asked for that; else null */
  readonly file: string | null
}
interface Failed extends Ended {
  readonly code: ErrorCode
  /** one line for people and logs */
  readonly message: string
  readonly remedy: string
}

/** Exactly one of these is the end of every call. */
export type CallOutcome<M extends Method = 'tools/call'> =
  | (Ended & { readonly outcome: 'completed'; readonly code: 'OK'; readonly result: ResultOf<M>; readonly overflow?: Overflow })
  | (Failed & {
      readonly outcome: 'refused'
      readonly by: 'tap' | 'tap_failure' | 'policy' | 'person' | 'reviewer'
      readonly reason: string
    })
  | (Failed & { readonly outcome: 'no_approver' })
  | (Failed & { readonly outcome: 'cancelled'; readonly by: 'host' | 'person' })
  | (Failed & { readonly outcome: 'timed_out'; readonly phase: 'start' | PipelineHook | 'total'; readonly limitMs: number })
  | (Failed & {
      readonly outcome: 'ownership_violation'
      readonly hook: PipelineHook
      readonly tap: string
      readonly plugin: string
      readonly key: string
    })
  | (Failed & {
      readonly outcome: 'authority_changed'
      readonly what: 'permissions' | 'policy' | 'environment' | 'definition' | 'tool_gone'
    })
  | (Failed & {
      readonly outcome: 'server_failed'
      readonly rawResult?: Json
      readonly rpcError?: { readonly code: number; readonly data: Json }
    })
  /** a dispatch tap failed after the call was sent, or refused its result: then there is a `reason` */
  | (Failed & { readonly outcome: 'result_withheld'; readonly hook: PipelineHook; readonly tap: string; readonly reason?: string })
  | (Failed & { readonly outcome: 'invalid_request'; readonly candidates: readonly ServerKey[] })
