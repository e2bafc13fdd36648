/** Counts what one hook plugin did, or would have done. */
import type { KeyJson } from '../servers/key.ts'
import { Durations } from './durations.ts'
import { SHADOW_EFFECTS } from '../hooks/shadow-effects.ts'
import { stops, wasStopped } from './effects.ts'
import type { PluginEffects } from './effects.ts'
import type { CallRecord } from './records.ts'
import type { EffectCounts, PluginReport } from './rollout-report.ts'
import { count, table } from './tally.ts'

/** ids that are kept of each effect */
const EXAMPLES = 3
/** tools that are told apart for each plugin; a model can make up any number of names */
const MOST_TOOLS = 500

/** Counts the calls of one plugin in one mode. */
export class PluginCount {
  sessions = 0
  readonly #plugin: string
  readonly #mode: PluginReport['mode']
  #calls = 0
  #nothing = 0
  #stops = 0
  #stopsThatRan = 0
  #agreed = 0
  #timedOut = 0
  #skipped = 0
  readonly #effects = table<number>()
  readonly #examples = table<string[]>()
  readonly #taps = new Map<string, { readonly hook: string; readonly tap: string; readonly durations: Durations }>()
  readonly #tools = new Map<string, { owner: KeyJson | null; tool: string | null; calls: number; effects: Record<string, number> }>()

  constructor(plugin: string, mode: PluginReport['mode']) {
    this.#plugin = plugin
    this.#mode = mode
  }

  add(call: CallRecord, { effects, taps }: PluginEffects): void {
    // where none of its taps ran, it judged nothing
    const ran = taps.filter(({ decision }) => decision !== 'skipped')
    this.#skipped += taps.length - ran.length
    if (taps.length > 0 && ran.length === 0) return
    this.#calls++
    if (effects.size === 0) this.#nothing++
    const isStopped = wasStopped(call)
    const would = stops(effects)
    if (would) this.#stops++
    if (would && !isStopped) this.#stopsThatRan++
    if (would === isStopped) this.#agreed++
    const tool = this.#tool(call)
    tool.calls++
    for (const effect of effects) {
      count(this.#effects, effect)
      count(tool.effects, effect)
      const examples = (this.#examples[effect] ??= [])
      if (examples.length < EXAMPLES) examples.push(call.id)
    }
    for (const { hook, tap, decision, durationMs } of ran) {
      if (decision === 'timed_out') this.#timedOut++
      const id = JSON.stringify([hook, tap])
      const known = this.#taps.get(id) ?? { hook, tap, durations: new Durations() }
      this.#taps.set(id, known)
      known.durations.add(durationMs)
    }
  }

  #tool({ owner, tool }: CallRecord): { calls: number; effects: Record<string, number> } {
    const id = JSON.stringify([owner?.display, tool])
    const known = this.#tools.get(id) ?? (this.#tools.size < MOST_TOOLS ? undefined : this.#tools.get(''))
    if (known !== undefined) return known
    const isNamed = this.#tools.size < MOST_TOOLS
    const made = { owner: isNamed ? owner : null, tool: isNamed ? tool : null, calls: 0, effects: table<number>() }
    this.#tools.set(isNamed ? id : '', made)
    return made
  }

  report(): PluginReport {
    const isShadow = this.#mode === 'shadow'
    const weight = (effects: EffectCounts): number => Object.values(effects).reduce((sum, one) => sum + one, 0)
    return {
      plugin: this.#plugin,
      mode: this.#mode,
      sessions: this.sessions,
      calls: this.#calls,
      effects: inOrder(this.#effects),
      nothing: this.#nothing,
      stops: this.#stops,
      stopsThatRan: isShadow ? this.#stopsThatRan : null,
      agreement: isShadow && this.#calls > 0 ? this.#agreed / this.#calls : null,
      timedOut: this.#timedOut,
      skipped: this.#skipped,
      taps: [...this.#taps.values()].map(({ hook, tap, durations }) => ({ hook, tap, runs: durations.count, ...durations.percentiles })),
      examples: this.#examples,
      tools: [...this.#tools.values()]
        .map((one) => ({ ...one, effects: inOrder(one.effects) }))
        .sort((a, b) => weight(b.effects) - weight(a.effects) || b.calls - a.calls),
    }
  }
}

/** Gravest first; words of later versions at the end. */
function inOrder(counts: EffectCounts): EffectCounts {
  const known = SHADOW_EFFECTS.filter((effect) => counts[effect] !== undefined)
  const rest = Object.keys(counts).filter((effect) => !(SHADOW_EFFECTS as readonly string[]).includes(effect))
  return Object.fromEntries([...known, ...rest].map((effect) => [effect, counts[effect] as number]))
}
