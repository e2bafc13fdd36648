/** Counts what plugins would have done against what happened, and how calls end under each value of a flag. */
import type { FlagValue } from '../flags/flag.ts'
import { effectsIn } from './effects.ts'
import { PluginCount } from './plugin-count.ts'
import type { CallRecord, SessionRecord, TraceRecord } from './records.ts'
import type { PluginReport, RolloutReport } from './rollout-report.ts'
import { VariantCount } from './variant-count.ts'

/** Takes records in the order of their files, and reports. */
export class Rollout {
  #calls = 0
  #missing = 0
  #callsWithoutSession = 0
  #from: string | null = null
  #to: string | null = null
  readonly #sessions = new Map<string, readonly VariantCount[]>()
  readonly #plugins = new Map<string, PluginCount>()
  readonly #flags = new Map<string, Map<FlagValue, VariantCount>>()

  add(record: TraceRecord): void {
    if (record.type === 'session') this.#open(record)
    else if (record.type === 'call') this.#add(record)
    else this.#missing += record.records
  }

  report(): RolloutReport {
    return {
      sessions: this.#sessions.size,
      calls: this.#calls,
      missing: this.#missing,
      callsWithoutSession: this.#callsWithoutSession,
      from: this.#from,
      to: this.#to,
      plugins: [...this.#plugins.values()].map((one) => one.report()).sort(byMode),
      flags: [...this.#flags]
        .filter(([, variants]) => variants.size > 1)
        .map(([flag, variants]) => ({ flag, variants: [...variants.values()].map((one) => one.report()) })),
    }
  }

  #open({ session, flags, plugins }: SessionRecord): void {
    // the same file twice is no second session
    if (this.#sessions.has(session)) return
    const variants = flags.map((details) => {
      const values = this.#flags.get(details.flagKey) ?? new Map<FlagValue, VariantCount>()
      this.#flags.set(details.flagKey, values)
      const variant = values.get(details.value) ?? new VariantCount(details)
      values.set(details.value, variant)
      variant.open(details)
      return variant
    })
    this.#sessions.set(session, variants)
    for (const { name, mode } of plugins) if (mode !== 'off') this.#plugin(name, mode).sessions++
  }

  #add(call: CallRecord): void {
    this.#calls++
    if (this.#from === null || call.time < this.#from) this.#from = call.time
    if (this.#to === null || call.time > this.#to) this.#to = call.time
    const variants = this.#sessions.get(call.session)
    if (variants === undefined) this.#callsWithoutSession++
    else for (const variant of variants) variant.add(call)
    for (const one of effectsIn(call)) this.#plugin(one.plugin, one.mode).add(call, one)
  }

  #plugin(name: string, mode: PluginReport['mode']): PluginCount {
    const id = `${mode} ${name}`
    const known = this.#plugins.get(id) ?? new PluginCount(name, mode)
    this.#plugins.set(id, known)
    return known
  }
}

/** Shadow first: that is what the report is for. */
const byMode = (a: PluginReport, b: PluginReport): number =>
  Number(a.mode === 'enforce') - Number(b.mode === 'enforce') || (a.plugin < b.plugin ? -1 : 1)
