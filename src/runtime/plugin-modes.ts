/** The hook plugins of a runtime, and the one switch that reaches sessions while they run. */
import { TaplineError } from '../errors.ts'
import type { FlagRegistry } from '../flags/registry.ts'
import { nearest } from '../nearest.ts'
import type { PluginMode } from '../plugin-mode.ts'
import { isPluginMode } from '../plugin-mode.ts'
import type { HookSource } from './hook-source.ts'
import type { SessionPlugins } from './session-plugins.ts'

/** What setPluginMode did. */
export interface PluginModeChange {
  readonly plugin: string
  /** what sessions that are opened from now on get; null: what configuration and flags say */
  readonly mode: PluginMode | null
  /** ids of the open sessions where taps that have not begun follow the lower mode already */
  readonly lowered: readonly string[]
  /** ids of the open sessions that keep a mode below this one */
  readonly waiting: readonly string[]
}

/** A session as far as its plugins are concerned. */
interface Session {
  readonly id: string
  readonly plugins: SessionPlugins
}

/** In the order in which they register. */
export class PluginModes {
  readonly #sources: HookSource[] = []
  readonly #registry: FlagRegistry
  /** by name; null: what configuration and flags say, again */
  readonly #overrides = new Map<string, PluginMode | null>()

  constructor(sources: readonly HookSource[], registry: FlagRegistry) {
    this.#registry = registry
    for (const source of sources) this.add(source)
  }

  /** For sessions that are opened later. Throws FLAG_BAD_VALUE where its flag is declared otherwise already. */
  add(source: HookSource): Disposable {
    if (source.flag !== null) this.#registry.declare(source.flag, source.where)
    this.bind([source])
    this.#sources.push(source)
    return {
      [Symbol.dispose]: () => {
        const at = this.#sources.indexOf(source)
        if (at >= 0) this.#sources.splice(at, 1)
      },
    }
  }

  /** What is set for a name counts for these as well. */
  bind(sources: readonly HookSource[]): void {
    for (const source of sources) source.overrides = this.#overrides
  }

  /** Those of a session that is opened now: taken before its flags are captured, so that every flag of theirs is among them. */
  get sources(): readonly HookSource[] {
    return [...this.#sources]
  }

  /** Sets the mode of every plugin of the name for later sessions, also of one that comes later, and lowers it in those that are open. Throws CALL_INVALID_REQUEST. */
  set(name: string, mode: PluginMode | null, sessions: Iterable<Session>): PluginModeChange {
    if (mode !== null && !isPluginMode(mode))
      throw new TaplineError('CALL_INVALID_REQUEST', `the mode of a hook plugin cannot be ${JSON.stringify(mode)}`, {
        remedy: 'It is "off", "shadow" or "enforce", or null for what configuration and flags say.',
      })
    const open = [...sessions]
    const isKnown = this.#overrides.has(name) || this.#sources.some((source) => source.name === name)
    const found = open.map(({ id, plugins }) => ({ id, what: mode === null ? null : plugins.lower(name, mode) }))
    if (!isKnown && found.every(({ what }) => what === null)) throw this.#unknown(name, open)
    this.#overrides.set(name, mode)
    const those = (what: string): readonly string[] => Object.freeze(found.filter((one) => one.what === what).map(({ id }) => id))
    return Object.freeze({ plugin: name, mode, lowered: those('lowered'), waiting: those('waits') })
  }

  #unknown(name: string, open: readonly Session[]): TaplineError {
    const names = new Set([
      ...this.#sources.map((source) => source.name),
      ...open.flatMap(({ plugins }) => plugins.shown.map((one) => one.name)),
    ])
    const near = nearest(name, names)
    const hint = near !== null ? `: did you mean ${JSON.stringify(near)}?` : names.size > 0 ? `; there is ${[...names].join(', ')}` : ''
    return new TaplineError('CALL_INVALID_REQUEST', `there is no hook plugin ${JSON.stringify(name)}${hint}`, {
      remedy: 'Give the name that the plugin has; session.hookPlugins lists them.',
    })
  }
}
