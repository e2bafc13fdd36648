/** The hook plugins of one session with their modes, which only fall while it runs. */
import { messageOf } from '../errors.ts'
import type { CapturedFlags } from '../flags/flag.ts'
import { ModeCell } from '../hooks/mode-cell.ts'
import type { HookPlugin } from '../hooks/plugin.ts'
import type { PluginEntry } from '../hooks/registered-taps.ts'
import type { PluginMode } from '../plugin-mode.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { HookSource } from './hook-source.ts'
import type { FlagSubject } from './runtime-flags.ts'

/** A hook plugin as a session has it. */
export interface SessionHookPlugin {
  readonly name: string
  /** as it is now */
  readonly mode: PluginMode
  /** as it was when the session was opened */
  readonly openedAs: PluginMode
  /** the flag that decided it, or null */
  readonly flag: string | null
}

interface Member {
  readonly source: HookSource
  readonly openedAs: PluginMode
  readonly entry: PluginEntry
}

/** Made when the session is opened. */
export class SessionPlugins {
  /** what could not be loaded and is left out */
  readonly diagnostics: readonly Diagnostic[]
  /** for whom the flags were evaluated; null: nobody follows them */
  readonly subject: FlagSubject | null
  readonly #members: readonly Member[]

  /** With the modes that the sources have by these flags; those that are not off must be loaded, or are left out. */
  constructor(
    sources: readonly HookSource[],
    flags: CapturedFlags,
    subject: FlagSubject | null = null,
    diagnostics: readonly Diagnostic[] = [],
  ) {
    this.diagnostics = diagnostics
    this.subject = subject
    this.#members = sources.map((source) => {
      const openedAs = source.modeFor(flags)
      // one that is off is never applied
      const plugin = source.isLoaded ? (source.plugin as HookPlugin) : { name: source.name, apply: () => {} }
      return {
        source,
        openedAs,
        entry: Object.freeze({ plugin, filter: source.filter, cell: new ModeCell(source.isLoaded ? openedAs : 'off') }),
      }
    })
  }

  /** The same, once everything is loaded that is not off. Rejects with HOOK_BAD_PLUGIN for a plugin that enforces; one in shadow is left out. */
  static async open(sources: readonly HookSource[], flags: CapturedFlags, subject: FlagSubject): Promise<SessionPlugins> {
    const failed = new Map<HookSource, unknown>()
    const isWanted = (source: HookSource): boolean => !source.isLoaded && !failed.has(source) && source.modeFor(flags) !== 'off'
    // looked for anew each time: modes can be set meanwhile
    for (let source = sources.find(isWanted); source !== undefined; source = sources.find(isWanted)) {
      const wanted = source
      await wanted.load().catch((error: unknown) => failed.set(wanted, error))
    }
    const diagnostics: Diagnostic[] = []
    for (const [source, error] of failed) {
      const mode = source.modeFor(flags)
      if (mode === 'enforce') throw error
      if (mode === 'shadow') diagnostics.push({ code: 'shadow_plugin_failed', severity: 'warning', message: messageOf(error) })
    }
    return new SessionPlugins(sources, flags, subject, diagnostics)
  }

  /** Takes over what was set while the session was being opened. */
  catchUp(): void {
    for (const { source, entry } of this.#members) if (source.override !== null) entry.cell.lower(source.override)
  }

  /** What the hooks are built of. */
  get entries(): readonly PluginEntry[] {
    return this.#members.map(({ entry }) => entry)
  }

  /** In the order in which they register. */
  get shown(): readonly SessionHookPlugin[] {
    return Object.freeze(
      this.#members.map(({ source, openedAs, entry }) =>
        Object.freeze({ name: source.name, mode: entry.cell.mode, openedAs, flag: source.flag?.name ?? null }),
      ),
    )
  }

  /** Lowers every plugin of the name. `lowered`: at least one; `waits`: one has a lower mode than this, and keeps it; null: there is none. */
  lower(name: string, mode: PluginMode): 'lowered' | 'waits' | 'same' | null {
    const cells = this.#members.filter(({ source }) => source.name === name).map(({ entry }) => entry.cell)
    if (cells.length === 0) return null
    // every one of them
    if (cells.filter((cell) => cell.lower(mode)).length > 0) return 'lowered'
    return cells.some((cell) => cell.mode !== mode) ? 'waits' : 'same'
  }

  /** True where a flag decides the mode of one of them. */
  get hasFlags(): boolean {
    return this.#members.some(({ source }) => source.flag !== null)
  }

  /** Lowers those whose flag now says less for this session, and names them. What a flag could not be evaluated to changes nothing. */
  follow(flags: CapturedFlags): readonly { readonly name: string; readonly mode: PluginMode }[] {
    const lowered: { readonly name: string; readonly mode: PluginMode }[] = []
    for (const { source, entry } of this.#members) {
      if (source.flag === null || source.override !== null) continue
      const { value, errorCode } = flags.details(source.flag)
      if (errorCode === undefined && entry.cell.lower(value)) lowered.push({ name: source.name, mode: value })
    }
    return lowered
  }
}
