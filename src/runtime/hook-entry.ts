/** A hook plugin as a host gives it, with or without a filter. */
import { TaplineError } from '../errors.ts'
import type { PluginEntry } from '../hooks/session-hooks.ts'
import type { HookEntry } from './types.ts'

const KEYS = new Set(['plugin', 'environments', 'servers', 'tools'])

/** Plugin and filter of an entry. Throws HOOK_BAD_PLUGIN for an option that is not one. */
export function pluginEntry(entry: HookEntry): PluginEntry {
  if (!('plugin' in entry)) return { plugin: entry, filter: {} }
  const unknown = Object.keys(entry).find((key) => !KEYS.has(key))
  if (unknown !== undefined) throw new TaplineError('HOOK_BAD_PLUGIN', `a hook entry has no option ${JSON.stringify(unknown)}`)
  const { plugin, ...filter } = entry
  return { plugin, filter }
}
