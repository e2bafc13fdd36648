/** What the pipeline needs from a session; the session implements it. */
import type { Connection } from '../connections/connection.ts'
import type { CallRun, RunContext } from '../hooks/call-run.ts'
import type { DeadlineWheel } from '../hooks/deadline-wheel.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { CallTrace } from '../hooks/trace.ts'
import type { LauncherProbe } from '../launcher-probe.ts'
import type { Method } from '../mcp.ts'
import type { Secrets } from '../secrets.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ApprovalMemory } from './approval-memory.ts'
import type { Approver } from './approver.ts'
import type { Resolver } from './resolver.ts'
import type { SealedCalls } from './sealed-calls.ts'
import type { SchemaChecker } from './tool-schema.ts'

/** A call at its end. */
export type EndedRun = Pick<CallRun, 'id' | 'method' | 'arguments' | 'trace'> & { readonly began: number }

/** Told of every call once it has its outcome; must not throw. */
export interface CallRecorder {
  settled(run: EndedRun, outcome: CallOutcome<Method>): void
}

/** One session, as its calls see it. */
export interface PipelineHost extends RunContext {
  readonly resolver: Resolver
  readonly sealed: SealedCalls
  readonly catalogGeneration: number
  /** ids of the selected environments */
  readonly selected: readonly string[]
  /** the session's handle of a visible server; starts nothing */
  connection(entry: CatalogEntry): Connection
  /** the instance that this session has for an id, or undefined */
  environment(id: string): Environment | undefined
  readonly approver: Approver | null
  /** ms to wait for a person */
  readonly approvalTimeoutMs: number
  /** ms to wait for a reviewer */
  readonly reviewTimeoutMs: number
  readonly memory: ApprovalMemory
  readonly probe: LauncherProbe
  readonly schemas: SchemaChecker
  readonly secrets: Secrets
  readonly wheel: DeadlineWheel
  /** collect a trace for every call */
  readonly traceAll: boolean
  /** keeps records of calls somewhere; null: nobody does */
  readonly recorder: CallRecorder | null
  report(diagnostic: Diagnostic): void
  /** reports only the first one under an id */
  reportOnce(id: string, diagnostic: Diagnostic): void
  question(event: {
    readonly kind: 'approval' | 'elicitation' | 'sampling'
    readonly id: string
    readonly callId: string | null
    readonly owner: ServerKey
    readonly state: 'asked' | 'answered' | 'withdrawn'
  }): void
  settled(outcome: CallOutcome<Method>): void
  /** the whole trace of a call that has one: once, after `settled`, and where taps run in shadow only when these have ended, too */
  traced(event: {
    readonly callId: string
    readonly owner: ServerKey | null
    readonly outcome: CallOutcome<Method>
    readonly trace: CallTrace
  }): void
}
