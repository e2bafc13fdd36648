/** What one connection tells the rooms above: that something changed, and diagnostics, each once. */
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerKey } from '../servers/key.ts'

/** How many messages are known as told already; then it starts again. */
const MOST_KNOWN = 200

/** Listeners and diagnostics of one connection. */
export class ConnectionNews {
  readonly #key: ServerKey
  readonly #onDiagnostic: (diagnostic: Diagnostic) => void
  readonly #listeners = new Set<() => void>()
  readonly #reported = new Set<string>()

  constructor(key: ServerKey, onDiagnostic: (diagnostic: Diagnostic) => void) {
    this.#key = key
    this.#onDiagnostic = onDiagnostic
  }

  subscribe(listener: () => void): Disposable {
    // a function of its own, so that one listener may subscribe twice
    const entry = (): void => listener()
    this.#listeners.add(entry)
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) }
  }

  emit(): void {
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch (error) {
        this.report('listener_failed', `${this.#key}: a listener failed: ${String(error)}`)
      }
    }
  }

  /** A warning about the server. */
  report(code: string, message: string): void {
    this.pass({ code, severity: 'warning', message, owner: this.#key })
  }

  pass(diagnostic: Diagnostic): void {
    if (this.#reported.size > MOST_KNOWN) this.#reported.clear()
    if (this.#reported.has(diagnostic.message)) return
    this.#reported.add(diagnostic.message)
    this.#onDiagnostic(diagnostic)
  }
}
