/** The plugins of open sessions follow their flags downwards while these change. */
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { RuntimeFlags } from './runtime-flags.ts'
import type { SessionPlugins } from './session-plugins.ts'

/** An open session as far as its plugins are concerned. */
export interface FollowingSession {
  readonly plugins: SessionPlugins
  report(diagnostic: Diagnostic): void
}

/** Evaluates the flags again for every open session when a provider or flag file says that something changed. */
export class FlagFollower {
  readonly #flags: RuntimeFlags
  readonly #sessions: () => Iterable<FollowingSession>
  readonly #subscription: Disposable
  #changes = 0
  #wanted = 0
  #running = false

  constructor(flags: RuntimeFlags, sessions: () => Iterable<FollowingSession>) {
    this.#flags = flags
    this.#sessions = sessions
    this.#subscription = flags.onChange(() => this.#changed())
  }

  /** How often something has changed: a session that is being opened asks before and after. */
  get changes(): number {
    return this.#changes
  }

  /** A session was opened whose flags were captured after this many changes. */
  opened(changes: number): void {
    // also where a round is under way: it does not know this session
    if (changes !== this.#changes) void this.#follow()
  }

  close(): void {
    this.#subscription[Symbol.dispose]()
  }

  #changed(): void {
    this.#changes++
    void this.#follow()
  }

  /** One round at a time; what changes meanwhile is looked at in another. */
  async #follow(): Promise<void> {
    this.#wanted++
    if (this.#running) return
    this.#running = true
    try {
      for (let round = 0; round !== this.#wanted; ) {
        round = this.#wanted
        await Promise.all([...this.#sessions()].map((session) => this.#lower(session)))
      }
    } finally {
      this.#running = false
    }
  }

  async #lower(session: FollowingSession): Promise<void> {
    const { plugins } = session
    if (plugins.subject === null || !plugins.hasFlags) return
    try {
      const { flags } = await this.#flags.capture(plugins.subject)
      for (const { name, mode } of plugins.follow(flags))
        session.report({
          code: 'plugin_mode_lowered',
          severity: 'info',
          message: `plugin "${name}" has the mode ${mode} from now on, as its flag says`,
        })
    } catch {
      // a value that cannot be read lowers nothing
    }
  }
}
