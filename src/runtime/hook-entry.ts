/** A hook plugin as a host gives it, with or without filter and mode. */
import { TaplineError } from '../errors.ts'
import { defineFlag } from '../flags/define-flag.ts'
import type { Flag } from '../flags/flag.ts'
import type { FlagRegistry } from '../flags/registry.ts'
import type { HookPlugin, TapFilter } from '../hooks/plugin.ts'
import type { PluginMode } from '../plugin-mode.ts'
import { isPluginMode, PLUGIN_MODES } from '../plugin-mode.ts'
import { HookSource } from './hook-source.ts'

/** A flag that decides the mode for each session. Naming it declares it; `default` counts where nothing sets it. */
export interface ModeFlag {
  readonly flag: string
  /** for a guard `'enforce'`: no outage of a provider then turns it off */
  readonly default: PluginMode
}

/** A plugin, or a plugin with the servers that it is limited to and its mode. */
export type HookEntry =
  | HookPlugin
  | (TapFilter & {
      readonly plugin: HookPlugin
      /** default `'enforce'`; a flag of one's own must have exactly the variants `off`, `shadow` and `enforce` */
      readonly mode?: PluginMode | ModeFlag | Flag<PluginMode>
    })

const KEYS = new Set(['plugin', 'mode', 'environments', 'servers', 'tools'])

/** The entry, checked. Throws HOOK_BAD_PLUGIN for an option that is not one, FLAG_BAD_VALUE for a flag that cannot be a mode. */
export function hookSource(entry: HookEntry): HookSource {
  if (typeof entry !== 'object' || entry === null) throw bad('a hook entry is a plugin, or an object with a plugin')
  if (!('plugin' in entry)) return new HookSource({ plugin: entry, filter: {}, mode: 'enforce' })
  const unknown = Object.keys(entry).find((key) => !KEYS.has(key))
  if (unknown !== undefined)
    throw bad(`a hook entry has no option ${JSON.stringify(unknown)}`, 'A hook entry has plugin, mode, environments, servers and tools.')
  const { plugin, mode, ...filter } = entry
  for (const [key, names] of Object.entries(filter)) {
    // a text has an `includes` too, and would let parts of names through
    if (
      names !== undefined &&
      !(Array.isArray(names) && names.every((name) => typeof name === 'string' || (name === null && key === 'environments')))
    ) {
      throw bad(`${key} of a hook entry must be a list of names`)
    }
  }
  return new HookSource({ plugin, filter, mode: modeOf(mode) })
}

function modeOf(mode: Exclude<HookEntry, HookPlugin>['mode']): PluginMode | Flag<PluginMode> {
  if (mode === undefined) return 'enforce'
  if (isPluginMode(mode)) return mode
  if (typeof mode !== 'object' || mode === null) throw badMode()
  if ('name' in mode) return checkedFlag(mode)
  const unknown = Object.keys(mode).find((key) => key !== 'flag' && key !== 'default')
  if (unknown !== undefined || typeof mode.flag !== 'string' || !isPluginMode(mode.default)) throw badMode()
  return modeFlag(mode)
}

/** The flag that an entry declares by naming it. Throws FLAG_BAD_VALUE for a name that no flag can have. */
export function modeFlag({ flag, default: otherwise }: ModeFlag): Flag<PluginMode> {
  return defineFlag({ name: flag, default: otherwise, variants: PLUGIN_MODES, description: 'the mode of a hook plugin' })
}

/** Declares the flags that entries of a configuration name. Throws FLAG_BAD_VALUE for one that is declared otherwise already. */
export function declareModeFlags(
  registry: FlagRegistry,
  hooks: readonly { readonly mode: PluginMode | ModeFlag; readonly where: string }[],
): void {
  for (const { mode, where } of hooks) if (typeof mode === 'object') registry.declare(modeFlag(mode), where)
}

function checkedFlag(flag: Flag<PluginMode>): Flag<PluginMode> {
  const variants: readonly unknown[] = flag.variants ?? []
  if (variants.length === PLUGIN_MODES.length && PLUGIN_MODES.every((mode) => variants.includes(mode))) return flag
  throw new TaplineError('FLAG_BAD_VALUE', `the flag "${flag.name}" cannot be the mode of a hook plugin`, {
    remedy: 'Define it with the variants off, shadow and enforce, and no others.',
  })
}

const bad = (message: string, remedy?: string): TaplineError =>
  new TaplineError('HOOK_BAD_PLUGIN', message, remedy === undefined ? {} : { remedy })
const badMode = (): TaplineError =>
  bad('mode of a hook entry must be a mode or a flag', 'Give "off", "shadow" or "enforce", or { flag: NAME, default: MODE }.')
