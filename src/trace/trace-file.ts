/** Appends lines to a file that other processes may append to as well. */
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { gapRecord } from './gap-record.ts'

/** characters that wait to be written; what comes while so many wait is left out and counted */
const MOST_WAITING = 8 * 1024 * 1024
/** characters of one write: whole lines, or one that is longer */
const BATCH = 256 * 1024
/** ms in which lines are gathered for one write */
const GATHER_MS = 50
/** ms until a pipe that is full is tried again */
const AGAIN_MS = 20
/** ms to wait for what is still to be written */
const FLUSH_MS = 5_000

const LINE_END = 0x0a
const APPENDING = constants.O_APPEND | constants.O_CREAT
// a pipe that nobody reads must not keep a thread waiting
const PIPE = constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0)

/** One trace file of a runtime. Appending neither throws nor waits: a file that cannot be written is one diagnostic, and a gap in the file. */
export class TraceFile {
  readonly path: string
  readonly #report: (diagnostic: Diagnostic) => void
  readonly #told = new Set<string>()
  #lines: string[] = []
  #waiting = 0
  /** records since the last gap that was written */
  #lost = 0
  #handle: FileHandle | null = null
  #isPipe = false
  /** the file ends within a line */
  #isTorn = false
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #isClosed = false
  #isGivenUp = false

  /** `path` is absolute. Nothing is opened before the first line; a new file is for its owner alone (0600). */
  constructor(path: string, report: (diagnostic: Diagnostic) => void) {
    this.path = path
    this.#report = report
  }

  /** Queues a line, given without its end. */
  append(line: string): void {
    if (this.#isClosed) return
    if (this.#waiting + line.length > MOST_WAITING) {
      this.#lost++
      this.#tell(
        'trace_records_lost',
        `records of calls are missing in the trace file ${this.path}: it is written more slowly than they come`,
      )
      return
    }
    this.#lines.push(line)
    this.#waiting += line.length
    if (this.#waiting >= BATCH) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), GATHER_MS)
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#running === null && this.#lines.length > 0) this.#running = this.#run()
  }

  /** Resolves to true when everything that was queued is written or lost, to false after 5 s. */
  async flush(): Promise<boolean> {
    this.#start()
    if (this.#running === null) return true
    const timer = new AbortController()
    const late = pause(FLUSH_MS, false, { signal: timer.signal }).catch(() => true)
    const isDone = await Promise.race([this.#running.then(() => true), late])
    timer.abort()
    return isDone
  }

  /** Writes what is left and closes the file until the next line. A pipe stays open: who reads it would take that for the end. */
  async rest(): Promise<void> {
    await this.flush()
    if (this.#running !== null || this.#isPipe) return
    const handle = this.#handle
    this.#handle = null
    await handle?.close().catch(() => {})
  }

  /** Writes what is left, for 5 s at the most, and closes the file; nothing is taken any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#isGivenUp = !(await this.flush())
    const closed = this.#handle?.close().catch(() => {})
    // it waits for a write that hangs
    if (!this.#isGivenUp) await closed
  }

  async #run(): Promise<void> {
    while (this.#lines.length > 0 && !this.#isGivenUp) {
      const told = this.#lost
      const gap = told === 0 ? [] : [JSON.stringify(gapRecord(told))]
      const batch = this.#take()
      const progress = { lines: 0 }
      try {
        this.#handle ??= await this.#open()
        await this.#write(this.#handle, [...gap, ...batch], progress)
      } catch (error) {
        this.#tell('trace_not_written', `the trace file ${this.path} cannot be written: ${messageOf(error)}`)
      }
      if (progress.lines > 0) this.#lost -= told
      this.#lost += batch.length - Math.max(0, progress.lines - gap.length)
    }
    this.#running = null
  }

  #take(): readonly string[] {
    let length = 0
    let count = 0
    for (const line of this.#lines) {
      if (count > 0 && length + line.length > BATCH) break
      length += line.length
      count++
    }
    this.#waiting -= length
    return this.#lines.splice(0, count)
  }

  /** Counts the lines that are whole in the file. Throws what the system says. */
  async #write(handle: FileHandle, lines: readonly string[], progress: { lines: number }): Promise<void> {
    if (this.#isTorn) progress.lines--
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${lines.join('\n')}\n`)
    for (let at = 0; at < bytes.length; ) {
      try {
        const { bytesWritten } = await handle.write(bytes, at)
        for (const byte of bytes.subarray(at, at + bytesWritten)) if (byte === LINE_END) progress.lines++
        at += bytesWritten
        this.#isTorn = bytes[at - 1] !== LINE_END
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || this.#isGivenUp) throw error
        await pause(AGAIN_MS)
      }
    }
  }

  async #open(): Promise<FileHandle> {
    const there = await stat(this.path).catch(() => null)
    this.#isPipe = there !== null && !there.isFile()
    if (this.#isPipe) return open(this.path, PIPE)
    // to be read as well: whoever wrote before may have been ended within a line
    const handle = await open(this.path, APPENDING | constants.O_RDWR, 0o600).catch(() =>
      open(this.path, APPENDING | constants.O_WRONLY, 0o600),
    )
    const { size } = await handle.stat()
    const last = size === 0 ? null : await handle.read(Buffer.alloc(1), 0, 1, size - 1).catch(() => null)
    this.#isTorn = last?.bytesRead === 1 && last.buffer[0] !== LINE_END
    return handle
  }

  #tell(code: 'trace_not_written' | 'trace_records_lost', message: string): void {
    if (this.#told.has(code)) return
    this.#told.add(code)
    this.#report({ code, severity: 'warning', message })
  }
}
