/** The frozen result of merging every source of servers. A catalog builder makes it. */
import type { CatalogEntry } from './catalog-entry.ts'
import { CatalogView } from './catalog-view.ts'
import type { CatalogViewKind } from './catalog-view.ts'
import type { Diagnostic } from './diagnostic.ts'
import { compareKeys } from './key.ts'
import type { ServerKey } from './key.ts'

export type { CatalogEntry } from './catalog-entry.ts'
export type { CatalogView, CatalogViewKind } from './catalog-view.ts'

/** Every server of a set-up under its exact key. Frozen; holders keep it and compare `generation`. */
export class Catalog {
  readonly generation: number
  /** in the order of keys */
  readonly entries: readonly CatalogEntry[]
  /** `conflict`, `shadowed` between registrations of one exact key, and `names_differ_only_in_case` */
  readonly diagnostics: readonly Diagnostic[]
  /** in the order of the files */
  readonly #declared: readonly CatalogEntry[]
  readonly #byKey: ReadonlyMap<ServerKey, CatalogEntry>

  /** `declared` is in the order of the files; a CatalogBuilder calls this. */
  constructor(generation: number, declared: readonly CatalogEntry[], diagnostics: readonly Diagnostic[]) {
    this.generation = generation
    this.#declared = Object.freeze([...declared])
    this.entries = Object.freeze([...declared].sort((a, b) => compareKeys(a.key, b.key)))
    this.diagnostics = Object.freeze([...diagnostics])
    this.#byKey = new Map(declared.map((entry) => [entry.key, entry]))
    Object.freeze(this)
  }

  /** The server with exactly this key. */
  get(key: ServerKey): CatalogEntry | undefined {
    return this.#byKey.get(key)
  }

  /** What a session with these environments sees; the first environment is the primary one. */
  view(kind: CatalogViewKind, selectedEnvironments: readonly string[]): CatalogView {
    return new CatalogView(kind, selectedEnvironments, this.#declared)
  }
}
