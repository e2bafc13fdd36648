/** One call on its way through the hooks: the state that the core may change and no tap can reach. */
import type { Cancellation } from '../connections/connection.ts'
import { TaplineError } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { Secrets } from '../secrets.ts'
import type { CallArguments } from './call-arguments.ts'
import type { ServerKey } from '../servers/key.ts'
import type { SealedCall } from './sealed-call.ts'
import type { ShadowCall } from './shadow-call.ts'
import type { TraceRecorder } from './trace-recorder.ts'
import type { VerdictKind } from '../verdicts.ts'

/** Why whatever is left of an ended call must stop. */
const OVER = new TaplineError('CALL_CANCELLED', 'the call has ended')

/** One verdict that counted. */
export interface Vote {
  readonly kind: VerdictKind
  readonly text: string | undefined
  readonly tap: string
  readonly plugin: string
}

/** What a session lends to its calls. */
export interface RunContext {
  readonly sessionId: string
  readonly flags: SealedCall['flags']
  readonly secrets: Pick<Secrets, 'redact'>
  log(line: string): void
  /** a tap wrote to an ownership field after it had settled: nothing changed, but somebody should know */
  lateWrite(callId: string, tap: string, plugin: string, key: string): void
}

/** The sealed call of a run past its resolver, read where no property of the run can hide it: what is sent depends on it. */
export let sealedCallOf: (run: CallRun) => SealedCall

/** State of a running call. */
export class CallRun implements Cancellation {
  readonly id: string
  readonly method: Method
  readonly context: RunContext
  readonly arguments: CallArguments
  readonly trace: TraceRecorder | null
  /** who and what is meant, as soon as that is known: a server that does not start has an owner too */
  located: { readonly owner: ServerKey; readonly tool: string | null } | null = null
  votes: Vote[] | null = null
  /** keys of `_meta`: key → value and the plugin that set it; null: the caller */
  patch: Map<string, { readonly value: Json; readonly by: { readonly plugin: string; readonly instance: object } | null }> | null = null
  sent: 'no' | 'yes' | 'unknown' = 'no'
  /** what taps want to have said to the model beside the result */
  additionalContext: string[] | null = null
  /** the call has its outcome: whatever still runs must not do anything any more */
  ended: TaplineError | null = null
  /** an attempt on the owner: it ends the call even where another tap swallowed it */
  violation: TaplineError | null = null
  /** what waits for a tap at the moment; told when the call ends, so that no clock runs on */
  waiting: { abandon(): void } | null = null
  /** what runs in shadow beside it; null where nothing ever did */
  shadow: ShadowCall | null = null
  #call: SealedCall | null = null
  #controller: AbortController | null = null
  #listeners: Set<() => void> | null = null

  static {
    sealedCallOf = (run: CallRun): SealedCall => run.#call as SealedCall
  }

  constructor(id: string, method: Method, args: CallArguments, context: RunContext, trace: TraceRecorder | null) {
    this.id = id
    this.method = method
    this.arguments = args
    this.context = context
    this.trace = trace
  }

  /** What its taps are told: whether what they say takes effect. */
  get mode(): 'shadow' | 'enforce' {
    return 'enforce'
  }

  /** Set by the resolver, before any plugin's tap runs. */
  get call(): SealedCall | null {
    return this.#call
  }

  /** The sealed call; only for code that runs after the resolver. */
  get sealed(): SealedCall {
    return this.#call as SealedCall
  }

  /** Decides the owner, once. */
  seal(call: SealedCall): void {
    if (this.#call !== null) throw new TaplineError('INTERNAL', `call ${this.id} was about to be resolved twice`)
    this.#call = call
  }

  /** Throws what ended the call, or the attempt on its owner, where there was one. */
  assertRunning(): void {
    if (this.violation !== null) throw this.violation
    if (this.ended !== null) throw this.ended
  }

  /** Ends with the call; made on first read. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.ended !== null) this.#controller.abort(this.ended)
    return this.#controller.signal
  }

  get isCancelled(): boolean {
    return this.ended !== null
  }

  /** Tells when the call ends, without a signal: one costs more than all the rest of a call. */
  onCancel(listener: () => void): () => void {
    const listeners = (this.#listeners ??= new Set())
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Marks the call as ended: what still runs is told through signal and listeners. */
  end(reason: TaplineError = OVER): void {
    if (this.ended !== null) return
    this.ended = reason
    this.#controller?.abort(reason)
    if (this.#listeners !== null) for (const listener of this.#listeners) listener()
    this.waiting?.abandon()
  }
}
