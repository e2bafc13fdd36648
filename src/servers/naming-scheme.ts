/** What every naming scheme gives. */
import type { KeyParts } from './key.ts'

/** How a tool is shown. */
export interface ToolName {
  readonly namespace: string
  readonly nameInNamespace: string
  /** flat: `namespace__nameInNamespace` */
  readonly name: string
}

/** Makes visible names; nobody reads anything back out of them. */
export interface NamingScheme {
  namespace(key: KeyParts): string
  tool(key: KeyParts, raw: string): ToolName
}
