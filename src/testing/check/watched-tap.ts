/** One tap of the plugin under check: what it is registered with, and what its runs have shown. */
import type { HookName } from '../../errors.ts'
import type { CheckedCall } from './finding.ts'
import type { Findings, Place } from './findings.ts'

/** ms of one turn of the loop that are too many */
const BLOCK_MS = 50
/** runs after each other that take so long: a machine may stand still once, and not each time in the same place */
const TIMES = 3
/** that are made again */
const SUSPECTS = 3

/** What the registration says, as far as it can be read. */
export interface TapFacts {
  readonly methods: readonly string[] | null
  readonly environments: readonly (string | null)[]
  readonly servers: readonly string[]
  readonly tools: readonly string[]
  readonly before: readonly string[]
}

/** A tap with its record. */
export class WatchedTap implements Place {
  readonly hook: HookName
  readonly tap: string
  readonly isSync: boolean
  readonly facts: TapFacts
  runs = 0
  /** it hangs or blocks: it is told once, and left out from then on */
  isOut = false
  /** the first request that reached it */
  reachedBy: string | null = null
  /** ms of its own in each run while calls were made one after the other */
  readonly ownMs: number[] = []
  /** ms of its own in all of them */
  totalMs = 0
  /** ms until the first await, all runs together */
  syncMs = 0
  readonly verdicts: Set<string> = new Set()
  /** requests in which it seemed to keep the loop, to be made again */
  readonly suspects: Set<string> = new Set()
  #blocked = 0

  constructor(hook: HookName, tap: string, isSync: boolean, facts: TapFacts) {
    this.hook = hook
    this.tap = tap
    this.isSync = isSync
    this.facts = facts
  }

  /** A turn of the loop in which nothing else could run. */
  turn(ms: number, findings: Findings, label: string | null, call: CheckedCall | null): void {
    this.#blocked = ms < BLOCK_MS ? 0 : this.#blocked + 1
    if (this.#blocked === 0) return
    if (label !== null && this.suspects.size < SUSPECTS) this.suspects.add(label)
    if (this.#blocked < TIMES) return
    this.isOut = true
    findings.add('blocks_event_loop', this, `keeps the event loop for ${Math.round(ms)} ms at a time`, call)
  }
}

/** Reads the options of a registration; what is wrong with them is the runtime's to say. */
export function tapFacts(options: unknown): TapFacts {
  const given = (typeof options === 'object' && options !== null ? options : {}) as Readonly<Record<string, unknown>>
  const { before } = given
  return {
    methods: Array.isArray(given['methods']) ? texts(given['methods']) : null,
    environments: Array.isArray(given['environments'])
      ? given['environments'].filter((one) => one === null || typeof one === 'string')
      : [],
    servers: texts(given['servers']),
    tools: texts(given['tools']),
    before: typeof before === 'string' ? [before] : texts(before),
  }
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [])
