/** Where a part of the configuration comes from, and how far it is trusted. */
import type { Format } from './format.ts'

/** One file, or the options given in code. */
export interface Source {
  /** absolute path, or `host` */
  readonly label: string
  readonly kind: 'named' | 'found' | 'user' | 'host'
  /** higher is stronger */
  readonly rank: number
  /** absolute; what relative paths are resolved against */
  readonly folder: string
  readonly format: Format
}
