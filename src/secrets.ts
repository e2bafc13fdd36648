/** Leaf room: the values that must never be shown, and the one function that takes them out of a text. */

/** Shorter values are not redacted: they would blacken ordinary words. */
const SHORTEST = 6

/** The secret values of one runtime. Values enter when a configuration is read; texts leave through `redact`. */
export class Secrets {
  readonly #values = new Set<string>()
  #pattern: RegExp | null = null

  /** Remembers a value (6 or more characters) and its JSON-escaped form. */
  add(value: string): void {
    if (value.length < SHORTEST || this.#values.has(value)) return
    this.#values.add(value)
    this.#pattern = null
  }

  /** The text with every known value replaced by `[redacted]`. */
  redact(text: string): string {
    if (this.#values.size === 0) return text
    this.#pattern ??= new RegExp(
      [...this.#values]
        .flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
        .sort((a, b) => b.length - a.length)
        .map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
        .join('|'),
      'g',
    )
    return text.replace(this.#pattern, '[redacted]')
  }
}
