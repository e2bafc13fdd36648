/** The five hooks of one session: tapable hooks with our own `compile`, filled once by the plugins' `apply`, closed from then on. */
import { types } from 'node:util'
import { AsyncSeriesHook } from 'tapable'
import type { HookName } from '../errors.ts'
import { asTaplineError, messageOf, TaplineError } from '../errors.ts'
import type { DeadlineWheel } from './deadline-wheel.ts'
import type { Observer } from './observers.ts'
import { compileOnion, type Innermost, type Onion } from './onion.ts'
import type { HookPlugin, HookPorts, TapFilter } from './plugin.ts'
import { acceptApprove, acceptMetadata, acceptResolve } from './returns.ts'
import { type BuiltinStep, compileSeries, type Series } from './series.ts'
import { compileFilter } from './tap-filter.ts'
import { readTapSpec, type TapSpec } from './tap-spec.ts'
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

/** A plugin and the servers that its taps are limited to. */
export interface PluginEntry {
  readonly plugin: HookPlugin
  readonly filter: TapFilter
}

const ACCEPT: Readonly<Record<'resolve' | 'approve' | 'attachMetadata', Accept>> = {
  resolve: acceptResolve,
  approve: acceptApprove,
  attachMetadata: acceptMetadata,
}

interface RegisteredTap {
  readonly id: string
  readonly spec: TapSpec
  readonly entry: PluginEntry
}

/** A compiled set of hooks. `run…` are what the pipeline calls. */
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
}

/**
 * Runs `apply` of every plugin and puts all taps in order: `before` > `stage` > registration.
 * Throws HOOK_BAD_PLUGIN or HOOK_BAD_TAP; what earlier plugins returned is then disposed of.
 */
export function buildHooks(
  entries: readonly PluginEntry[],
  session: HookPorts['session'],
  builtins: Builtins,
  wheel: DeadlineWheel,
): SessionHooks {
  const taps: RegisteredTap[] = []
  const disposables: (Disposable | AsyncDisposable)[] = []
  try {
    for (const [index, entry] of entries.entries()) {
      const disposable = applyPlugin(entry, session, (spec) => {
        // the instance, not the entry: the same plugin twice is the same taps twice
        const owner = entries.findIndex(({ plugin }) => plugin === entry.plugin)
        const id = `${owner < 0 ? index : owner}/${spec.plugin}/${spec.name}`
        if (taps.some((tap) => tap.id === id && tap.spec.hook === spec.hook)) {
          throw new TaplineError('HOOK_BAD_TAP', `plugin "${spec.plugin}" registers tap "${spec.name}" twice on ${spec.hook}`, {
            hook: spec.hook,
            tap: spec.name,
            plugin: spec.plugin,
          })
        }
        taps.push({ id, spec, entry })
      })
      if (disposable !== undefined) disposables.push(disposable)
    }
    const series = (hook: keyof typeof ACCEPT, builtin: BuiltinStep, at: 'first' | 'last'): Series => {
      const raw = rawHook(
        hook,
        taps,
        (tap) => new TapStep(tap.spec, filterOf(tap), ACCEPT[hook], tap.entry.plugin),
        (steps) => compileSeries(steps, wheel),
      )
      raw.tap({ name: `tapline:${hook}`, stage: at === 'first' ? -Infinity : Infinity, step: builtin }, never)
      return (run) => raw.promise(run)
    }
    const onion = rawHook(
      'dispatch',
      taps,
      (tap) => new TapStep(tap.spec, filterOf(tap), never, tap.entry.plugin),
      (steps) => compileOnion(steps as TapStep[], builtins.connection, wheel),
    )
    return {
      resolve: series('resolve', builtins.resolver, 'first'),
      approve: series('approve', builtins.policy, 'last'),
      attachMetadata: series('attachMetadata', builtins.sandboxContract, 'last'),
      dispatch: (run) => onion.promise(run) as unknown as ReturnType<Onion>,
      observers: taps
        .filter(({ spec }) => spec.hook === 'settled')
        .map((tap) =>
          Object.freeze({ hook: 'settled' as const, name: tap.spec.name, plugin: tap.spec.plugin, filter: filterOf(tap), fn: tap.spec.fn }),
        ),
      filters: taps.map(({ spec, entry }) => ({ spec, filters: [entry.filter, spec.filter] })),
      disposables,
    }
  } catch (error) {
    for (const disposable of disposables) void Promise.resolve(dispose(disposable)).catch(() => {})
    throw error
  }
}

/** Disposes of what a plugin's `apply` returned. */
export async function dispose(disposable: Disposable | AsyncDisposable): Promise<void> {
  if (Symbol.asyncDispose in disposable) await disposable[Symbol.asyncDispose]()
  else disposable[Symbol.dispose]()
}

const never = (): never => {
  throw new TaplineError('INTERNAL', 'a hook was called around its compiled form')
}

const filterOf = ({ spec, entry }: RegisteredTap): ReturnType<typeof compileFilter> =>
  compileFilter(spec.methods, entry.filter, spec.filter)

type Step = TapStep | BuiltinStep

/** A tapable hook with the plugins' taps in it; `compile` builds a loop over the steps in place of generated code. */
function rawHook(
  hook: HookName,
  taps: readonly RegisteredTap[],
  makeStep: (tap: RegisteredTap) => Step,
  compile: (steps: readonly Step[]) => (run: never) => unknown,
): AsyncSeriesHook<[unknown], { step: Step }> {
  const raw = new AsyncSeriesHook<[unknown], { step: Step }>(['run'], hook)
  Object.assign(raw, {
    compile: (options: { readonly taps: readonly { readonly step: Step }[] }) => compile(options.taps.map((tap) => tap.step)),
  })
  // tapable looks only at what is registered already, so the whole order is worked out first and given as stages
  for (const [index, tap] of inOrder(taps.filter(({ spec }) => spec.hook === hook)).entries()) {
    raw.tap({ name: tap.id, stage: index, step: makeStep(tap) }, never)
  }
  return raw
}

/** By stage, then by registration; a tap that others name in `before` has them in front of it, wherever their stage would put them. */
function inOrder(taps: readonly RegisteredTap[]): readonly RegisteredTap[] {
  const byStage = taps.toSorted((a, b) => a.spec.stage - b.spec.stage)
  const inFront = new Map<RegisteredTap, RegisteredTap[]>(byStage.map((tap) => [tap, []]))
  for (const tap of byStage) {
    for (const name of new Set(tap.spec.before)) {
      const named = byStage.filter(
        (other) => other !== tap && (other.spec.name === name || `${other.spec.plugin}/${other.spec.name}` === name),
      )
      if (named.length === 0) throw badBefore(tap.spec, `names "${name}" in before, and no plugin has such a tap on this hook`)
      for (const other of named) inFront.get(other)!.push(tap)
    }
  }
  const result = new Set<RegisteredTap>()
  const open = new Set<RegisteredTap>()
  const place = (tap: RegisteredTap): void => {
    if (result.has(tap)) return
    if (open.has(tap)) throw badBefore(tap.spec, 'is part of a circle of before')
    open.add(tap)
    for (const other of inFront.get(tap)!) place(other)
    result.add(tap)
  }
  for (const tap of byStage) place(tap)
  return [...result]
}

const badBefore = (spec: TapSpec, problem: string): TaplineError =>
  new TaplineError('HOOK_BAD_TAP', `plugin "${spec.plugin}": tap "${spec.name}" on ${spec.hook} ${problem}`, {
    hook: spec.hook,
    tap: spec.name,
    plugin: spec.plugin,
  })

/** What `dispatch.tap` would be, for plugins that no compiler has seen. */
const wraps = (plugin: string) => (): never => {
  throw new TaplineError('HOOK_BAD_TAP', `plugin "${plugin}" uses tap on dispatch: dispatch wraps the call, so its taps are asynchronous`, {
    hook: 'dispatch',
    plugin,
    remedy: 'Use tapPromise with (call, next) => next().',
  })
}

/** Runs `apply` with ports that close behind it. */
function applyPlugin(
  { plugin }: PluginEntry,
  session: HookPorts['session'],
  register: (spec: TapSpec) => void,
): Disposable | AsyncDisposable | undefined {
  const name: unknown = plugin?.name
  if (typeof plugin !== 'object' || typeof name !== 'string' || name.trim() === '' || typeof plugin.apply !== 'function') {
    throw new TaplineError('HOOK_BAD_PLUGIN', 'a hook plugin is an object with a name and an apply function', {
      remedy: 'Give an object (or an instance of a class) with name and apply({ hooks }).',
    })
  }
  let isOpen = true
  const port = (hook: HookName): Record<'tap' | 'tapPromise', (options: unknown, fn: unknown) => void> => {
    const add = (kind: TapSpec['kind']) => (options: unknown, fn: unknown) => {
      if (!isOpen)
        throw new TaplineError(
          'HOOK_BAD_TAP',
          `plugin "${name}" registers a tap on ${hook} after apply: taps are fixed when a session starts`,
          { hook, plugin: name },
        )
      register(readTapSpec(hook, name, kind, options, fn))
    }
    return Object.freeze(
      hook === 'dispatch' ? { tap: wraps(name), tapPromise: add('promise') } : { tap: add('sync'), tapPromise: add('promise') },
    ) as never
  }
  const hooks = Object.freeze({
    resolve: port('resolve'),
    approve: port('approve'),
    attachMetadata: port('attachMetadata'),
    dispatch: port('dispatch'),
    settled: port('settled'),
  })
  let returned: unknown
  try {
    returned = plugin.apply(Object.freeze({ hooks, session }))
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'HOOK_BAD_TAP') throw asTaplineError(error, 'HOOK_BAD_TAP')
    throw new TaplineError('HOOK_BAD_PLUGIN', `apply of plugin "${name}" threw: ${messageOf(error)}`, {
      plugin: name,
      cause: error,
      remedy: 'Correct apply; it runs once for each session and only registers taps.',
    })
  } finally {
    isOpen = false
  }
  if (returned === undefined) return undefined
  // an async apply that fails must not end the host's process as well
  if (types.isPromise(returned)) returned.catch(() => {})
  if (typeof returned === 'object' && returned !== null && (Symbol.dispose in returned || Symbol.asyncDispose in returned))
    return returned as Disposable
  throw new TaplineError('HOOK_BAD_PLUGIN', `apply of plugin "${name}" returned something that is neither nothing nor a disposable`, {
    plugin: name,
    remedy: types.isPromise(returned)
      ? 'Take async away: apply is synchronous, and taps that it registers later would be lost.'
      : 'Return nothing, or an object with Symbol.dispose or Symbol.asyncDispose.',
  })
}
