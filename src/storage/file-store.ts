/** A store in one folder: one JSON file an area. */
import { join, resolve } from 'node:path'
import { asTaplineError, TaplineError } from '../errors.ts'
import { changeArea, readArea, sweepArea } from './area-file.ts'
import type { EntryTable } from './entry-table.ts'
import { STORE_AREAS } from './store.ts'
import type { PutOptions, Store, StoreArea, StoreEntry } from './store.ts'

/** A store of JSON files (0600) in a folder (0700) that is made when something is written; many processes may use it at once. */
export function fileStore(folder: string): Store {
  return new FileStore(resolve(folder))
}

class FileStore implements Store {
  readonly #folder: string
  /** per area, the last write: writers of one process wait for each other here and not at the lock */
  readonly #writes = new Map<StoreArea, Promise<unknown>>()
  #closed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  async get(area: StoreArea, key: string): Promise<StoreEntry | null> {
    return (await this.#read(area)).get(key)
  }

  put(area: StoreArea, key: string, value: string, options?: PutOptions): Promise<StoreEntry | null> {
    return this.#write(area, (table) => table.put(key, value, options))
  }

  delete(area: StoreArea, key: string, options?: { readonly ifRevision?: string }): Promise<boolean> {
    return this.#write(area, (table) => table.delete(key, options))
  }

  async *list(area: StoreArea): AsyncGenerator<StoreEntry> {
    yield* (await this.#read(area)).list()
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#writes.values())
  }

  async #read(area: StoreArea): Promise<EntryTable> {
    const file = this.#file(area)
    try {
      return await readArea(file)
    } catch (error) {
      throw failed('read', file, error)
    }
  }

  /** `change` says what to answer; null and false mean that nothing changed. */
  async #write<T>(area: StoreArea, change: (table: EntryTable) => T): Promise<T> {
    const file = this.#file(area)
    const before = this.#writes.get(area)
    const write = (before ?? sweepArea(file)).then(
      () => changeArea(file, change),
      () => changeArea(file, change),
    )
    this.#writes.set(
      area,
      write.catch(() => {}),
    )
    return write.catch((error: unknown) => {
      throw failed('written', file, error)
    })
  }

  #file(area: StoreArea): string {
    if (this.#closed) throw new TaplineError('STORE_FAILED', `the store ${this.#folder} is closed`)
    if (!STORE_AREAS.includes(area)) throw new TaplineError('STORE_FAILED', `a store has no area ${JSON.stringify(area)}`)
    return join(this.#folder, `${area}.json`)
  }
}

function failed(what: 'read' | 'written', file: string, error: unknown): TaplineError {
  return asTaplineError(error, 'STORE_FAILED', `${file} cannot be ${what}: ${error instanceof Error ? error.message : String(error)}`)
}
