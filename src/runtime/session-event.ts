/** What a session tells those who subscribed. */
import type { LogLevel } from '../connections/lessees.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { CallTrace } from '../hooks/trace.ts'
import type { Json } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ExecutorStatus } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ServerStatus, Tool } from './types.ts'

/** Discriminated by `type`. */
export type SessionEvent =
  | {
      readonly type: 'tools_changed'
      readonly owner: ServerKey
      readonly generation: number
      readonly added: readonly Tool[]
      readonly removed: readonly Tool[]
      /** as they are now */
      readonly changed: readonly Tool[]
    }
  | { readonly type: 'server_changed'; readonly owner: ServerKey; readonly runtimeStatus: ServerStatus['runtimeStatus'] }
  /** the machine of an environment of the session, other than this one, can be reached or not */
  | ({ readonly type: 'environment_changed'; readonly environmentId: string } & ExecutorStatus)
  | {
      readonly type: 'question'
      /** who is asked: a person about a call, a person by a server, a model by a server */
      readonly kind: 'approval' | 'elicitation' | 'sampling'
      readonly id: string
      /** null where a question of a server may belong to several calls, or to none */
      readonly callId: string | null
      readonly owner: ServerKey
      readonly state: 'asked' | 'answered' | 'withdrawn'
    }
  | { readonly type: 'settled'; readonly callId: string; readonly owner: ServerKey | null; readonly outcome: CallOutcome<Method> }
  /** the whole trace of a call that has one: after `settled`, and where taps run in shadow only when these have ended, too */
  | {
      readonly type: 'traced'
      readonly callId: string
      readonly owner: ServerKey | null
      readonly outcome: CallOutcome<Method>
      readonly trace: CallTrace
    }
  | { readonly type: 'resources_changed'; readonly owner: ServerKey }
  | { readonly type: 'prompts_changed'; readonly owner: ServerKey }
  /** a server says that what it asked for by URL is done */
  | { readonly type: 'elicitation_complete'; readonly owner: ServerKey; readonly elicitationId: string }
  /** a log message of a server, redacted */
  | { readonly type: 'log'; readonly owner: ServerKey; readonly level: LogLevel; readonly logger: string | null; readonly data: Json }
  | { readonly type: 'diagnostic'; readonly diagnostic: Diagnostic }
