/** The connections of one runtime: one for each server and connection identity, shared by everybody who leases it. */
import type { JsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'
import type { Connection } from './connection.ts'
import { answersItself, declaredCapabilities, identityText } from './connection-identity.ts'
import { ExecutorPool } from './executor-pool.ts'
import type { ExecutorDefinition } from './executor.ts'
import type { Lessee } from './lessees.ts'
import { LONGEST_DELAY } from './pending-request.ts'
import { ServerConnection } from './server-connection.ts'
import { StartGate } from './start-gate.ts'
import { Watchdog } from './watchdog.ts'

/** Starts at once. */
const START_WIDTH = 16

export interface PoolOptions {
  /** by kind */
  readonly executors: ReadonlyMap<string, ExecutorDefinition>
  readonly secrets: Secrets
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** ms without a lease after which a connection is closed; Infinity: never */
  readonly idleCloseMs: number
  readonly onDiagnostic: (diagnostic: Diagnostic) => void
  /** ms between the steps of closing a server; default 2,000 */
  readonly graceMs?: number
  /** bytes of one frame; default 64 MiB */
  readonly frameLimit?: number
}

export interface LeaseRequest {
  readonly key: ServerKey
  /** launch and environment decide which connection it is; the time limits of the last lease count */
  readonly registration: ServerRegistration
  /** where it executes */
  readonly environment: Environment
  /** the session that is asked and told what the server asks and tells; left out: nobody */
  readonly lessee?: Lessee
}

/** A share in a connection. */
export interface Lease {
  readonly connection: Connection
  /** Gives it back; a second time does nothing. */
  release(): void
}

interface Entry {
  readonly connection: ServerConnection
  readonly key: ServerKey
  readonly identity: string
  leases: number
  timer: ReturnType<typeof setTimeout> | null
}

/** Hands out connections. Starts nothing by itself: the first `ready()` does. */
export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #entries = new Map<ServerKey, Map<string, Entry>>()
  /** where servers run */
  readonly places: ExecutorPool
  readonly #retired = new WeakSet<Environment>()
  readonly #gate = new StartGate(START_WIDTH)
  readonly #watchdog: Watchdog
  readonly #leaving = new Set<Promise<void>>()
  #count = 0
  #closing: Promise<void> | null = null

  constructor(options: PoolOptions) {
    this.#options = options
    this.#watchdog = new Watchdog((line) => options.onDiagnostic({ code: 'watchdog', severity: 'warning', message: line }))
    const redact = (text: string): string => options.secrets.redact(text)
    this.places = new ExecutorPool({
      executors: options.executors,
      watch: this.#watchdog,
      onLocal: () => this.#watchdog.start(),
      log: ({ id }, line) => options.onDiagnostic({ code: 'executor', severity: 'info', message: `environment ${id}: ${redact(line)}` }),
      redact,
    })
  }

  /** A share in the connection of this identity. After `close`, its `ready()` rejects with SESSION_CLOSED. */
  lease(request: LeaseRequest): Lease {
    const { key, registration, environment, lessee } = request
    const answers = lessee?.capabilities ?? {}
    const isShared = registration.policy.sharing === 'runtime' || !answersItself(environment, answers)
    const capabilities = declaredCapabilities(environment, answers)
    const identity = identityText({
      launch: registration.launch,
      environment,
      capabilities,
      session: isShared ? null : (lessee?.id ?? null),
    })
    let entries = this.#entries.get(key)
    if (!entries) this.#entries.set(key, (entries = new Map<string, Entry>()))
    let entry = entries.get(identity)
    if (entry) entry.connection.update(registration)
    else entries.set(identity, (entry = { connection: this.#connection(request, capabilities), key, identity, leases: 0, timer: null }))
    if (entry.timer) clearTimeout(entry.timer)
    entry.timer = null
    entry.leases++
    return this.#lease(entry, lessee, isShared)
  }

  /** Lets go of the executor of an environment that was replaced, once nobody is connected there any more. */
  retire(environment: Environment): void {
    const isUsed = this.#at(environment).length > 0
    if (isUsed) this.#retired.add(environment)
    else void this.places.retire(environment)
  }

  /** Ends every connection of an environment and lets go of its executor. Never rejects. */
  async drop(environment: Environment): Promise<void> {
    for (const entry of this.#at(environment)) this.#leave(entry)
    await Promise.all(this.#leaving)
    await this.places.retire(environment)
  }

  #at(environment: Environment): readonly Entry[] {
    return [...this.#entries.values()].flatMap((entries) =>
      [...entries.values()].filter(({ connection }) => connection.environment === environment),
    )
  }

  /** Watches a process group that somebody else started: it ends with this process. Gives what takes it off the list. */
  watch(group: number): () => void {
    this.#watchdog.add(group)
    return () => this.#watchdog.delete(group)
  }

  /** True where there is a connection to this server on this environment instance, whatever its state. */
  has(key: ServerKey, environment: Environment): boolean {
    return [...(this.#entries.get(key)?.values() ?? [])].some(({ connection }) => connection.environment === environment)
  }

  *connections(): Iterable<Connection> {
    for (const entries of this.#entries.values()) for (const { connection } of entries.values()) yield connection
  }

  /** Closes every connection at once, then the executors, then the watchdog. Never rejects; later callers join. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #lease(entry: Entry, lessee: Lessee | undefined, isShared: boolean): Lease {
    const forget = lessee && entry.connection.lessees.add(lessee)
    let released = false
    return {
      connection: entry.connection,
      release: () => {
        if (released) return
        released = true
        forget?.()
        entry.leases--
        const { idleCloseMs } = this.#options
        if (entry.leases > 0 || this.#closing) return
        // nobody else can ever have it
        if (!isShared) this.#leave(entry)
        else if (Number.isFinite(idleCloseMs)) {
          entry.timer = setTimeout(() => this.#leave(entry), Math.min(idleCloseMs, LONGEST_DELAY))
          entry.timer.unref()
        }
      },
    }
  }

  #leave(entry: Entry): void {
    const entries = this.#entries.get(entry.key)
    entries?.delete(entry.identity)
    if (entries?.size === 0) this.#entries.delete(entry.key)
    const left = entry.connection.close()
    this.#leaving.add(left)
    void left.finally(() => {
      this.#leaving.delete(left)
      if (this.#retired.has(entry.connection.environment)) this.retire(entry.connection.environment)
    })
  }

  #connection({ key, registration, environment }: LeaseRequest, capabilities: JsonObject): ServerConnection {
    const { secrets, clientInfo, onDiagnostic, graceMs, frameLimit } = this.#options
    const connection = new ServerConnection({
      id: `c${++this.#count}`,
      key,
      environment,
      registration,
      secrets,
      clientInfo,
      capabilities,
      onDiagnostic,
      executor: () => this.places.get(environment),
      enter: () => this.#gate.enter(),
      ...(graceMs !== undefined && { graceMs }),
      ...(frameLimit !== undefined && { frameLimit }),
    })
    if (this.#closing) void connection.close()
    return connection
  }

  async #close(): Promise<void> {
    const all = [...this.#entries.values()].flatMap((entries) => [...entries.values()])
    for (const { timer } of all) if (timer) clearTimeout(timer)
    await Promise.all([...all.map(({ connection }) => connection.close()), ...this.#leaving])
    await this.places.close()
    await this.#watchdog.close()
  }
}
