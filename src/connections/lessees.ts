/** The sessions behind one connection: who is asked when its server asks, and who hears what it says. */
import type { JsonObject } from '../json.ts'
import type { Connection } from './connection.ts'
import { rootsOf } from './roots.ts'
import type { ServerRequest } from './server-request.ts'
import { methodNotFound } from './server-request.ts'

/** Severities of MCP logging, least first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What a session answers, as it is declared to servers; a member that is left out is not answered. */
export interface AnswerCapabilities {
  readonly elicitation?: JsonObject
  readonly sampling?: JsonObject
  /** roots of the session's own, for environments whose folders nobody wrote down */
  readonly roots?: JsonObject
}

/** One session as the servers of its connections see it. */
export interface Lessee {
  /** id of the session */
  readonly id: string
  readonly capabilities: AnswerCapabilities
  /** least severity that it wants of logs; null: whatever servers send */
  readonly logLevel: LogLevel | null
  /** true while a request of the session is on its way to that connection */
  isCalling(connection: Connection): boolean
  /** Rejects with an RpcFault. */
  answer(connection: Connection, request: ServerRequest): Promise<JsonObject>
  /** A question that fits calls of several sessions: nobody is asked. Gives what the server is told. */
  unroutable(connection: Connection, request: ServerRequest): JsonObject
  /** a notification of the server */
  noticed(connection: Connection, method: string, params: JsonObject): void
}

const CAPABILITY: Readonly<Record<string, 'elicitation' | 'sampling' | 'roots'>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** Those who lease one connection. One session may be there twice. */
export class Lessees {
  readonly #connection: Connection
  readonly #declared: JsonObject
  readonly #all = new Map<object, Lessee>()

  constructor(connection: Connection, declared: JsonObject) {
    this.#connection = connection
    this.#declared = declared
  }

  /** Gives what takes it off again. */
  add(lessee: Lessee): () => void {
    const lease = {}
    this.#all.set(lease, lessee)
    return () => void this.#all.delete(lease)
  }

  /** the least severity that somebody wants; null: nobody says */
  get logLevel(): LogLevel | null {
    const wanted = [...this.#all.values()].flatMap(({ logLevel }) => (logLevel === null ? [] : [LOG_LEVELS.indexOf(logLevel)]))
    return wanted.length === 0 ? null : (LOG_LEVELS[Math.min(...wanted)] ?? null)
  }

  noticed(method: string, params: JsonObject): void {
    for (const lessee of new Set(this.#all.values())) lessee.noticed(this.#connection, method, params)
  }

  /** Rejects with an RpcFault for what was not declared. */
  async answer(request: ServerRequest): Promise<JsonObject> {
    const capability = Object.hasOwn(CAPABILITY, request.method) ? CAPABILITY[request.method]! : null
    if (capability === null || this.#declared[capability] === undefined) throw methodNotFound()
    const { environment } = this.#connection
    if (capability === 'roots' && environment.spec.hasRoots === true) return { roots: rootsOf(environment) }
    const sessions = [...new Set(this.#all.values())]
    const [one, ...others] = sessions.length > 1 ? sessions.filter((lessee) => lessee.isCalling(this.#connection)) : sessions
    if (one === undefined) throw methodNotFound()
    return others.length > 0 ? one.unroutable(this.#connection, request) : one.answer(this.#connection, request)
  }
}
