/** Lists of tools on disk: what servers offered when they last ran, so that a session can show tools without starting anything. */
import { randomBytes } from 'node:crypto'
import { messageOf } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Store, StoreEntry } from '../storage/store.ts'
import { contentOf, inventoryName, readEntry, writeEntry } from './inventory-entry.ts'
import type { CachedTools, InventoryServer } from './inventory-entry.ts'

/** ms after which an entry is gone, and after which one that still holds is written again. */
const LIFE_MS = 30 * 24 * 3600 * 1000
const RENEW_MS = 24 * 3600 * 1000
/** ms from the first list to the write, so that those of one start are written together. */
const SOON_MS = 200
/** Characters of one entry; a longer list is not kept. Entries and characters in all; the oldest go first. */
const LONGEST_ENTRY = 4 * 1024 * 1024
const MOST_ENTRIES = 2000
const MOST_TEXT = 64 * 1024 * 1024
/** The key of the hash, among the secrets of the store. */
const KEY = { area: 'tokens', name: 'inventory/key' } as const

export interface InventoryOptions {
  readonly store: Store
  readonly secrets: Secrets
  readonly report: (diagnostic: Diagnostic) => void
}

/** The inventory of one runtime. Nothing here rejects: a store that does not work costs the inventory and nothing else. */
export class Inventory {
  readonly #options: InventoryOptions
  readonly #pending = new Map<InventoryServer['registration'], InventoryServer & CachedTools>()
  #key: string | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(options: InventoryOptions) {
    this.#options = options
  }

  /** Takes a live list over; it is written a little later, and where it says something new. */
  note(server: InventoryServer, tools: CachedTools['tools'], instructions: string | null): void {
    this.#pending.set(server.registration, { ...server, tools, instructions, at: Date.now() })
    this.#timer ??= setTimeout(() => void this.flush(), SOON_MS)
    this.#timer.unref()
  }

  /** The lists of those servers that have one, in one look at the store. */
  async read<S extends InventoryServer>(servers: readonly S[]): Promise<ReadonlyMap<S, CachedTools>> {
    const found = new Map<S, CachedTools>()
    try {
      const key = await this.#readKey(false)
      if (key === null) return found
      const entries = await this.#entries()
      for (const server of servers) {
        const entry = entries.get(inventoryName(key, server))
        const cached = entry === undefined ? null : readEntry(entry.value)
        if (cached !== null && cached.at <= Date.now()) found.set(server, cached)
        else if (entry !== undefined)
          this.#report('inventory_unreadable', 'the list of a server in the inventory cannot be read; it counts as not there')
      }
    } catch (error) {
      this.#report('inventory_failed', `the inventory cannot be read: ${messageOf(error)}`)
    }
    return found
  }

  /** Writes what is waiting. Never rejects. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#pending.size > 0) {
      const pending = [...this.#pending.values()]
      this.#pending.clear()
      this.#writing = this.#writing.then(() =>
        this.#write(pending).catch((error: unknown) =>
          this.#report('inventory_failed', `the inventory cannot be written: ${messageOf(error)}`),
        ),
      )
    }
    return this.#writing
  }

  async #write(pending: readonly (InventoryServer & CachedTools)[]): Promise<void> {
    const { store, secrets } = this.#options
    const key = (await this.#readKey(false)) ?? (await this.#readKey(true))
    if (key === null) return
    const entries = await this.#entries()
    const changed = new Map<string, string>()
    for (const one of pending) {
      const name = inventoryName(key, one)
      const text = writeEntry(one, (value) => secrets.redactJson(value))
      if (text.length > LONGEST_ENTRY) continue
      const known = entries.get(name)
      if (known !== undefined && contentOf(known.value) === contentOf(text) && one.at - timeOf(known) < RENEW_MS) continue
      changed.set(name, text)
    }
    if (changed.size === 0) return
    const outdated = surplus(entries, changed)
    await Promise.all([
      ...[...changed].map(([name, text]) => store.put('inventory', name, text, { ttlMs: LIFE_MS })),
      ...outdated.map((name) => store.delete('inventory', name)),
    ])
  }

  async #entries(): Promise<Map<string, StoreEntry>> {
    const entries = new Map<string, StoreEntry>()
    for await (const entry of this.#options.store.list('inventory')) entries.set(entry.key, entry)
    return entries
  }

  /** null: there is none yet, and none is wanted. Remembered once there is one: every process has the one that was first. */
  async #readKey(isWanted: boolean): Promise<string | null> {
    if (this.#key !== null) return this.#key
    const { store } = this.#options
    const made = isWanted ? await store.put(KEY.area, KEY.name, randomBytes(32).toString('base64url'), { ifAbsent: true }) : null
    this.#key = (made ?? (await store.get(KEY.area, KEY.name)))?.value ?? null
    return this.#key
  }

  #report(code: string, message: string): void {
    this.#options.report({ code, severity: 'info', message })
  }
}

function timeOf({ value }: StoreEntry): number {
  const found = /^\{"version":\d+,"at":(\d+)/.exec(value)
  return found === null ? 0 : Number(found[1])
}

/** The oldest entries, as far as there are too many with the new ones. */
function surplus(entries: ReadonlyMap<string, StoreEntry>, changed: ReadonlyMap<string, string>): readonly string[] {
  const kept = [...entries.values()].filter(({ key }) => !changed.has(key)).sort((a, b) => timeOf(b) - timeOf(a))
  let count = changed.size
  let text = [...changed.values()].reduce((sum, { length }) => sum + length, 0)
  return kept.flatMap(({ key, value }) => {
    count++
    text += value.length
    return count > MOST_ENTRIES || text > MOST_TEXT ? [key] : []
  })
}
