/** A store that ends with the process. */
import { TaplineError } from '../errors.ts'
import { EntryTable } from './entry-table.ts'
import { STORE_AREAS } from './store.ts'
import type { PutOptions, Store, StoreArea, StoreEntry } from './store.ts'

/** A store in memory, for tests and for hosts that remember nothing. */
export function memoryStore(): Store {
  return new MemoryStore()
}

class MemoryStore implements Store {
  #areas: ReadonlyMap<StoreArea, EntryTable> | null = new Map(STORE_AREAS.map((area) => [area, new EntryTable()]))

  async get(area: StoreArea, key: string): Promise<StoreEntry | null> {
    return this.#table(area).get(key)
  }

  async put(area: StoreArea, key: string, value: string, options?: PutOptions): Promise<StoreEntry | null> {
    return this.#table(area).put(key, value, options)
  }

  async delete(area: StoreArea, key: string, options?: { readonly ifRevision?: string }): Promise<boolean> {
    return this.#table(area).delete(key, options)
  }

  async *list(area: StoreArea): AsyncGenerator<StoreEntry> {
    yield* this.#table(area).list()
  }

  async close(): Promise<void> {
    this.#areas = null
  }

  #table(area: StoreArea): EntryTable {
    if (this.#areas === null) throw new TaplineError('STORE_FAILED', 'the store is closed')
    const table = this.#areas.get(area)
    if (!table) throw new TaplineError('STORE_FAILED', `a store has no area ${JSON.stringify(area)}`)
    return table
  }
}
