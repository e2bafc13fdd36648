/** One request that was sent: its limits, its caller's signal, and how it ended. */
import { TaplineError, isTaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { RequestOptions } from './connection.ts'
import type { Answer, RpcError } from './loose-transport.ts'
import { TOO_LONG_CODE } from './loose-transport.ts'
import { onAbort } from './on-abort.ts'
import { printable, seconds } from './printable.ts'

/** Longest delay of a timer of Node; a larger one would fire at once. */
export const LONGEST_DELAY: number = 2 ** 31 - 1

/** Questions of the server that somebody is being asked. While there is one, what the server has to do waits for a person. */
export interface OpenQuestions {
  readonly open: number
  /** `performance.now()` when the last one was closed */
  readonly closedAt: number
}

/** What a request needs to know about its server. */
export interface RequestContext {
  readonly label: string
  redact(text: string): string
  /** why the connection is gone */
  endError(): TaplineError
}

type Parsed = { readonly success: true; readonly data: JsonObject } | { readonly success: false; readonly error: TaplineError }

/**
 * Stands in for the signal and the result schema that the SDK wants with every request: of a signal it uses the four members here,
 * of a schema `safeParse`. A real AbortSignal costs more than the rest of the request, and the SDK never takes its listener back,
 * so that an abort after the answer would send a cancel notice.
 */
export class PendingRequest {
  aborted = false
  readonly reason = 'cancelled'
  readonly #context: RequestContext
  readonly #method: string
  readonly #questions: OpenQuestions
  readonly #idleMs: number
  #idle: ReturnType<typeof setTimeout>
  #cancel: (() => void) | null = null
  #error: TaplineError | null = null
  #total: ReturnType<typeof setTimeout> | null = null
  #forget: (() => void) | null = null
  #settled = false

  constructor(context: RequestContext, questions: OpenQuestions, method: string, options: RequestOptions) {
    this.#context = context
    this.#questions = questions
    this.#method = method
    const { cancellation, idleTimeoutMs, totalTimeoutMs } = options
    this.#idleMs = Math.min(Math.max(idleTimeoutMs, 0), LONGEST_DELAY)
    this.#idle = setTimeout(this.#idled, this.#idleMs)
    const cancel = (): void =>
      this.#end(new TaplineError('CALL_CANCELLED', `${method} to ${context.label} was cancelled`, { data: { sent: 'unknown' } }))
    if (cancellation !== undefined) this.#forget = cancellation.onCancel(cancel)
    else if (options.signal !== undefined) this.#forget = onAbort(options.signal, cancel)
    if (totalTimeoutMs != null)
      this.#total = setTimeout(
        () => this.#end(this.#timedOut('total', totalTimeoutMs)),
        Math.min(Math.max(totalTimeoutMs, 0), LONGEST_DELAY),
      )
  }

  throwIfAborted(): void {}

  /** The server has made progress: the idle limit begins anew. */
  heard(): void {
    if (!this.#settled) this.#idle.refresh()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#cancel = listener
  }

  safeParse(answer: Answer): Parsed {
    this.#settle()
    const { error, result, failure } = answer
    if (failure) return { success: false, error: failure }
    if (error) return { success: false, error: this.#serverError(error) }
    if (isJsonObject(result)) return { success: true, data: result }
    return {
      success: false,
      error: new TaplineError('SERVER_FAILED', `${this.#context.label} answered ${this.#method} with a result that is no object`),
    }
  }

  /** The error of ours for whatever the SDK rejected with. Server errors never come this way: they arrive as an answer. */
  failed(error: unknown): TaplineError {
    this.#settle()
    if (this.#error) return this.#error
    return isTaplineError(error) ? error : this.#context.endError()
  }

  /** A server that waits for an answer of ours is not idle; its clock starts again when the last question is closed. */
  readonly #idled = (): void => {
    const { open, closedAt } = this.#questions
    const waited = open > 0 ? 0 : performance.now() - closedAt
    if (waited >= this.#idleMs) this.#end(this.#timedOut('idle', this.#idleMs))
    else this.#idle = setTimeout(this.#idled, this.#idleMs - waited)
  }

  #end(error: TaplineError): void {
    if (this.#settled) return
    this.#settle()
    this.#error = error
    this.aborted = true
    this.#cancel?.()
  }

  #settle(): void {
    this.#settled = true
    clearTimeout(this.#idle)
    this.#forget?.()
    this.#forget = null
    if (this.#total !== null) clearTimeout(this.#total)
    this.#total = null
  }

  #timedOut(phase: 'idle' | 'total', limitMs: number): TaplineError {
    const how =
      phase === 'idle' ? `gave no answer and no progress for ${seconds(limitMs)}` : `did not end within its limit of ${seconds(limitMs)}`
    return new TaplineError('CALL_TIMED_OUT', `${this.#method} to ${this.#context.label} ${how}`, {
      data: { phase, limitMs, sent: 'unknown' },
    })
  }

  #serverError({ code, message, data }: RpcError): TaplineError {
    const { label, redact } = this.#context
    if (code === TOO_LONG_CODE)
      return new TaplineError('SERVER_FAILED', `${label} answered ${this.#method} with a frame over the limit of ${message}`, {
        data: { limit: message, sent: 'yes' },
      })
    return new TaplineError('SERVER_FAILED', `${label} refused ${this.#method}: ${printable(redact(message), 2000)} (${code})`, {
      data: { rpcCode: code, ...readable(data, redact) },
    })
  }
}

/** The data of a server error, redacted, where it is small. */
function readable(data: unknown, redact: (text: string) => string): { readonly rpcData?: Json } {
  if (data === undefined) return {}
  try {
    const text = JSON.stringify(data)
    if (text.length > 8192) return {}
    return { rpcData: JSON.parse(redact(text)) as Json }
  } catch {
    // nested too deeply, or the redaction broke it
    return {}
  }
}
