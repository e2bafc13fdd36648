/** What a trace file holds: one JSON object on each line. */
import type { FlagDetails } from '../flags/flag.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { CallTrace } from '../hooks/trace.ts'
import type { JsonObject } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { KeyJson } from '../servers/key.ts'

/** `v` of every record. A reader that knows 1 can leave out keys that it does not know; what a key means never changes without another number. */
export const TRACE_VERSION = 1

interface Line {
  readonly v: typeof TRACE_VERSION
  /** ISO 8601: when the session was opened, the call began, or the gap was found */
  readonly time: string
}

/** A hook plugin of a session. */
export interface PluginRecord {
  readonly name: string
  readonly mode: 'off' | 'shadow' | 'enforce'
  /** the flag that decided the mode, where one did */
  readonly flag?: string
}

/** Stands in front of the first call of its session. */
export interface SessionRecord extends Line {
  readonly type: 'session'
  readonly session: string
  readonly tapline: string
  readonly node: string
  readonly platform: string
  readonly pid: number
  /** in the selected order */
  readonly environments: readonly { readonly id: string; readonly executor: string; readonly cwd: string }[]
  readonly flags: readonly FlagDetails[]
  /** in the order of registration */
  readonly plugins: readonly PluginRecord[]
}

/** One call, from request to end. No result is in it, and of the arguments only what `arguments` says. */
export interface CallRecord extends Line {
  readonly type: 'call'
  readonly session: string
  /** unique among all sessions */
  readonly id: string
  /** the id that the caller gave, else `id` */
  readonly callId: string
  readonly method: Method
  /** null where no owner could be found */
  readonly owner: KeyJson | null
  /** raw name, or null */
  readonly tool: string | null
  /** null where they are no JSON object */
  readonly arguments: ArgumentsRecord | null
  readonly outcome: CallOutcome['outcome']
  /** `OK`, or an error code */
  readonly code: string
  readonly sent: 'no' | 'yes' | 'unknown'
  readonly durationMs: number
  /** of `completed`: what the tool said of its result */
  readonly isError?: boolean
  /** of every other end */
  readonly message?: string
  /** of `refused` and `cancelled` */
  readonly by?: string
  /** of `refused` */
  readonly reason?: string
  /** of `timed_out`: where it was */
  readonly phase?: string
  readonly limitMs?: number
  /** of `ownership_violation` and `result_withheld` */
  readonly hook?: string
  readonly tap?: string
  readonly plugin?: string
  /** of `authority_changed` */
  readonly what?: string
  /** what the call left behind; the flags are those of its session */
  readonly trace: KeptTrace
}

/** A trace as it is written down. */
export interface KeptTrace extends Omit<CallTrace, 'candidates' | 'flags'> {
  readonly candidates: readonly KeyJson[]
}

/** The arguments of a call as they were sent, or as they stood when it ended. */
export interface ArgumentsRecord {
  /** of the JSON text */
  readonly bytes: number
  /** the same for the same arguments in the same session; it tells nothing else, because its key is never written */
  readonly digest: string
  /** only where the configuration asks for it; secrets are redacted */
  readonly value?: JsonObject
}

/** Records before this one that could not be written. */
export interface GapRecord extends Line {
  readonly type: 'gap'
  readonly records: number
}

/** One line of a trace file. */
export type TraceRecord = SessionRecord | CallRecord | GapRecord
