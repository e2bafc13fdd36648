/** What plugins did to a call, or would have done, in the same words. */
import type { ShadowEffect, TapTrace } from '../hooks/trace.ts'
import type { CallRecord } from './records.ts'

/** One plugin in one call. */
export interface PluginEffects {
  readonly plugin: string
  readonly mode: TapTrace['mode']
  readonly effects: ReadonlySet<string>
  readonly taps: readonly TapTrace[]
}

/** Every plugin that had a tap in the call: in shadow what it would have done, else what it did. */
export function effectsIn({ trace }: Pick<CallRecord, 'trace'>): readonly PluginEffects[] {
  // without a question, a tap that allows answers nothing
  const wasAsked = trace.approval?.source !== 'mode' && trace.approval?.source !== 'not_needed'
  const found = new Map<string, { plugin: string; mode: TapTrace['mode']; effects: Set<string>; taps: TapTrace[] }>()
  const of = (plugin: string, mode: TapTrace['mode']): { effects: Set<string>; taps: TapTrace[] } => {
    const id = `${mode} ${plugin}`
    const known = found.get(id) ?? { plugin, mode, effects: new Set<string>(), taps: [] }
    found.set(id, known)
    return known
  }
  for (const tap of trace.taps) {
    const { effects, taps } = of(tap.plugin, tap.mode)
    taps.push(tap)
    // in shadow the pipeline has worked it out
    if (tap.mode === 'enforce') for (const effect of effectsOf(tap)) if (effect !== 'allowed' || wasAsked) effects.add(effect)
  }
  for (const { plugin, wouldHave } of trace.shadow) for (const effect of wouldHave) of(plugin, 'shadow').effects.add(effect)
  return [...found.values()]
}

const BY_DECISION: Readonly<Partial<Record<TapTrace['decision'], ShadowEffect>>> = {
  rewrite: 'rewritten',
  allow: 'allowed',
  deny: 'refused',
  ask: 'asked',
  patch: 'metadata',
  answered: 'answered',
  failed: 'failed',
  timed_out: 'failed',
  changed_owner: 'violated',
}

function effectsOf({ decision, inEffect, nextCalls = 0, changedResult = false }: TapTrace): readonly ShadowEffect[] {
  if (!inEffect) return []
  const decided = BY_DECISION[decision]
  return [
    ...(decided === undefined ? [] : [decided]),
    ...(nextCalls > 1 ? ['repeated' as const] : []),
    ...(changedResult ? ['changed_result' as const] : []),
  ]
}

const STOPPING: ReadonlySet<string> = new Set<ShadowEffect>(['violated', 'failed', 'refused'])

/** True where one of the effects keeps a call from being sent, or its result from being handed out. */
export function stops(effects: Iterable<string>): boolean {
  for (const effect of effects) if (STOPPING.has(effect)) return true
  return false
}

const STOPPED: ReadonlySet<string> = new Set<CallRecord['outcome']>([
  'refused',
  'no_approver',
  'ownership_violation',
  'authority_changed',
  'result_withheld',
  'invalid_request',
])

/** True for a call that was stopped, by whomever: it had no server, or no answer, to fail at. */
export const wasStopped = ({ outcome }: Pick<CallRecord, 'outcome'>): boolean => STOPPED.has(outcome)
