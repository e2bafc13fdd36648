/** A hook plugin that a runtime knows, whether it is loaded yet or not. */
import { isTaplineError } from '../errors.ts'
import type { CapturedFlags, Flag } from '../flags/flag.ts'
import type { HookPlugin, TapFilter } from '../hooks/plugin.ts'
import type { PluginMode } from '../plugin-mode.ts'

/** What a source is made of: a plugin, or a module that makes one and what it is called until then. `outdated`: sessions that are opened later need it loaded again. */
export type HookSourceParts = {
  readonly filter: TapFilter
  readonly mode: PluginMode | Flag<PluginMode>
  /** the place of its entry; left out for one from code */
  readonly where?: string
} & ({ readonly plugin: HookPlugin } | { readonly module: string; readonly load: (outdated: () => void) => Promise<HookPlugin> })

/** One entry of `hooks`. */
export class HookSource {
  readonly filter: TapFilter
  readonly mode: PluginMode | Flag<PluginMode>
  readonly where: string | undefined
  /** what somebody has set for names of plugins; null where nobody can */
  overrides: ReadonlyMap<string, PluginMode | null> | null = null
  readonly #load: ((outdated: () => void) => Promise<HookPlugin>) | null
  readonly #firstName: string
  #loading: Promise<HookPlugin> | null = null
  #plugin: HookPlugin | null
  #name: string

  constructor(parts: HookSourceParts) {
    this.filter = parts.filter
    this.mode = parts.mode
    this.where = parts.where
    this.#plugin = 'plugin' in parts ? parts.plugin : null
    this.#load = 'plugin' in parts ? null : parts.load
    this.#name = 'plugin' in parts ? nameOf(parts.plugin) : parts.module
    this.#firstName = this.#name
  }

  /** The name of the plugin, as it was when it came; of a module that is not loaded its path or package. */
  get name(): string {
    return this.#name
  }

  /** What somebody has set for every session that is opened from now on; null: nobody. What was set before it was loaded stays. */
  get override(): PluginMode | null {
    const set = this.overrides?.get(this.#name)
    return (set === undefined ? this.overrides?.get(this.#firstName) : set) ?? null
  }

  /** null: the mode is no flag's */
  get flag(): Flag<PluginMode> | null {
    return typeof this.mode === 'string' ? null : this.mode
  }

  /** What a host gave counts as loaded, whatever it is. */
  get isLoaded(): boolean {
    return this.#load === null || this.#plugin !== null
  }

  /** null where it is not loaded */
  get plugin(): HookPlugin | null {
    return this.#plugin
  }

  /** The mode for a session with these flags. */
  modeFor(flags: CapturedFlags): PluginMode {
    if (this.override !== null) return this.override
    return typeof this.mode === 'string' ? this.mode : flags.get(this.mode)
  }

  /** Loads the module, once. Rejects with HOOK_BAD_PLUGIN, each time; after other errors it is tried again. */
  async load(): Promise<HookPlugin> {
    if (this.#load === null) return this.#plugin as HookPlugin
    const loading = (this.#loading ??= this.#begin(this.#load))
    try {
      const plugin = await loading
      if (this.#plugin === null) this.#name = nameOf(plugin)
      return (this.#plugin = plugin)
    } catch (error) {
      // a person can do something about the others: trust the file, or correct it
      if (this.#loading === loading && !(isTaplineError(error) && error.code === 'HOOK_BAD_PLUGIN')) this.#loading = null
      throw error
    }
  }

  #begin(load: (outdated: () => void) => Promise<HookPlugin>): Promise<HookPlugin> {
    const loading = load(() => {
      if (this.#loading !== loading) return
      this.#loading = null
      this.#plugin = null
    })
    return loading
  }
}

/** Read once: a plugin that is called otherwise each time could not be switched off, and one whose name throws would keep others from it. */
function nameOf(plugin: HookPlugin): string {
  try {
    const name: unknown = plugin?.name
    return typeof name === 'string' ? name : ''
  } catch {
    return ''
  }
}
