/** What a host says when it opens a session. */
import type { LogLevel } from '../connections/lessees.ts'
import type { EvaluationContext } from '../flags/openfeature.ts'
import type { JsonObject } from '../json.ts'
import type { Approver } from '../pipeline/approver.ts'
import type { Governance } from '../servers/environment.ts'
import type { RuntimeEnvironment } from './take-executors.ts'
import type { TraceOption } from './trace-option.ts'
import type { Elicitor, RootsProvider, Sampler } from '../pipeline/elicitor.ts'

/** An id: as the runtime has it. With permissions, policy or reviewer: the runtime's, governed otherwise in this session. A definition: an environment of this session alone. */
export type SessionEnvironment =
  | string
  | ({
      readonly id: string
      readonly executor?: never
      readonly cwd?: never
      readonly mcpServers?: never
      readonly pluginRoots?: never
      readonly discover?: never
    } & Partial<Governance>)
  | ({ readonly id: string } & RuntimeEnvironment)

/** Options of one session. */
export interface SessionOptions {
  /** default: a random one */
  readonly id?: string
  /** ordered, the first is primary; default: the configuration's selection. Unknown ids throw ENVIRONMENT_UNKNOWN, wrong entries CALL_INVALID_REQUEST or CONFIG_INVALID */
  readonly environments?: readonly SessionEnvironment[]
  readonly approver?: Approver
  /** Answers what servers ask a person. With it, servers are told so, and this session has stdio processes of its own */
  readonly onElicitation?: Elicitor
  /** Answers what servers ask a model; for the rest as `onElicitation` */
  readonly onSampling?: Sampler
  /** Folders for servers of environments whose own (`cwd`, `extraRoots`) are not written down; for the rest as `onElicitation` */
  readonly onRoots?: RootsProvider
  /** what is declared to servers for a handler, word for word; default `{ form: {}, url: {} }` for elicitation, `{}` for sampling */
  readonly declares?: { readonly elicitation?: JsonObject; readonly sampling?: JsonObject }
  /** least severity of log messages that servers are asked for; default: whatever they send */
  readonly logLevel?: LogLevel
  /** ms to wait for a person or a model; default 600,000 */
  readonly approvalTimeoutMs?: number
  /** ms to wait for the reviewer of an environment; default 60,000 */
  readonly reviewTimeoutMs?: number
  /** attributes that decide the flags of this session, beside `sessionId`, `environmentIds` and `version`; `targetingKey` is who a roll-out is decided for */
  readonly evaluationContext?: EvaluationContext
  /** true: every outcome carries its trace. An object: records of calls go there, in place of where the runtime sends them */
  readonly trace?: TraceOption
  /** closes the session */
  readonly signal?: AbortSignal
}
