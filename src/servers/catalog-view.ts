/** What one session sees of a catalog. */
import type { CatalogEntry } from './catalog-entry.ts'
import type { Diagnostic } from './diagnostic.ts'
import { compareKeys, displayKey } from './key.ts'
import type { ServerKey } from './key.ts'
import { compareStrength } from './strength.ts'

/** `scoped`: every key is visible. `unscoped`: one server per bare name. */
export type CatalogViewKind = 'scoped' | 'unscoped'

/** The servers that are thread-wide or belong to a selected environment. Frozen. */
export class CatalogView {
  readonly kind: CatalogViewKind
  /** in the order of keys */
  readonly servers: readonly CatalogEntry[]
  /** `shadowed` for each server that lost its bare name (unscoped only); those of the catalog are not repeated */
  readonly diagnostics: readonly Diagnostic[]
  readonly #byName: ReadonlyMap<string, readonly CatalogEntry[]>
  readonly #byKey: ReadonlyMap<ServerKey, CatalogEntry>

  /** `declared` is in the order of the files; a Catalog calls this. */
  constructor(kind: CatalogViewKind, selectedEnvironments: readonly string[], declared: readonly CatalogEntry[]) {
    const places = new Map(selectedEnvironments.map((id, index): [string, number] => [id, index]).toReversed())
    const placeOf = ({ key }: CatalogEntry): number | undefined => (key.environmentId === null ? -1 : places.get(key.environmentId))
    const byName = new Map<string, CatalogEntry[]>()
    for (const entry of declared) {
      if (placeOf(entry) === undefined) continue
      const named = byName.get(entry.key.name)
      if (named) named.push(entry)
      else byName.set(entry.key.name, [entry])
    }
    const diagnostics: Diagnostic[] = []
    if (kind === 'unscoped') {
      for (const [name, candidates] of byName) {
        const [winner, ...losers] = candidates.sort(
          (a, b) =>
            compareStrength(a.registration.provenance, b.registration.provenance) || (placeOf(a) as number) - (placeOf(b) as number),
        ) as [CatalogEntry, ...CatalogEntry[]]
        byName.set(name, [winner])
        for (const loser of losers) diagnostics.push(lostItsName(winner, loser))
      }
    }
    for (const named of byName.values()) Object.freeze(named.sort(compareEntries))
    this.kind = kind
    this.servers = Object.freeze([...byName.values()].flat().sort(compareEntries))
    this.diagnostics = Object.freeze(diagnostics)
    this.#byName = byName
    this.#byKey = new Map(this.servers.map((entry) => [entry.key, entry]))
    Object.freeze(this)
  }

  /** Every visible server of this name, in the order of keys; for any text. */
  named(name: string): readonly CatalogEntry[] {
    return this.#byName.get(name) ?? NONE
  }

  /** The visible server with exactly this key. */
  get(key: ServerKey): CatalogEntry | undefined {
    return this.#byKey.get(key)
  }
}

const NONE: readonly CatalogEntry[] = Object.freeze([])
const compareEntries = (a: CatalogEntry, b: CatalogEntry): number => compareKeys(a.key, b.key)

function lostItsName(winner: CatalogEntry, loser: CatalogEntry): Diagnostic {
  const where = loser.registration.provenance.where
  return Object.freeze({
    code: 'shadowed',
    severity: 'warning',
    message: `${displayKey(loser.key)} (${where}) is not started: ${displayKey(winner.key)} (${winner.registration.provenance.where}) has the same name`,
    owner: loser.key,
    where,
  })
}
