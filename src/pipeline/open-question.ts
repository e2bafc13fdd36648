/** Waits for an answer to a question of a server: within a limit of its own, while the clocks of the calls that may have caused it stand still. */
import type { Connection } from '../connections/connection.ts'
import { onAbort } from '../connections/on-abort.ts'
import type { ServerRequest } from '../connections/server-request.ts'
import { TaplineError } from '../errors.ts'
import type { Governance } from '../servers/environment.ts'
import type { PipelineHost } from './host.ts'
import type { PipelineRun } from './pipeline-run.ts'

/** What a session lends to the questions of its servers. */
export interface QuestionHost
  extends Pick<
    PipelineHost,
    'sessionId' | 'environment' | 'secrets' | 'schemas' | 'approvalTimeoutMs' | 'reviewTimeoutMs' | 'report' | 'question'
  > {
  /** ends with the session */
  readonly signal: AbortSignal
  /** the calls of the session that are on their way to that connection */
  callsOn(connection: Connection): readonly PipelineRun[]
}

/** What governs a server in this session. */
export function governanceOf(host: Pick<QuestionHost, 'environment'>, { environment }: Pick<Connection, 'environment'>): Governance {
  return (host.environment(environment.id) ?? environment).governance
}

let count = 0

/** One question: what it belongs to, and how long anybody waits for it. */
export class OpenQuestion {
  readonly id: string
  readonly callId: string | null
  readonly #host: QuestionHost
  readonly #kind: 'elicitation' | 'sampling'
  readonly #connection: Connection
  readonly #request: ServerRequest
  readonly #calls: readonly PipelineRun[]

  constructor(host: QuestionHost, kind: 'elicitation' | 'sampling', connection: Connection, request: ServerRequest) {
    this.id = `${host.sessionId}.${kind}.${++count}`
    this.#host = host
    this.#kind = kind
    this.#connection = connection
    this.#request = request
    this.#calls = host.callsOn(connection)
    this.callId = this.#calls.length === 1 ? (this.#calls[0] as PipelineRun).callId : null
  }

  /** What the handler gives. Rejects with its error, or with CALL_CANCELLED (withdrawn), CALL_APPROVAL_TIMED_OUT; the handler's signal ends then too. */
  async ask<T>(handler: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { approvalTimeoutMs } = this.#host
    const withdrawn = new AbortController()
    const late = setTimeout(
      () =>
        withdrawn.abort(
          new TaplineError(
            'CALL_APPROVAL_TIMED_OUT',
            `nobody answered a question of ${this.#connection.key} within ${approvalTimeoutMs} ms`,
          ),
        ),
      approvalTimeoutMs,
    )
    let waiting = this.#calls.length
    const forget = this.#calls.map((call) => {
      call.limit.pause()
      return call.onCancel(() => {
        if (--waiting === 0) withdrawn.abort(this.#nobodyWaits())
      })
    })
    const { signal } = withdrawn
    const leave = (): void => withdrawn.abort(this.#nobodyWaits())
    const others = [this.#request.signal, this.#host.signal].map((other) => {
      if (other.aborted) leave()
      return onAbort(other, leave)
    })
    this.#tell('asked')
    try {
      const answer = await new Promise<T>((resolve, reject) => {
        const end = (): void => reject(signal.reason as Error)
        if (signal.aborted) return end()
        signal.addEventListener('abort', end, { once: true })
        // a handler that throws at once is one that rejects
        new Promise<T>((give) => give(handler(signal))).then(resolve, reject)
      })
      this.#tell('answered')
      return answer
    } catch (error) {
      this.#tell('withdrawn')
      throw error
    } finally {
      clearTimeout(late)
      for (const forgetOther of others) forgetOther()
      for (const [index, call] of this.#calls.entries()) {
        forget[index]?.()
        call.limit.resume()
      }
    }
  }

  #nobodyWaits(): TaplineError {
    return new TaplineError('CALL_CANCELLED', `the question of ${this.#connection.key} was withdrawn`)
  }

  #tell(state: 'asked' | 'answered' | 'withdrawn'): void {
    this.#host.question({ kind: this.#kind, id: this.id, callId: this.callId, owner: this.#connection.key, state })
  }
}
