/** Finds where every key and value of a TOML text stands. The text must be valid TOML: the parser has the last word on that, and knows the values. */

/** A place in the text, with those of what is inside. Offsets are UTF-16 units. */
export interface Place {
  /** of a value: its first character; of a table with a header or a dotted key: the key that made it first */
  readonly at: number
  /** end of a number, date, boolean or string; else the same as `at` */
  end: number
  /** of a table: key → where the key stands first, and its value, in written order */
  readonly members: Map<string, { readonly at: number; readonly place: Place }>
  /** of an array, or an array of tables */
  readonly items: Place[]
}

type Key = readonly { readonly name: string; readonly at: number }[]

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b', '"': '"', '\\': '\\' }

/** The places of a whole document. */
export function tomlPlaces(text: string): Place {
  return new Scanner(text).document()
}

class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Place {
    const root = newPlace(0)
    let table = root
    for (;;) {
      this.#skipGap()
      if (this.#at >= this.#text.length) return root
      if (this.#char !== '[') {
        this.#keyAndValue(table)
        continue
      }
      const isList = this.#text[this.#at + 1] === '['
      this.#at += isList ? 2 : 1
      const key = this.#key()
      this.#at += isList ? 2 : 1
      table = opened(root, key, isList)
    }
  }

  get #char(): string | undefined {
    return this.#text[this.#at]
  }

  #keyAndValue(table: Place): void {
    const key = this.#key()
    this.#at++ // =
    this.#skipGap()
    const last = key.at(-1)
    if (last === undefined) return
    const parent = key.slice(0, -1).reduce((place, step) => inner(place, step.name, step.at), table)
    const value = this.#value()
    if (!parent.members.has(last.name)) parent.members.set(last.name, { at: last.at, place: value })
  }

  /** A dotted key, up to the `=` or `]` after it. */
  #key(): Key {
    const key: { name: string; at: number }[] = []
    for (;;) {
      this.#skipGap()
      const at = this.#at
      key.push({ name: this.#char === '"' || this.#char === "'" ? this.#quotedKey() : this.#bareKey(), at })
      this.#skipGap()
      if (this.#char !== '.') return key
      this.#at++
    }
  }

  #bareKey(): string {
    const start = this.#at
    while (this.#at < this.#text.length && !/[\s.=\]#]/.test(this.#char as string)) this.#at++
    // never stands still, whatever the text is
    if (this.#at === start) this.#at++
    return this.#text.slice(start, this.#at)
  }

  #quotedKey(): string {
    const start = this.#at + 1
    const basic = this.#char === '"'
    this.#string()
    const inside = this.#text.slice(start, this.#at - 1)
    return basic ? unescaped(inside) : inside
  }

  #value(): Place {
    const place = newPlace(this.#at)
    if (this.#char === '[') this.#list(place)
    else if (this.#char === '{') this.#inlineTable(place)
    else {
      if (this.#char === '"' || this.#char === "'") this.#string()
      else this.#scalar()
      place.end = this.#at
    }
    return place
  }

  #list(place: Place): void {
    this.#at++
    while (this.#toNext(']')) place.items.push(this.#value())
  }

  #inlineTable(place: Place): void {
    this.#at++
    while (this.#toNext('}')) this.#keyAndValue(place)
  }

  /** Goes to the next element, or past the end of the structure: then false. */
  #toNext(end: string): boolean {
    this.#skipGap()
    if (this.#char === ',') {
      this.#at++
      this.#skipGap()
    }
    if (this.#at >= this.#text.length) return false
    if (this.#char !== end) return true
    this.#at++
    return false
  }

  #string(): void {
    const quote = this.#char as string
    const long = this.#text.startsWith(quote.repeat(3), this.#at)
    this.#at += long ? 3 : 1
    const end = long ? quote.repeat(3) : quote
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) this.#at += quote === '"' && this.#char === '\\' ? 2 : 1
    this.#at += end.length
    // up to two quotes may stand right before the closing ones
    const most = long ? 2 : 0
    for (let extra = 0; extra < most && this.#char === quote; extra++) this.#at++
  }

  #scalar(): void {
    const start = this.#at
    while (this.#at < this.#text.length && !/[,\]}\r\n#]/.test(this.#char as string)) this.#at++
    const written = this.#text.slice(start, this.#at).trimEnd()
    // a date may have one space inside; what follows it belongs to it
    this.#at = Math.max(start + written.length, start + 1)
  }

  #skipComment(): void {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#text.length : end
  }

  /** Blanks, line ends and comments. */
  #skipGap(): void {
    while (this.#at < this.#text.length) {
      if (this.#char === '#') this.#skipComment()
      else if (/\s/.test(this.#char as string)) this.#at++
      else return
    }
  }
}

function newPlace(at: number): Place {
  return { at, end: at, members: new Map(), items: [] }
}

/** The table behind a key: what is there, or a new one; of an array of tables the last. */
function inner(place: Place, name: string, at: number): Place {
  const known = place.members.get(name)?.place
  if (known !== undefined) return known.items.at(-1) ?? known
  const made = newPlace(at)
  place.members.set(name, { at, place: made })
  return made
}

/** The table that a header opens. */
function opened(root: Place, key: Key, isList: boolean): Place {
  const last = key.at(-1)
  if (last === undefined) return root
  const parent = key.slice(0, -1).reduce((place, step) => inner(place, step.name, step.at), root)
  if (!isList) return inner(parent, last.name, last.at)
  const list = parent.members.get(last.name)?.place ?? newPlace(last.at)
  if (!parent.members.has(last.name)) parent.members.set(last.name, { at: last.at, place: list })
  const item = newPlace(last.at)
  list.items.push(item)
  return item
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g,
    (written, x?: string, u?: string, U?: string, one?: string) => {
      const code = x ?? u ?? U
      if (code === undefined) return ESCAPED[one as string] ?? written
      const point = Number.parseInt(code, 16)
      return point <= 0x10ffff ? String.fromCodePoint(point) : written
    },
  )
}
