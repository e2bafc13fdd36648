/** What `tapline rollout report` counts. */
import type { FlagValue } from '../flags/flag.ts'
import type { KeyJson } from '../servers/key.ts'

/** effect → number of calls */
export type EffectCounts = Readonly<Record<string, number>>

/** A hook plugin in one of its modes. */
export interface PluginReport {
  readonly plugin: string
  readonly mode: 'shadow' | 'enforce'
  /** sessions that had it in this mode */
  readonly sessions: number
  /** calls in which one of its taps ran */
  readonly calls: number
  /** in shadow what it would have done, else what it did; a call counts once for each effect */
  readonly effects: EffectCounts
  /** calls to which it did (or would have done) nothing */
  readonly nothing: number
  /** calls that it stopped, or would have stopped: the first three effects */
  readonly stops: number
  /** in shadow: of those, calls that ran all the same; null where it is not in shadow */
  readonly stopsThatRan: number | null
  /** in shadow: share of the calls that would have been stopped and were, or would not have been and were not; null without calls */
  readonly agreement: number | null
  /** taps whose decision was `timed_out`, and those in shadow that did not come to their end */
  readonly timedOut: number
  readonly skipped: number
  readonly taps: readonly {
    readonly hook: string
    readonly tap: string
    readonly runs: number
    readonly p50Ms: number | null
    readonly p95Ms: number | null
  }[]
  /** effect → ids of the first calls with it */
  readonly examples: Readonly<Record<string, readonly string[]>>
  /** most effects first */
  readonly tools: readonly {
    readonly owner: KeyJson | null
    readonly tool: string | null
    readonly calls: number
    readonly effects: EffectCounts
  }[]
}

/** The calls of sessions that got one value of a flag. */
export interface VariantReport {
  readonly value: FlagValue
  readonly variant?: string
  readonly sources: readonly string[]
  readonly sessions: number
  readonly calls: number
  /** outcome → calls */
  readonly outcomes: Readonly<Record<string, number>>
  /** completed, with an error of the tool */
  readonly toolErrors: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** What `tapline rollout report` says. */
export interface RolloutReport {
  readonly sessions: number
  readonly calls: number
  /** records that could not be written */
  readonly missing: number
  /** calls whose session has no record in the files */
  readonly callsWithoutSession: number
  readonly from: string | null
  readonly to: string | null
  readonly plugins: readonly PluginReport[]
  /** flags with more than one value among the sessions */
  readonly flags: readonly { readonly flag: string; readonly variants: readonly VariantReport[] }[]
}
