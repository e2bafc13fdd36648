/** One line on stderr that says what is going on, once it takes longer than half a second. */
import type { Writable } from 'node:stream'
import { visibleLine } from './render/escape.ts'

/** ms before the line appears, and between two frames on a terminal */
const AFTER_MS = 500
const FRAME_MS = 100
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const ERASE = '\r\u001b[K'

interface ProgressOptions {
  readonly stream: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly quiet: boolean
  /** false where the terminal cannot redraw a line */
  readonly animated: boolean
}

/** The progress line of one command. On a terminal it is redrawn and erased; elsewhere it is a plain line for each step. */
export class Progress {
  readonly #options: ProgressOptions
  #text = ''
  #timer: NodeJS.Timeout | null = null
  #shown = false
  #frame = 0

  constructor(options: ProgressOptions) {
    this.#options = options
  }

  /** Runs the work under this text. The line is gone when the work has ended. */
  async during<T>(text: string, work: () => Promise<T>): Promise<T> {
    const outer = this.#text
    this.#start(text)
    try {
      return await work()
    } finally {
      if (outer === '') this.pause()
      else this.#start(outer)
    }
  }

  /** Changes the text of the running line, e.g. to what a server says about its progress; on a terminal only. */
  update(text: string): void {
    if (this.#text === '' || !this.#options.animated) return
    this.#text = visibleLine(text)
    if (this.#shown) this.#draw()
  }

  /** Takes the line away, so that something else may be written. Returns what brings it back. */
  pause(): () => void {
    const text = this.#text
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
    if (this.#shown && this.#options.animated) this.#options.stream.write(ERASE)
    this.#shown = false
    this.#text = ''
    return () => {
      if (text !== '') this.#start(text)
    }
  }

  #start(text: string): void {
    this.pause()
    if (this.#options.quiet) return
    this.#text = visibleLine(text)
    this.#timer = setTimeout(() => {
      this.#shown = true
      this.#draw()
      if (!this.#options.animated) return
      this.#timer = setInterval(() => this.#draw(), FRAME_MS)
      this.#timer.unref()
    }, AFTER_MS)
    this.#timer.unref()
  }

  #draw(): void {
    const { stream, animated } = this.#options
    if (!animated) return void stream.write(`${this.#text} …\n`)
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? ''
    const room = Math.max(20, (stream.columns || 80) - 4)
    const text = [...this.#text]
    stream.write(`${ERASE}${frame} ${text.length > room ? `${text.slice(0, room - 1).join('')}…` : this.#text}`)
  }
}
