/** The source between variables and configuration: something that evaluates flags for a context. */
import type { Flag, FlagValue } from './flag.ts'
import type { EvaluationContext } from './openfeature.ts'

/** What an evaluator says of one flag; nothing of it is believed before it has been checked. */
export interface FlagAnswer {
  readonly value?: unknown
  readonly variant?: unknown
  readonly reason?: unknown
  readonly errorCode?: unknown
  readonly errorMessage?: unknown
  /** true: its failure has been reported already */
  readonly reported?: boolean
}

/** A provider, a client or a flag file. */
export interface FlagEvaluator {
  /** null where it can be asked now; else what to wait for. Never rejects */
  ready(): Promise<void> | null
  /** `fallback` is what counts where it has no answer. May throw, reject or never end */
  evaluate(flag: Flag, fallback: FlagValue, context: EvaluationContext): FlagAnswer | Promise<FlagAnswer>
  /** Called when answers may have changed. */
  onChange(listener: () => void): Disposable
  /** Never rejects. */
  close(): Promise<void>
}

/** Listeners of one evaluator; one that throws does not keep the others from hearing. */
export class ChangeListeners {
  readonly #listeners = new Set<() => void>()

  add(listener: () => void): Disposable {
    const own = (): void => listener()
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  tell(): void {
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch {
        // what a listener does wrong is its own affair
      }
    }
  }
}
