/** Leaf room: whether what a hook plugin says takes effect. */

/** `off`: it does not run. `shadow`: it runs beside the calls, and only the trace has what it would have done. `enforce`: it takes effect. */
export type PluginMode = 'off' | 'shadow' | 'enforce'
/** From the lowest to the highest. */
export const PLUGIN_MODES: readonly PluginMode[] = Object.freeze(['off', 'shadow', 'enforce'])

/** True for the text of a mode. */
export function isPluginMode(value: unknown): value is PluginMode {
  return PLUGIN_MODES.includes(value as PluginMode)
}
