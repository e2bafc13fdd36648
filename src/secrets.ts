/** Leaf room: the values that must never be shown, and the functions that take them out of texts and JSON values. */
import type { Json, JsonObject } from './json.ts'

/** Shorter values are not redacted: they would blacken ordinary words. */
const SHORTEST = 6
const INSTEAD = '[redacted]'
/** Deepest level of a JSON value that is looked at; what is below is left out whole. */
const DEEPEST = 1000

/** The secret values of one runtime. Values enter when a configuration is read; texts leave through `redact`. */
export class Secrets {
  readonly #values = new Set<string>()
  #pattern: RegExp | null = null

  /** Remembers a value and each of its lines (of 6 or more characters): programs show a value without the line end it was read with, or line by line. */
  add(value: string): void {
    for (const text of [value, ...value.split(/[\r\n]+/).map((line) => line.trim())]) {
      if (text.length < SHORTEST || this.#values.has(text)) continue
      this.#values.add(text)
      this.#pattern = null
    }
  }

  /** True where there is nothing to redact. */
  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  /** The text with every known value replaced by `[redacted]`. */
  redact(text: string): string {
    if (this.#values.size === 0) return text
    this.#pattern ??= new RegExp(
      [...new Set([...this.#values].flatMap(forms))]
        .sort((a, b) => b.length - a.length)
        .map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
        .join('|'),
      'g',
    )
    return text.replace(this.#pattern, INSTEAD)
  }

  /** The value with every text in it redacted, keys too; the value itself where there was nothing to redact. */
  redactJson<T extends Json>(value: T): T {
    return this.#values.size === 0 ? value : (this.#redacted(value, 0) as T)
  }

  #redacted(value: Json, level: number): Json {
    if (typeof value === 'string') return this.redact(value)
    if (typeof value !== 'object' || value === null) return value
    if (level > DEEPEST) return INSTEAD
    if (Array.isArray(value)) {
      const items: readonly Json[] = value
      const redacted = items.map((item) => this.#redacted(item, level + 1))
      return redacted.every((item, index) => item === items[index]) ? items : redacted
    }
    const entries = Object.entries(value as JsonObject)
    const redacted = entries.map(([key, member]): [string, Json] => [this.redact(key), this.#redacted(member, level + 1)])
    const isSame = redacted.every(([key, member], index) => key === entries[index]?.[0] && member === entries[index]?.[1])
    return isSame ? value : Object.fromEntries<Json>(redacted)
  }
}

/** A value as programs show it: as it is, in JSON (some escape the slash as well), in a URL. */
function forms(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1)
  const all = [value, escaped, escaped.replaceAll('/', '\\/')]
  try {
    all.push(encodeURIComponent(value))
  } catch {
    // half a surrogate pair has no form in a URL
  }
  return all
}
