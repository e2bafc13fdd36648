/** Where a part of the configuration comes from, and how far it is trusted. */

/** One file, or the options given in code. */
export interface Source {
  /** absolute path, or `host` */
  readonly label: string
  readonly kind: 'named' | 'found' | 'user' | 'host'
  /** higher is stronger */
  readonly rank: number
  /** absolute; what relative paths are resolved against */
  readonly folder: string
  /** a file in the format that all MCP clients share (`mcpServers` and nothing else of ours): keys of other clients do no harm */
  readonly foreign: boolean
}
