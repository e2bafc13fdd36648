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

interface Change {
  readonly change: (table: EntryTable) => unknown
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

class FileStore implements Store {
  readonly #folder: string
  /** per area, what waits for its turn: writers of one process wait for each other here and not at the lock, and go together */
  readonly #waiting = new Map<StoreArea, Change[]>()
  readonly #writers = new Map<StoreArea, Promise<void>>()
  readonly #tidy = new Set<StoreArea>()
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
    await Promise.all(this.#writers.values())
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
    return new Promise<T>((resolve, reject) => {
      const waiting = this.#waiting.get(area) ?? []
      this.#waiting.set(area, waiting)
      waiting.push({ change, resolve: resolve as Change['resolve'], reject: (error) => reject(failed('written', file, error)) })
      if (!this.#writers.has(area))
        this.#writers.set(
          area,
          this.#swept(area, file).then(() => this.#writeAll(area, file, waiting)),
        )
    })
  }

  /** Once for each area. */
  #swept(area: StoreArea, file: string): Promise<void> {
    if (this.#tidy.has(area)) return Promise.resolve()
    this.#tidy.add(area)
    return sweepArea(file)
  }

  /** Everything that waits at once goes into one write of the file. */
  async #writeAll(area: StoreArea, file: string, waiting: Change[]): Promise<void> {
    while (waiting.length > 0) {
      const changes = waiting.splice(0)
      let ends: (() => void)[] = []
      await changeArea(file, (table) => {
        let changed = false
        ends = changes.map(({ change, resolve, reject }) => {
          try {
            const answer = change(table)
            changed ||= answer !== null && answer !== false
            return () => resolve(answer)
          } catch (error) {
            return () => reject(error)
          }
        })
        return changed
      }).then(
        () => ends.forEach((end) => end()),
        (error: unknown) => changes.forEach(({ reject }) => reject(error)),
      )
    }
    this.#writers.delete(area)
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
