/** The mode of a plugin in a running session. */
import type { PluginMode } from '../plugin-mode.ts'
import { PLUGIN_MODES } from '../plugin-mode.ts'

/** The mode of one plugin in one session, which its taps look at before each run. It only ever falls. */
export class ModeCell {
  #mode: PluginMode

  constructor(mode: PluginMode) {
    this.#mode = mode
  }

  get mode(): PluginMode {
    return this.#mode
  }

  /** Takes a lower mode over and says whether it was lower; a higher one is for new sessions. */
  lower(mode: PluginMode): boolean {
    if (PLUGIN_MODES.indexOf(mode) >= PLUGIN_MODES.indexOf(this.#mode)) return false
    this.#mode = mode
    return true
  }
}
