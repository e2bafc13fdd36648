/** What comes into the pipeline: which method, on which server, with what. */
import type { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Method, Progress } from '../mcp.ts'
import type { ServerKey } from '../servers/key.ts'

/** How a request says which server it means. Untrusted, except for `owner`. */
export type Target =
  | { readonly by: 'name'; readonly name: string; readonly namespace: string | undefined }
  | {
      readonly by: 'server'
      readonly server: string
      readonly environmentId: string | null | undefined
      readonly installationId: string | null | undefined
    }
  | { readonly by: 'owner'; readonly owner: ServerKey }
  /** a request that says nothing that can be looked up: it ends with this error */
  | { readonly by: 'nothing'; readonly error: TaplineError }

/** One request of a host. */
export interface PipelineRequest {
  readonly method: Method
  readonly target: Target
  /** raw tool name, uri or prompt; the empty string where the target is a visible name or the method is a list */
  readonly subject: string
  readonly arguments: unknown
}

/** How a call is made; all of it is optional. */
export interface CallOptions {
  /** ends the call as `cancelled` */
  readonly signal?: AbortSignal
  /** ms for the whole call: the start of the server included, waiting for a person not; default: the server's toolTotalTimeoutSec */
  readonly timeoutMs?: number
  /** ms without progress; default: the server's toolTimeoutSec */
  readonly idleTimeoutMs?: number
  readonly onProgress?: (progress: Progress) => void
  /** added to `_meta`; reserved keys are dropped and reported in the trace */
  readonly meta?: JsonObject
  /** the model's id of the call: goes into outcome, trace and questions */
  readonly callId?: string
  readonly trace?: boolean
  /** where the whole result of a tool goes as JSON if it is larger than its server's `maxResultBytes`; a file that is there is replaced */
  readonly overflowFile?: string
}
