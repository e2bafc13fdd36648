/** Which tap of which check the running code belongs to, through everything asynchronous that the tap starts. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FindingKind } from './finding.ts'
import type { Place } from './findings.ts'

/** One run of a tap, or of `apply`. */
export interface Scope extends Place {
  readonly tell: (kind: FindingKind, scope: Scope, message: string) => void
  /** in the place of Math.random */
  readonly random: () => number
  /** in the place of Date.now; null: the real one */
  readonly now: (() => number) | null
}

/** Empty outside of the plugin's code. */
export const pluginScope: AsyncLocalStorage<Scope> = new AsyncLocalStorage()
