/** Facts about a set-up that stop nothing but should be seen. */
import type { KeyParts } from './key.ts'

/** One finding, for people and for `diagnostics` in JSON. */
export interface Diagnostic {
  /** a stable word: `shadowed`, `conflict`, `names_differ_only_in_case`, `list_cut_short` …, or an error code */
  readonly code: string
  readonly severity: 'info' | 'warning' | 'error'
  /** one line; names the server, file or tool; never a secret */
  readonly message: string
  readonly owner?: KeyParts
  /** `file:line:column`, where it comes from a file */
  readonly where?: string
}
