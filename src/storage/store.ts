/** Where approvals, tokens, inventories and trust outlive a process. */

/** What a store keeps apart; the values of `tokens` are secrets. */
export type StoreArea = 'approvals' | 'tokens' | 'inventory' | 'trust' | 'installation'

/** Every area. */
export const STORE_AREAS: readonly StoreArea[] = Object.freeze(['approvals', 'tokens', 'inventory', 'trust', 'installation'] as const)

/** One value of a store. */
export interface StoreEntry {
  readonly key: string
  /** text, mostly JSON */
  readonly value: string
  /** changes with every write */
  readonly revision: string
}

/** Conditions and life time of one write. */
export interface PutOptions {
  readonly ifAbsent?: boolean
  readonly ifRevision?: string
  /** ms after which the entry is gone; default: never */
  readonly ttlMs?: number
}

/** Compare-and-set over text, for several processes at once. Every method rejects with STORE_FAILED where the store cannot be read or written, or is closed. */
export interface Store {
  get(area: StoreArea, key: string): Promise<StoreEntry | null>
  /** null: a condition did not hold, and nothing was written */
  put(area: StoreArea, key: string, value: string, options?: PutOptions): Promise<StoreEntry | null>
  /** false: there was none, or none of that revision */
  delete(area: StoreArea, key: string, options?: { readonly ifRevision?: string }): Promise<boolean>
  /** What was there when it was asked for, oldest key first. */
  list(area: StoreArea): AsyncIterable<StoreEntry>
  /** Waits for writes under way; nothing works afterwards. */
  close(): Promise<void>
}
