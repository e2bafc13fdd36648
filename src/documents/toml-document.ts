/** TOML, read into the same tree as JSON: every key and value has its line and column. */
import type { TomlValue } from 'smol-toml'
import { isExact, locator } from './document.ts'
import type { Place } from './toml-places.ts'
import { tomlPlaces } from './toml-places.ts'
import type { Member, Report, Value } from './value.ts'
import { DEEPEST, memberPath } from './value.ts'

/** The tree of a document, or null where its text is no TOML: then the first error is reported. A key that is there twice is one. */
export async function parseTomlDocument(text: string, file: string, report: Report): Promise<Value | null> {
  const { parse, TomlError } = await import('smol-toml')
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const table = parse(body, { integersAsBigInt: 'asNeeded', maxDepth: DEEPEST })
    return new Converter(body, file, report).value(table, tomlPlaces(body), '', 0)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // its further lines show the text of the file, which may be a secret
    const [first = ''] = error.message.split('\n')
    report(`${file}:${error.line}:${error.column}`, `the TOML is broken: ${first.replace(/^Invalid TOML document: /, '')}`)
    return null
  }
}

class Converter {
  readonly #text: string
  readonly #place: (offset: number) => string
  readonly #report: Report

  constructor(text: string, file: string, report: Report) {
    this.#text = text
    this.#place = locator(text, file)
    this.#report = report
  }

  value(value: TomlValue, place: Place, path: string, depth: number): Value {
    const at = { where: this.#place(place.at), path }
    if (depth > DEEPEST) {
      this.#report(at.where, `${path} is nested too deeply; ${DEEPEST} levels are the limit`)
      return { ...at, kind: 'null' }
    }
    if (typeof value === 'string') return { ...at, kind: 'text', text: value }
    if (typeof value === 'boolean') return { ...at, kind: 'boolean', boolean: value }
    if (typeof value === 'bigint') return { ...at, kind: 'number', number: Number(value), exact: false }
    if (typeof value === 'number') return { ...at, kind: 'number', number: value, exact: this.#isExact(value, place) }
    if (Array.isArray(value)) {
      const items = value.map((item, index) => this.value(item, place.items[index] ?? place, `${path}[${index}]`, depth + 1))
      return { ...at, kind: 'list', items }
    }
    if (value instanceof Date) return { ...at, kind: 'foreign', what: 'a date' }
    const members: Member[] = []
    for (const name of new Set([...place.members.keys(), ...Object.keys(value)])) {
      const member = value[name]
      if (member === undefined || !Object.hasOwn(value, name)) continue
      const found = place.members.get(name) ?? { at: place.at, place }
      members.push({ name, where: this.#place(found.at), value: this.value(member, found.place, memberPath(path, name), depth + 1) })
    }
    return { ...at, kind: 'object', members }
  }

  #isExact(value: number, place: Place): boolean {
    const written = this.#text.slice(place.at, place.end).replaceAll('_', '').replace(/^\+/, '')
    return /^-?0[xob]/.test(written) ? Number.isSafeInteger(value) : isExact(written, value)
  }
}
