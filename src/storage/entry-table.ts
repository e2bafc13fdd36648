/** The entries of one area in memory, with the rules that every store has in common. */
import { randomBytes } from 'node:crypto'
import { TaplineError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { PutOptions, StoreEntry } from './store.ts'

interface Stored extends StoreEntry {
  /** ms since 1970 at which the entry is gone; null: never */
  readonly until: number | null
}

/** Format of a file of entries; a higher number comes from a newer release. */
const VERSION = 1

/** Compare-and-set over a map, with life times. */
export class EntryTable {
  readonly #entries: Map<string, Stored>

  constructor(entries: Iterable<Stored> = []) {
    this.#entries = new Map([...entries].map((entry) => [entry.key, entry]))
  }

  /** Reads what `toText` wrote. Throws SyntaxError for anything else, and STORE_FAILED for the file of a newer release. */
  static parse(text: string): EntryTable {
    const file: unknown = JSON.parse(text)
    if (!isJsonObject(file)) throw new SyntaxError('not an object')
    if (typeof file.version === 'number' && file.version > VERSION) {
      throw new TaplineError('STORE_FAILED', `it was written by a newer release (format ${file.version})`, {
        remedy: 'Update tapline, or name another store.',
      })
    }
    if (file.version !== VERSION || !Array.isArray(file.entries)) throw new SyntaxError('not a list of entries')
    return new EntryTable(file.entries.map(storedEntry))
  }

  get(key: string): StoreEntry | null {
    const stored = this.#live(key)
    return stored === null ? null : toEntry(stored)
  }

  put(key: string, value: string, { ifAbsent = false, ifRevision, ttlMs }: PutOptions = {}): StoreEntry | null {
    if (ttlMs !== undefined && !(Number.isFinite(ttlMs) && ttlMs >= 0))
      throw new TaplineError('STORE_FAILED', `ttlMs cannot be ${ttlMs}: it is a number of milliseconds`)
    const present = this.#live(key)
    if (ifAbsent && present !== null) return null
    if (ifRevision !== undefined && present?.revision !== ifRevision) return null
    const stored: Stored = {
      key,
      value,
      revision: randomBytes(12).toString('base64url'),
      until: ttlMs === undefined ? null : Date.now() + ttlMs,
    }
    this.#entries.set(key, stored)
    return toEntry(stored)
  }

  delete(key: string, { ifRevision }: { readonly ifRevision?: string } = {}): boolean {
    const present = this.#live(key)
    if (present === null || (ifRevision !== undefined && present.revision !== ifRevision)) return false
    return this.#entries.delete(key)
  }

  list(): readonly StoreEntry[] {
    return [...this.#entries.keys()].flatMap((key) => this.get(key) ?? [])
  }

  /** The text of a file; what has run out is left out. */
  toText(): string {
    const entries = [...this.#entries.keys()].flatMap((key) => this.#live(key) ?? [])
    return `${JSON.stringify({ version: VERSION, entries }, null, 1)}\n`
  }

  #live(key: string): Stored | null {
    const stored = this.#entries.get(key)
    return stored === undefined || (stored.until !== null && stored.until <= Date.now()) ? null : stored
  }
}

const toEntry = ({ key, value, revision }: Stored): StoreEntry => Object.freeze({ key, value, revision })

function storedEntry(value: unknown): Stored {
  if (!isJsonObject(value)) throw new SyntaxError('an entry is not an object')
  const { key, value: text, revision, until } = value
  if (
    typeof key !== 'string' ||
    typeof text !== 'string' ||
    typeof revision !== 'string' ||
    !(until === null || typeof until === 'number')
  ) {
    throw new SyntaxError('an entry lacks a part')
  }
  return { key, value: text, revision, until }
}
