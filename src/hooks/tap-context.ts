/** The second argument of a tap. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { CallRun } from './call-run.ts'
import type { TapContext } from './plugin.ts'
import { TapView, type ViewOwner } from './tap-view.ts'

/** Small on purpose: the signal is made only where a tap reads it. Not frozen, unlike the view: it is of one tap and one call, and says nothing that a guard or the core goes by. */
export class LiveTapContext implements TapContext {
  readonly #run: CallRun
  readonly #tap: ViewOwner
  readonly #view: TapView
  #own: AbortController | null = null
  #signal: AbortSignal | null = null
  #isOver = false

  constructor(run: CallRun, tap: ViewOwner, view: TapView) {
    this.#run = run
    this.#tap = tap
    this.#view = view
  }

  /** Ends the signal of this tap alone. */
  static end(context: LiveTapContext): void {
    context.#isOver = true
    context.#own?.abort()
  }

  get signal(): AbortSignal {
    if (this.#signal === null) {
      this.#own = new AbortController()
      if (this.#isOver) this.#own.abort()
      this.#signal = AbortSignal.any([this.#run.signal, this.#own.signal])
    }
    return this.#signal
  }
  get mode(): 'shadow' | 'enforce' {
    return this.#run.mode
  }
  get flags(): CapturedFlags {
    return this.#run.context.flags
  }
  get session(): string {
    return this.#run.context.sessionId
  }
  /** A function without `this`, because taps take their context apart: `{ log }`. */
  get log(): (line: unknown) => void {
    const { context } = this.#run
    return (line) => context.log(String(line))
  }
  get note(): (text: unknown) => void {
    const { hook, name, plugin } = this.#tap
    return (text) => {
      if (!this.#isClosed) this.#run.trace?.note(Object.freeze({ hook, tap: name, plugin, text: String(text) }))
    }
  }
  get addContext(): (text: unknown) => void {
    return (text) => {
      if (!this.#isClosed) (this.#run.additionalContext ??= []).push(String(text))
    }
  }
  /** The tap has ended, or its call: what it says now is too late. */
  get #isClosed(): boolean {
    return TapView.isSettled(this.#view) || this.#run.ended !== null
  }
}
// nobody gets at the class through a context
Reflect.deleteProperty(LiveTapContext.prototype, 'constructor')
Object.freeze(LiveTapContext.prototype)
