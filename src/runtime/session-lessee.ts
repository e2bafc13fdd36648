/** One session as the servers of its connections see it: who answers them, and what becomes of what they say. */
import type { Connection } from '../connections/connection.ts'
import type { AnswerCapabilities, Lessee, LogLevel } from '../connections/lessees.ts'
import { LOG_LEVELS } from '../connections/lessees.ts'
import type { ServerRequest } from '../connections/server-request.ts'
import { methodNotFound, RpcFault } from '../connections/server-request.ts'
import { messageOf, TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { snapshot } from '../json.ts'
import { answerElicitation } from '../pipeline/elicitation.ts'
import type { QuestionHost } from '../pipeline/open-question.ts'
import { answerSampling } from '../pipeline/sampling.ts'
import type { SessionEvent, SessionOptions } from './types.ts'

/** Most questions of servers that are open at once; more are declined. */
const MOST_OPEN = 64
const BOTH_MODES: JsonObject = Object.freeze({ form: {}, url: {} })

/** What a session answers, as it is declared to servers: exactly where it has a handler. */
function capabilitiesOf({ onElicitation, onSampling, onRoots, declares }: SessionOptions): AnswerCapabilities {
  return Object.freeze({
    ...(onElicitation && { elicitation: declares?.elicitation ?? BOTH_MODES }),
    ...(onSampling && { sampling: declares?.sampling ?? {} }),
    ...(onRoots && { roots: { listChanged: true } }),
  })
}

export class SessionLessee implements Lessee {
  readonly id: string
  readonly capabilities: AnswerCapabilities
  readonly #host: QuestionHost
  readonly #handlers: Pick<SessionOptions, 'onElicitation' | 'onSampling' | 'onRoots'>
  readonly #emit: (event: SessionEvent) => void
  #logLevel: LogLevel | null
  #open = 0

  constructor(host: QuestionHost, options: SessionOptions, emit: (event: SessionEvent) => void) {
    this.id = host.sessionId
    this.capabilities = capabilitiesOf(options)
    this.#logLevel = options.logLevel ?? null
    this.#host = host
    this.#handlers = options
    this.#emit = emit
  }

  get logLevel(): LogLevel | null {
    return this.#logLevel
  }

  /** Throws CALL_INVALID_REQUEST. */
  setLogLevel(level: LogLevel): void {
    if (!LOG_LEVELS.includes(level)) throw new TaplineError('CALL_INVALID_REQUEST', `a log level is one of ${LOG_LEVELS.join(', ')}`)
    this.#logLevel = level
  }

  isCalling(connection: Connection): boolean {
    return this.#host.callsOn(connection).length > 0
  }

  async answer(connection: Connection, request: ServerRequest): Promise<JsonObject> {
    const { onElicitation, onSampling, onRoots } = this.#handlers
    if (this.#open >= MOST_OPEN) throw new RpcFault(-32603, 'too many questions are open')
    this.#open++
    try {
      if (request.method === 'elicitation/create' && onElicitation)
        return await answerElicitation(this.#host, onElicitation, this.capabilities.elicitation ?? {}, connection, request)
      if (request.method === 'sampling/createMessage' && onSampling)
        return await answerSampling(this.#host, onSampling, connection, request)
      if (request.method === 'roots/list' && onRoots) {
        const { signal } = request
        return { roots: snapshot(await onRoots({ owner: connection.key, signal })) }
      }
    } catch (error) {
      if (error instanceof RpcFault) throw error
      const message = `${request.method} of ${connection.key} was not answered: ${messageOf(error)}`
      this.#host.report({ code: 'question_failed', severity: 'warning', message, owner: connection.key })
      throw error
    } finally {
      this.#open--
    }
    throw methodNotFound()
  }

  unroutable(connection: Connection, request: ServerRequest): JsonObject {
    const { code, message } = new TaplineError(
      'ELICITATION_UNROUTABLE',
      `${connection.key} asked ${request.method} while calls of several sessions were running on its shared connection: nobody was asked`,
    )
    this.#host.report({ code, severity: 'warning', message, owner: connection.key })
    if (request.method === 'elicitation/create') return { action: 'decline' }
    throw new RpcFault(-32603, 'the request fits calls of several sessions')
  }

  noticed(connection: Connection, method: string, params: JsonObject): void {
    const owner = connection.key
    if (method === 'notifications/resources/list_changed') this.#emit({ type: 'resources_changed', owner })
    else if (method === 'notifications/prompts/list_changed') this.#emit({ type: 'prompts_changed', owner })
    else if (method === 'notifications/elicitation/complete') {
      const { elicitationId } = params
      if (typeof elicitationId === 'string') this.#emit({ type: 'elicitation_complete', owner, elicitationId })
    } else if (method === 'notifications/message') this.#log(connection, params)
  }

  #log({ key }: Connection, { level, logger, data = null }: JsonObject): void {
    const severity = LOG_LEVELS.find((one) => one === level) ?? 'info'
    if (this.logLevel !== null && LOG_LEVELS.indexOf(severity) < LOG_LEVELS.indexOf(this.logLevel)) return
    const { secrets } = this.#host
    this.#emit({
      type: 'log',
      owner: key,
      level: severity,
      logger: typeof logger === 'string' ? secrets.redact(logger) : null,
      data: secrets.redactJson(data),
    })
  }
}
