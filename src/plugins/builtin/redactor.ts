/** Takes values out of JSON: by pattern, by the name of a member, by its path. */
import { repeatsKey } from '../../exact-json.ts'
import { matchesGlob } from '../../hooks/tap-filter.ts'
import type { Json, JsonObject } from '../../json.ts'
import { isJsonObject } from '../../json.ts'
import { literalPattern, replaceMatches, type TextPattern } from './text-pattern.ts'

/** What is taken out, and what comes instead. */
export interface Redaction {
  readonly patterns: readonly TextPattern[]
  /** in lower case; `*` and `?` are wildcards */
  readonly keys: readonly string[]
  /** the steps to a member; `*` is any one step */
  readonly paths: readonly (readonly string[])[]
  readonly instead: (text: string) => string
}

/** What is nested deeper is taken out whole: nobody looks there. */
const DEEPEST = 500

/** Redacts one value. Values that keys and paths take out are taken out of the other texts of it too. */
export class Redactor {
  readonly #redaction: Redaction
  readonly #hasMembers: boolean

  constructor(redaction: Redaction) {
    this.#redaction = redaction
    this.#hasMembers = redaction.keys.length > 0 || redaction.paths.length > 0
  }

  /** The value itself where there was nothing to take out. `fromTop` says whether names and paths count from its top. */
  redact(value: Json, fromTop: boolean): Json {
    const found = new Set<string>()
    const without = this.#hasMembers ? this.#members(value, fromTop ? [] : null, found, 0) : value
    return this.#texts(without, this.#patterns(found), 0)
  }

  /** A result of any method: names and paths count from `structuredContent`, and from the top of every text that is JSON. */
  redactResult(result: JsonObject): JsonObject {
    const found = new Set<string>()
    const { structuredContent, ...rest } = result
    const envelope = this.#hasMembers ? (this.#members(rest, null, found, 0) as JsonObject) : rest
    const content =
      structuredContent === undefined || !this.#hasMembers ? structuredContent : this.#members(structuredContent, [], found, 0)
    if (envelope === rest && content === structuredContent) return this.#texts(result, this.#redaction.patterns, 0) as JsonObject
    const without: JsonObject = content === undefined ? envelope : { ...envelope, structuredContent: content }
    return this.#texts(without, this.#patterns(found), 0) as JsonObject
  }

  /** Takes out members by name and path; `path` is null where names and paths do not count, and only texts that are JSON are looked into. */
  #members(value: Json, path: readonly string[] | null, found: Set<string>, level: number): Json {
    if (level > DEEPEST) return this.#instead('')
    if (typeof value === 'string') return this.#jsonText(value, found, level)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const items = value as readonly Json[]
      return changed(
        items,
        items.map((item, index) => this.#member(String(index), item, path, found, level)),
      )
    }
    const entries = Object.entries(value as JsonObject)
    const members = entries.map(([key, member]): [string, Json] => [key, this.#member(key, member, path, found, level)])
    return members.every(([, member], index) => member === entries[index]?.[1]) ? value : Object.fromEntries(members)
  }

  #member(key: string, value: Json, path: readonly string[] | null, found: Set<string>, level: number): Json {
    if (path === null) return this.#members(value, null, found, level + 1)
    const here = [...path, key]
    if (!this.#isNamed(key) && !this.#redaction.paths.some((steps) => isAt(steps, here)))
      return this.#members(value, here, found, level + 1)
    if (value === null) return value
    remember(value, found)
    return this.#instead(typeof value === 'string' ? value : JSON.stringify(value))
  }

  /** Servers give structured content as text too. */
  #jsonText(text: string, found: Set<string>, level: number): string {
    if (!/^\s*[{[]/.test(text)) return text
    let parsed: Json
    try {
      parsed = JSON.parse(text) as Json
    } catch {
      return text
    }
    const without = this.#members(parsed, [], found, level + 1)
    // of a key that is there twice only the last value was looked at
    return without === parsed && !repeatsKey(text) ? text : JSON.stringify(without)
  }

  #isNamed(key: string): boolean {
    const lower = key.toLowerCase()
    return this.#redaction.keys.some((name) => matchesGlob(name, lower))
  }

  /** Replaces matches in every text, in the names of members and in numbers. */
  #texts(value: Json, patterns: readonly TextPattern[], level: number): Json {
    if (level > DEEPEST) return this.#instead('')
    if (patterns.length === 0) return value
    if (typeof value === 'string') return this.#text(value, patterns)
    if (typeof value === 'number') {
      const text = this.#text(String(value), patterns)
      return text === String(value) ? value : text
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const items = value as readonly Json[]
      return changed(
        items,
        items.map((item) => this.#texts(item, patterns, level + 1)),
      )
    }
    const entries = Object.entries(value as JsonObject)
    const members = new Map<string, Json>()
    let isSame = true
    for (const [key, member] of entries) {
      const text = this.#text(key, patterns)
      const redacted = this.#texts(member, patterns, level + 1)
      isSame &&= text === key && redacted === member
      // two names that become one must not lose a value
      let free = text
      for (let n = 2; members.has(free) || (free !== key && Object.hasOwn(value, free)); n++) free = `${text} ${n}`
      members.set(free, redacted)
    }
    return isSame ? value : Object.fromEntries(members)
  }

  #text(text: string, patterns: readonly TextPattern[]): string {
    return replaceMatches(text, patterns, (match) => this.#instead(match))
  }

  #patterns(found: ReadonlySet<string>): readonly TextPattern[] {
    const literals = literalPattern(found)
    return literals === null ? this.#redaction.patterns : [...this.#redaction.patterns, literals]
  }

  #instead(text: string): string {
    const instead: unknown = this.#redaction.instead(text)
    if (typeof instead !== 'string') throw new TypeError('replace of the plugin "redact" returned no text')
    return instead
  }
}

const isAt = (steps: readonly string[], path: readonly string[]): boolean =>
  steps.length === path.length && steps.every((step, index) => step === '*' || step === path[index])

function changed(before: readonly Json[], after: readonly Json[]): readonly Json[] {
  return after.every((item, index) => item === before[index]) ? before : after
}

/** Shorter values are not looked for elsewhere: they would blacken ordinary words. */
const SHORTEST = 6

/** Every text in a value that was taken out. */
function remember(value: Json, found: Set<string>): void {
  const open: Json[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string' || typeof one === 'number') {
      if (String(one).length >= SHORTEST) found.add(String(one))
    } else if (Array.isArray(one)) for (const item of one as readonly Json[]) open.push(item)
    else if (isJsonObject(one)) for (const member of Object.values(one)) open.push(member)
  }
}
