/** A text file that is looked at again and again: edited in place, replaced by rename, or swapped behind a link. */
import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { flagFileProblem, flagText } from './flag-text.ts'

/** ms between two looks. Notices of the system only bring a look forward: they miss links, some disks, and what happens above the folder. */
const LOOK_MS = 250

/** What becomes of a file. */
export interface WatchedFileEvents {
  /** What it says now; also where that is what it said before. Must not reject. */
  readonly onText: (text: string) => Promise<void>
  /** It cannot be read; told once for each state. */
  readonly onUnreadable: (problem: string) => void
}

export class WatchedFile {
  readonly #path: string
  readonly #events: WatchedFileEvents
  readonly #timer: NodeJS.Timeout
  #watcher: FSWatcher | null = null
  #seen = ''
  #looking: Promise<void> | null = null
  #again = false
  #closed = false

  /** `path` is absolute. Looks for the first time when `look` is called. */
  constructor(file: string, events: WatchedFileEvents) {
    this.#path = file
    this.#events = events
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref()
    this.#notice()
  }

  /** Looks now; resolves when what was there has been told. Never rejects. */
  look(): Promise<void> {
    if (this.#looking) this.#again = true
    this.#looking ??= this.#lookUntilStill().finally(() => (this.#looking = null))
    return this.#looking
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    this.#watcher?.close()
  }

  async #lookUntilStill(): Promise<void> {
    do {
      this.#again = false
      await this.#lookOnce()
    } while (this.#again && !this.#closed)
  }

  async #lookOnce(): Promise<void> {
    let state: string
    let text: string | null = null
    try {
      const found = await stat(this.#path, { bigint: true })
      state = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
      if (state === this.#seen) return
      text = await flagText(this.#path, found)
    } catch (error) {
      state = flagFileProblem(error)
      if (state === this.#seen || this.#closed) return
    }
    if (this.#closed) return
    this.#seen = state
    if (text === null) this.#events.onUnreadable(state)
    else await this.#events.onText(text)
  }

  #notice(): void {
    const own = path.basename(this.#path)
    try {
      // the folder: a watch on the file itself would end with the first rename. Names with two dots are the links of mounted volumes
      this.#watcher = watch(path.dirname(this.#path), { persistent: false }, (_what, name) => {
        if (name === null || name === own || name.startsWith('..')) void this.look()
      })
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // no such folder yet, or no watches left: the timer looks all the same
    }
  }
}
