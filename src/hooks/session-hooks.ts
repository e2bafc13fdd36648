/** The five hooks of one session: tapable hooks with our own `compile`, filled once by the plugins' `apply`, closed from then on. */
import { AsyncSeriesHook } from 'tapable'
import { TaplineError } from '../errors.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'
import type { Observer } from './observers.ts'
import { type Innermost, Onion } from './onion.ts'
import type { PipelineHook } from './outcome.ts'
import type { HookPorts, TapFilter } from './plugin.ts'
import { type PluginEntry, type RegisteredTap, registerTaps } from './registered-taps.ts'
import { acceptApprove, acceptMetadata, acceptResolve } from './returns.ts'
import { type BuiltinStep, Series } from './series.ts'
import { Shadows } from './shadows.ts'
import { compileFilter } from './tap-filter.ts'
import type { TapSpec } from './tap-spec.ts'
import { type Accept, TapStep } from './tap-step.ts'

/** The pipeline's own parts; they are taps too, outside of every stage that a plugin can name. */
export interface Builtins {
  /** first of `resolve` */
  readonly resolver: BuiltinStep
  /** last of `approve` */
  readonly policy: BuiltinStep
  /** last of `attachMetadata` */
  readonly sandboxContract: BuiltinStep
  /** innermost of `dispatch` */
  readonly connection: Innermost
}

const ACCEPT: Readonly<Record<'resolve' | 'approve' | 'attachMetadata', Accept>> = {
  resolve: acceptResolve,
  approve: acceptApprove,
  attachMetadata: acceptMetadata,
}

/** A compiled set of hooks. */
export interface SessionHooks {
  readonly resolve: Series
  readonly approve: Series
  readonly attachMetadata: Series
  readonly dispatch: Onion
  readonly observers: readonly Observer[]
  /** every tap with the filters that limit it, for those who want to know whether they fit anything */
  readonly filters: readonly { readonly spec: TapSpec; readonly filters: readonly TapFilter[] }[]
  /** what the plugins' `apply` returned, to be disposed of with the session */
  readonly disposables: readonly (Disposable | AsyncDisposable)[]
  readonly shadows: Shadows
}

/** The hooks with the taps of these plugins. Throws HOOK_BAD_PLUGIN or HOOK_BAD_TAP; a plugin in shadow that cannot be set up is a diagnostic. */
export function buildHooks(
  entries: readonly PluginEntry[],
  session: HookPorts['session'],
  builtins: Builtins,
  { wheel, report }: { readonly wheel: DeadlineWheel; readonly report: (diagnostic: Diagnostic) => void },
): SessionHooks {
  const { taps, inOrder, disposables } = registerTaps(entries, session, report)
  const shadows = new Shadows(wheel)
  const steps = (hook: PipelineHook, accept: Accept): readonly [string, Step][] =>
    inOrder[hook].map((tap) => [tap.id, new TapStep(tap.spec, filterOf(tap), accept, tap.entry)])
  const series = (hook: keyof typeof ACCEPT, builtin: BuiltinStep, at: 'first' | 'last'): Series => {
    const own = { name: `tapline:${hook}`, stage: at === 'first' ? -Infinity : Infinity, step: builtin }
    return compiled(hook, steps(hook, ACCEPT[hook]), [own], (all) => new Series(all, wheel, shadows.beside))
  }
  return {
    resolve: series('resolve', builtins.resolver, 'first'),
    approve: series('approve', builtins.policy, 'last'),
    attachMetadata: series('attachMetadata', builtins.sandboxContract, 'last'),
    dispatch: compiled(
      'dispatch',
      steps('dispatch', never),
      [],
      (all) => new Onion(all as readonly TapStep[], builtins.connection, wheel, shadows.around),
    ),
    observers: taps.filter(({ spec }) => spec.hook === 'settled').map(observer),
    filters: taps.map(({ spec, entry }) => ({ spec, filters: [entry.filter, spec.filter] })),
    disposables,
    shadows,
  }
}

const observer = (tap: RegisteredTap): Observer => {
  const { name, plugin, fn } = tap.spec
  return Object.freeze({ hook: 'settled', name, plugin, filter: filterOf(tap), cell: tap.entry.cell, fn })
}

const never = (): never => {
  throw new TaplineError('INTERNAL', 'a hook was called around its compiled form')
}

const filterOf = ({ spec, entry }: RegisteredTap): ReturnType<typeof compileFilter> =>
  compileFilter(spec.methods, entry.filter, spec.filter)

type Step = TapStep | BuiltinStep

/**
 * The runner of a tapable hook that has the plugins' taps and our own in it. tapable puts them in order; its `compile` is ours: a loop over the
 * steps in place of generated code. Nothing is tapped any more once it is compiled.
 */
function compiled<T extends object>(
  hook: PipelineHook,
  steps: readonly (readonly [string, Step])[],
  own: readonly { readonly name: string; readonly stage: number; readonly step: Step }[],
  compile: (steps: readonly Step[]) => T,
): T {
  const raw = Object.assign(new AsyncSeriesHook<[unknown], { step: Step }>(['run'], hook), {
    compile: ({ taps }: { readonly taps: readonly { readonly step: Step }[] }): T => compile(taps.map((tap) => tap.step)),
  })
  // tapable looks only at what is registered already, so the whole order is worked out first and given as stages
  for (const [index, [name, step]] of steps.entries()) raw.tap({ name, stage: index, step }, never)
  for (const tap of own) raw.tap(tap, never)
  return raw.compile({ taps: raw.taps as unknown as readonly { readonly step: Step }[] })
}
