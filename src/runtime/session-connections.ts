/** The leases of one session: one connection for each visible server, taken on first use and given back at the end. */
import type { Connection } from '../connections/connection.ts'
import type { Lessee } from '../connections/lessees.ts'
import type { ConnectionPool, Lease } from '../connections/pool.ts'
import { TaplineError } from '../errors.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import type { Environment } from '../servers/environment.ts'
import type { ServerKey } from '../servers/key.ts'

interface Held {
  readonly lease: Lease
  readonly subscription: Disposable
}

export interface SessionConnectionsOptions {
  readonly pool: ConnectionPool
  readonly lessee: Lessee
  readonly environment: (id: string) => Environment | undefined
  /** called after every change of a connection, and once where its tools are there already */
  readonly onChange: (entry: CatalogEntry, connection: Connection, isNew: boolean) => void
}

/** What a session holds. */
export class SessionConnections implements Iterable<Connection> {
  readonly #options: SessionConnectionsOptions
  readonly #held = new Map<ServerKey, Held>()

  constructor(options: SessionConnectionsOptions) {
    this.#options = options
  }

  /** The connection of a server; starts nothing. Throws ENVIRONMENT_UNKNOWN. */
  get(entry: CatalogEntry): Connection {
    return this.#held.get(entry.key)?.lease.connection ?? this.#take(entry)
  }

  /** The connection of a server where this session, or the pool for all sessions, has one; starts nothing. */
  peek(entry: CatalogEntry): Connection | null {
    const held = this.#held.get(entry.key)
    if (held !== undefined) return held.lease.connection
    const environment = this.#options.environment(entry.registration.executesOn)
    return environment !== undefined && this.#options.pool.has(entry.key, environment) ? this.#take(entry) : null
  }

  /** True where this session has the server running. */
  isAlive(key: ServerKey): boolean {
    const state = this.#held.get(key)?.lease.connection.state
    return state === 'starting' || state === 'connected'
  }

  *[Symbol.iterator](): Iterator<Connection> {
    for (const { lease } of this.#held.values()) yield lease.connection
  }

  /** Servers that were given roots of the session ask again. */
  rootsChanged(): void {
    if (this.#options.lessee.capabilities.roots === undefined) return
    for (const connection of this) if (connection.environment.spec.hasRoots !== true) connection.notify('notifications/roots/list_changed')
  }

  release(): void {
    for (const { lease, subscription } of this.#held.values()) {
      subscription[Symbol.dispose]()
      lease.release()
    }
    this.#held.clear()
  }

  #take(entry: CatalogEntry): Connection {
    const { pool, lessee, environment: find, onChange } = this.#options
    const { key, registration } = entry
    const environment = find(registration.executesOn)
    if (environment === undefined)
      throw new TaplineError(
        'ENVIRONMENT_UNKNOWN',
        `server ${key} runs on the environment "${registration.executesOn}", which is not declared`,
      )
    const lease = pool.lease({ key, registration, environment, lessee })
    const { connection } = lease
    this.#held.set(key, { lease, subscription: connection.subscribe(() => onChange(entry, connection, false)) })
    connection.applyLogLevel()
    if (connection.tools !== null) onChange(entry, connection, true)
    return connection
  }
}
