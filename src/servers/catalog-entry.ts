/** One server after every source was merged. */
import type { Provenance, ServerRegistration } from './definition.ts'
import type { ServerKey } from './key.ts'

/** One server of the catalog. */
export interface CatalogEntry {
  readonly key: ServerKey
  /** the strongest one */
  readonly registration: ServerRegistration
  /** of every registration of this same installation, strongest first */
  readonly provenances: readonly Provenance[]
}
