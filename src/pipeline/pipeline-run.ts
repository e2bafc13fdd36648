/** A call with what the pipeline's own parts keep about it. */
import type { Connection } from '../connections/connection.ts'
import { CallArguments } from '../hooks/call-arguments.ts'
import { CallRun } from '../hooks/call-run.ts'
import type { CallOutcome, PipelineHook } from '../hooks/outcome.ts'
import { TraceRecorder } from '../hooks/trace-recorder.ts'
import type { Method } from '../mcp.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { CallLimit } from './call-limit.ts'
import type { PipelineHost } from './host.ts'
import { PhaseClock } from './phase-clock.ts'
import type { CallOptions, PipelineRequest } from './request.ts'
import type { ResolverContext } from './resolver.ts'

/** The states that only the pipeline's own taps read and write. */
export class PipelineRun extends CallRun implements ResolverContext {
  readonly host: PipelineHost
  readonly request: PipelineRequest
  readonly options: CallOptions
  /** the id that the caller knows the call by */
  readonly callId: string
  /** stop before anything is asked or sent */
  readonly isExplanation: boolean
  readonly began: number = performance.now()
  readonly clock: PhaseClock | null
  /** where the call is: what a time-out names */
  phase: 'start' | PipelineHook = 'resolve'
  /** the launcher that passed the probe, or null */
  launcher: string | null = null
  /** an explanation got as far as the question to a person */
  wouldAsk = false
  /** among the running calls of the session */
  place = 0
  // set by the pipeline before the call starts
  onLimit: (run: PipelineRun) => void = nothing
  /** takes the outcome; null where an explanation is complete */
  onEnd: (outcome: CallOutcome<Method> | null) => void = nothing
  /** takes the listener back from the caller's signal */
  forgetCaller: (() => void) | null = null
  #limit: CallLimit | null = null

  /** Throws CALL_INVALID_REQUEST for arguments that are not an object. */
  constructor(id: string, host: PipelineHost, request: PipelineRequest, options: CallOptions, isTraced: boolean, isExplanation: boolean) {
    super(
      id,
      request.method,
      new CallArguments(request.arguments),
      host,
      isTraced ? new TraceRecorder(host.flags, (text) => host.secrets.redact(text)) : null,
    )
    this.host = host
    this.request = request
    this.options = options
    this.callId = options.callId ?? id
    this.isExplanation = isExplanation
    this.clock = this.trace === null ? null : new PhaseClock(this.trace)
  }

  /** Made on first use: most calls have none. */
  get limit(): CallLimit {
    return (this.#limit ??= new CallLimit(this.host.wheel))
  }

  /** The call is over, and so is its limit. */
  stopLimit(): void {
    this.#limit?.stop()
  }

  connection(entry: CatalogEntry): Connection {
    return this.host.connection(entry)
  }

  /** Starts the clock of the whole call: the caller's limit, else the server's. Called again it does nothing. */
  startLimit(serverLimitMs: number | null = null): void {
    const ms = this.options.timeoutMs ?? serverLimitMs
    if (ms !== null && ms !== undefined) this.limit.start(ms, () => this.onLimit(this))
  }
}

const nothing = (): void => {}
