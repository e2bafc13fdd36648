/** The two streams: results on stdout, everything else on stderr. */
import type { Writable } from 'node:stream'
import picocolors from 'picocolors'
import type { Globals } from './globals.ts'
import { jsonForTerminal } from './render/escape.ts'

/** Functions that colour a text, or leave it as it is. */
export type Paint = ReturnType<typeof picocolors.createColors>

/** A pipe takes this much at once, so that a slow reader is waited for. */
const PIECE = 1 << 20

/** Lines of stderr that are remembered, so that nothing is told twice; `serve` writes for as long as it runs. */
const KEPT_LINES = 500

interface Streams {
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** writes to stdout where `stdout.write` does not */
  readonly write?: (text: string, done: () => void) => void
}

/** Writes for one command; a reader that went away (EPIPE) ends the writing quietly. */
export class Output {
  readonly json: boolean
  readonly quiet: boolean
  /** colours of stdout */
  readonly paint: Paint
  /** colours of stderr */
  readonly paintErr: Paint
  readonly #streams: Streams
  #document = false
  #diagnostics = false
  /** what people have read on stderr */
  readonly #lines: string[] = []
  readonly #gone = new Set<Writable>()
  /** resolves when a write found that nobody reads stdout any more */
  readonly readerGone: Promise<void>

  constructor(globals: Pick<Globals, 'json' | 'quiet' | 'color'>, streams: Streams = process) {
    this.json = globals.json
    this.quiet = globals.quiet
    this.#streams = streams
    this.paint = picocolors.createColors(globals.color && streams.stdout.isTTY === true)
    this.paintErr = picocolors.createColors(globals.color && streams.stderr.isTTY === true)
    let leave = (): void => {}
    this.readerGone = new Promise((resolve) => (leave = resolve))
    for (const stream of [streams.stdout, streams.stderr]) {
      stream.on('error', () => {
        this.#gone.add(stream)
        if (stream === streams.stdout) leave()
      })
    }
  }

  /** true where stdout is a terminal that can redraw */
  get isTerminal(): boolean {
    return this.#streams.stdout.isTTY === true && process.env['TERM'] !== 'dumb'
  }

  /** false once a write has found that nobody reads stdout any more */
  get isRead(): boolean {
    return !this.#gone.has(this.#streams.stdout)
  }

  /** true once the one JSON document has been written */
  get documentWritten(): boolean {
    return this.#document
  }

  /** true once the document has told the diagnostics, so that stderr need not */
  get diagnosticsWritten(): boolean {
    return this.#diagnostics
  }

  /** The one JSON document of the command. Resolves when the reader has it all. */
  async document(value: unknown): Promise<void> {
    this.#document = true
    this.#diagnostics = typeof value === 'object' && value !== null && 'diagnostics' in value
    const text = JSON.stringify(value, null, this.#streams.stdout.isTTY === true ? 2 : undefined)
    await this.#write(`${jsonForTerminal(text)}\n`)
  }

  /** The one JSON document, where it may be too large to be held: a list under this name, then what else there is once the list is through. */
  async documentOf(name: string, items: AsyncIterable<unknown>, rest: () => object): Promise<void> {
    let before = `{${JSON.stringify(name)}:[`
    for await (const item of items) {
      this.#document = true
      await this.#write(`${before}\n${jsonForTerminal(JSON.stringify(item))}`)
      before = ','
      if (!this.isRead) return
    }
    this.#document = true
    const after = jsonForTerminal(JSON.stringify(rest())).slice(1)
    await this.#write(`${before.startsWith('{') ? before : ''}]${after === '}' ? '' : ','}${after}\n`)
  }

  /** Text for people on stdout, ended by one newline. Must be free of control characters. */
  async text(text: string): Promise<void> {
    if (text !== '') await this.#write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Text for a terminal as it is, control sequences included. */
  raw(text: string): void {
    if (this.isRead) this.#writeOne(text, () => {})
  }

  /** Result of a command: the document with --json, else the text. Only what is asked for is built. */
  async result(forms: { readonly json: () => unknown; readonly text: (paint: Paint) => string }): Promise<void> {
    await (this.json ? this.document(forms.json()) : this.text(forms.text(this.paint)))
  }

  /** A line on stderr, also with --quiet. */
  line(text: string): void {
    if (this.#lines.length < KEPT_LINES) this.#lines.push(text)
    if (!this.#gone.has(this.#streams.stderr)) this.#streams.stderr.write(`${text}\n`)
  }

  /** true where a line on stderr has said this already */
  hasTold(message: string): boolean {
    return this.#lines.some((line) => line.includes(message))
  }

  /** A line on stderr, not with --quiet. */
  note(text: string): void {
    if (!this.quiet) this.line(text)
  }

  async #write(text: string): Promise<void> {
    for (let from = 0; from < text.length && this.isRead; from += PIECE) {
      const piece = whole(text, from)
      await new Promise<void>((done) => this.#writeOne(piece, done))
    }
  }

  #writeOne(text: string, done: () => void): void {
    const { stdout, write } = this.#streams
    if (write === undefined) stdout.write(text, () => done())
    else write(text, () => done())
  }
}

/** The piece of the text that starts here; a surrogate pair on a border belongs to the earlier piece, as a whole. */
function whole(text: string, from: number): string {
  const splits = (at: number): number => (at > 0 && at < text.length && isHigh(text, at - 1) && isLow(text, at) ? 1 : 0)
  return text.slice(from + splits(from), from + PIECE + splits(from + PIECE))
}
const isHigh = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800
const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00
