/** Counts how calls end under one value of a flag. */
import type { FlagDetails } from '../flags/flag.ts'
import { Durations } from './durations.ts'
import type { CallRecord } from './records.ts'
import type { VariantReport } from './rollout-report.ts'
import { count, table } from './tally.ts'

/** Counts the calls under one value of a flag. */
export class VariantCount {
  sessions = 0
  readonly #details: FlagDetails
  readonly #sources = new Set<string>()
  readonly #outcomes = table<number>()
  readonly #durations = new Durations()
  #toolErrors = 0

  constructor(details: FlagDetails) {
    this.#details = details
  }

  open({ source }: FlagDetails): void {
    this.sessions++
    this.#sources.add(source)
  }

  add(call: CallRecord): void {
    count(this.#outcomes, call.outcome)
    if (call.isError === true) this.#toolErrors++
    this.#durations.add(call.durationMs)
  }

  report(): VariantReport {
    const { value, variant } = this.#details
    return {
      value,
      ...(variant !== undefined && { variant }),
      sources: [...this.#sources],
      sessions: this.sessions,
      calls: this.#durations.count,
      outcomes: this.#outcomes,
      toolErrors: this.#toolErrors,
      ...this.#durations.percentiles,
    }
  }
}
