/** A hook plugin as a host gives it, with or without a filter. */
import { TaplineError } from '../errors.ts'
import type { PluginEntry } from '../hooks/session-hooks.ts'
import type { HookEntry } from './types.ts'

const KEYS = new Set(['plugin', 'environments', 'servers', 'tools'])

/** Plugin and filter of an entry. Throws HOOK_BAD_PLUGIN for an option that is not one. */
export function pluginEntry(entry: HookEntry): PluginEntry {
  if (typeof entry !== 'object' || entry === null)
    throw new TaplineError('HOOK_BAD_PLUGIN', 'a hook entry is a plugin, or an object with a plugin')
  if (!('plugin' in entry)) return { plugin: entry, filter: {} }
  const unknown = Object.keys(entry).find((key) => !KEYS.has(key))
  if (unknown !== undefined)
    throw new TaplineError('HOOK_BAD_PLUGIN', `a hook entry has no option ${JSON.stringify(unknown)}`, {
      remedy: 'A hook entry has plugin, environments, servers and tools.',
    })
  const { plugin, ...filter } = entry
  for (const [key, names] of Object.entries(filter)) {
    // a text has an `includes` too, and would let parts of names through
    if (
      names !== undefined &&
      !(Array.isArray(names) && names.every((name) => typeof name === 'string' || (name === null && key === 'environments')))
    ) {
      throw new TaplineError('HOOK_BAD_PLUGIN', `${key} of a hook entry must be a list of names`)
    }
  }
  return { plugin, filter }
}
