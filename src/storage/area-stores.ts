/** One store made of several: each area may be kept somewhere else. */
import type { PutOptions, Store, StoreArea, StoreEntry } from './store.ts'

/** Areas that are named go to their own store, the others to `rest`. Closing it closes `rest` alone: the others belong to whoever made them. */
export function areaStores(own: { readonly [A in StoreArea]?: Store }, rest: Store): Store {
  return new AreaStores(own, rest)
}

class AreaStores implements Store {
  readonly #own: { readonly [A in StoreArea]?: Store }
  readonly #rest: Store

  constructor(own: { readonly [A in StoreArea]?: Store }, rest: Store) {
    this.#own = { ...own }
    this.#rest = rest
  }

  get(area: StoreArea, key: string): Promise<StoreEntry | null> {
    return this.#of(area).get(area, key)
  }

  put(area: StoreArea, key: string, value: string, options?: PutOptions): Promise<StoreEntry | null> {
    return this.#of(area).put(area, key, value, options)
  }

  delete(area: StoreArea, key: string, options?: { readonly ifRevision?: string }): Promise<boolean> {
    return this.#of(area).delete(area, key, options)
  }

  list(area: StoreArea): AsyncIterable<StoreEntry> {
    return this.#of(area).list(area)
  }

  close(): Promise<void> {
    return this.#rest.close()
  }

  #of(area: StoreArea): Store {
    return this.#own[area] ?? this.#rest
  }
}
