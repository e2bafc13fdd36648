/** What a session tells: events to its listeners, and diagnostics that are kept. */
import { messageOf } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { SessionEvent } from './types.ts'

/** How many diagnostics are kept; a server that complains for ever must not fill the memory. */
const MOST_DIAGNOSTICS = 1000

/** Listeners and diagnostics of one session. */
export class SessionLog {
  readonly #secrets: Secrets
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  readonly #reported = new Map<string, Diagnostic>()

  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  get diagnostics(): Iterable<Diagnostic> {
    return this.#reported.values()
  }

  /** False where an event would reach nobody, and need not be made. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  subscribe(listener: (event: SessionEvent) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Keeps a diagnostic, redacted, and tells it; only the first one under an id. */
  reportOnce(id: string, diagnostic: Diagnostic): void {
    if (this.#reported.has(id) || this.#reported.size >= MOST_DIAGNOSTICS) return
    const redacted = { ...diagnostic, message: this.#secrets.redact(diagnostic.message) }
    this.#reported.set(id, redacted)
    this.emit({ type: 'diagnostic', diagnostic: redacted })
  }

  /** In the order of subscription; a listener that throws is a diagnostic. */
  emit(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        // told once, and not through the event that failed
        const message = `a listener of the session failed: ${messageOf(error)}`
        this.#reported.set(message, { code: 'listener_failed', severity: 'warning', message: this.#secrets.redact(message) })
      }
    }
  }
}
