/** What the plugins of a session register, in order. A plugin in shadow that cannot be set up is left out: it must not keep a session from opening. */
import { messageOf, TaplineError } from '../errors.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { applyPlugin } from './apply-plugin.ts'
import type { ModeCell } from './mode-cell.ts'
import type { PipelineHook } from './outcome.ts'
import type { HookPlugin, HookPorts, TapFilter } from './plugin.ts'
import { BadOrder, inOrder, isNamed } from './tap-order.ts'
import type { TapSpec } from './tap-spec.ts'

/** A plugin, the servers that its taps are limited to, and its mode in the session. */
export interface PluginEntry {
  readonly plugin: HookPlugin
  readonly filter: TapFilter
  readonly cell: ModeCell
}

/** A tap with the entry of its plugin. */
export interface RegisteredTap {
  /** unique on its hook */
  readonly id: string
  readonly spec: TapSpec
  readonly entry: PluginEntry
}

/** Everything that is registered. */
export interface RegisteredTaps {
  readonly taps: readonly RegisteredTap[]
  readonly inOrder: Readonly<Record<PipelineHook, readonly RegisteredTap[]>>
  /** what the plugins' `apply` returned */
  readonly disposables: readonly (Disposable | AsyncDisposable)[]
}

/**
 * Runs `apply` of every plugin that is not off, and puts all taps in order: `before` > `stage` > registration.
 * Throws HOOK_BAD_PLUGIN or HOOK_BAD_TAP of a plugin that enforces; what earlier plugins returned is then disposed of.
 */
export function registerTaps(
  entries: readonly PluginEntry[],
  session: HookPorts['session'],
  report: (diagnostic: Diagnostic) => void,
): RegisteredTaps {
  const taps: RegisteredTap[] = []
  const disposables: (Disposable | AsyncDisposable)[] = []
  try {
    for (const [index, entry] of entries.entries()) {
      if (entry.cell.mode === 'off') continue
      try {
        // the instance, not the entry: the same plugin twice is the same taps twice
        const owner = entries.findIndex(({ plugin }) => plugin === entry.plugin)
        const own: RegisteredTap[] = []
        const disposable = applyPlugin(entry.plugin, session, (spec) => {
          const id = `${owner < 0 ? index : owner}/${spec.plugin}/${spec.name}`
          if ([...taps, ...own].some((tap) => tap.id === id && tap.spec.hook === spec.hook)) throw twice(spec)
          own.push({ id, spec, entry })
        })
        taps.push(...own)
        if (disposable !== undefined) disposables.push(disposable)
      } catch (error) {
        if (entry.cell.mode === 'enforce') throw error
        leaveOut(entry, error, report)
      }
    }
    // as it is now: what the order leaves out excuses no other mistake
    const isAnyOff = entries.some(({ cell }) => cell.mode === 'off')
    return { ...ordered(taps, isAnyOff, report), disposables }
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

function ordered(
  registered: readonly RegisteredTap[],
  isAnyOff: boolean,
  report: (diagnostic: Diagnostic) => void,
): Omit<RegisteredTaps, 'disposables'> {
  const taps = registered.filter(({ entry }) => entry.cell.mode !== 'off')
  // the taps of a plugin that is off are not known, and switching it off must not keep sessions from opening; nor must one that was left out
  const mayBeUnknown = ({ spec }: RegisteredTap, name: string): boolean => {
    if (!isAnyOff && !registered.some((tap) => tap.entry.cell.mode === 'off' && tap.spec.hook === spec.hook && isNamed(tap, name)))
      return false
    report({
      code: 'before_fits_nothing',
      severity: 'warning',
      message: `tap "${spec.name}" of plugin "${spec.plugin}" on ${spec.hook} names "${name}" in before, which no plugin has that is switched on`,
    })
    return true
  }
  const of = (hook: PipelineHook): readonly RegisteredTap[] =>
    inOrder(
      taps.filter(({ spec }) => spec.hook === hook),
      mayBeUnknown,
    )
  try {
    return {
      taps,
      inOrder: { resolve: of('resolve'), approve: of('approve'), attachMetadata: of('attachMetadata'), dispatch: of('dispatch') },
    }
  } catch (error) {
    if (!(error instanceof BadOrder)) throw error
    const involved = error.involved as readonly RegisteredTap[]
    const shadow = involved.find(({ entry }) => entry.cell.mode === 'shadow')
    if (shadow === undefined) throw error
    leaveOut(shadow.entry, error, report)
    return ordered(registered, isAnyOff, report)
  }
}

function leaveOut({ plugin, cell }: PluginEntry, error: unknown, report: (diagnostic: Diagnostic) => void): void {
  cell.lower('off')
  const name: unknown = plugin?.name
  report({
    code: 'shadow_plugin_failed',
    severity: 'warning',
    message: `plugin ${JSON.stringify(typeof name === 'string' ? name : '')} cannot run in shadow and is left out: ${messageOf(error)}`,
  })
}

const twice = ({ hook, name, plugin }: TapSpec): TaplineError =>
  new TaplineError('HOOK_BAD_TAP', `plugin "${plugin}" registers tap "${name}" twice on ${hook}`, { hook, tap: name, plugin })
