/** A screen of its own at the terminal: drawn as a whole, left as it was found. */
import type { Interrupt } from './interrupt.ts'
import type { Output } from './output.ts'

// the other screen, no cursor, no wrapping of long lines; and back
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
const TOP = '\u001b[H'
const REST_OF_LINE = '\u001b[K'
const REST_OF_SCREEN = '\u001b[J'
const CTRL_C = '\u0003'

/** Takes the keys too where stdin is a terminal; Ctrl-C counts as the signal that it would have been. */
export class Screen implements Disposable {
  readonly #out: Output
  readonly #stdin: NodeJS.ReadStream
  readonly #interrupt: Interrupt
  readonly #keys = new Map<string, () => void>()
  readonly #leave: () => void
  #text = ''

  constructor(out: Output, stdin: NodeJS.ReadStream, interrupt: Interrupt) {
    this.#out = out
    this.#stdin = stdin
    this.#interrupt = interrupt
    // also where a second Ctrl-C ends the process at once
    this.#leave = () => {
      if (stdin.isTTY) stdin.setRawMode(false)
      out.raw(LEAVE)
    }
    process.once('exit', this.#leave)
    out.raw(ENTER)
    if (stdin.isTTY) stdin.setRawMode(true).setEncoding('utf8').on('data', this.#onKey).resume()
    process.stdout.on('resize', this.#redraw)
  }

  /** Calls the listener for the key. */
  on(key: string, listener: () => void): void {
    this.#keys.set(key, listener)
  }

  /** Resolves when the key is pressed. */
  pressed(key: string): Promise<void> {
    return new Promise((resolve) => this.on(key, resolve))
  }

  /** Draws the text from the top; lines that have no room are counted. */
  draw(text: string): void {
    this.#text = text
    const room = Math.max(3, process.stdout.rows || 24)
    const lines = text.split('\n')
    const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
    this.#out.raw(TOP + shown.map((line) => line + REST_OF_LINE).join('\r\n') + REST_OF_SCREEN)
  }

  [Symbol.dispose](): void {
    process.stdout.off('resize', this.#redraw)
    process.off('exit', this.#leave)
    this.#stdin.off('data', this.#onKey).pause()
    this.#leave()
  }

  readonly #redraw = (): void => this.draw(this.#text)

  readonly #onKey = (keys: string): void => {
    for (const key of keys) {
      if (key === CTRL_C) this.#interrupt.pressed()
      else this.#keys.get(key.toLowerCase())?.()
    }
  }
}
