/** An audit log in a file that several processes may append to. */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, statSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { messageOf, TaplineError } from '../../errors.ts'
import { type AuditSink, MOST_WAITING_BYTES } from './audit-sink.ts'

/** How a file is kept small. */
export interface Rotation {
  /** bytes after which a new file is begun; null: never */
  readonly maxBytes: number | null
  /** how many of the old ones stay; null: all */
  readonly keep: number | null
}

const OWNER_ONLY = 0o600
/** What stands behind the name of an old file: time, process, chance. */
const OLD = /^\d{8}T\d{9}Z-\d+-[\da-f]+$/
const LINE_END = 0x0a
const NOTHING = Promise.resolve()

/** Appends with one write for all lines that wait, so that those of two processes never mix. */
export class AuditFile implements AuditSink {
  readonly #file: string
  readonly #rotation: Rotation
  #handle: FileHandle | null = null
  #waiting: string[] = []
  #waitingBytes = 0
  #last: Promise<void> = NOTHING
  /** lines since the last gap that was written */
  #lost = 0
  #lostInAll = 0
  /** the file ends within a line */
  #isTorn = false
  #isClosed = false
  /** that lines are left out has been told since the last gap that was written */
  #isOverflowTold = false

  /** Makes the file where it is not there, readable for its owner alone. Throws HOOK_BAD_PLUGIN where that cannot be. */
  constructor(file: string, rotation: Rotation) {
    this.#file = file
    this.#rotation = rotation
    try {
      // a pipe that nobody reads would hold up everything
      const there = statSync(file, { throwIfNoEntry: false })
      if (there !== undefined && !there.isFile()) throw new Error('it is no file')
      closeSync(openSync(file, 'a', OWNER_ONLY))
    } catch (cause) {
      throw new TaplineError('HOOK_BAD_PLUGIN', `the audit log ${file} cannot be written: ${messageOf(cause)}`, {
        cause,
        remedy: 'Correct the path, make its folder, or check who may write there.',
      })
    }
  }

  write(line: string): Promise<void> {
    if (this.#waitingBytes > MOST_WAITING_BYTES) {
      this.#lose(1)
      if (this.#isOverflowTold) return NOTHING
      this.#isOverflowTold = true
      return Promise.reject(new Error(`the audit log ${this.#file} is written more slowly than lines come; lines are lost`))
    }
    this.#waitingBytes += Buffer.byteLength(line)
    // whoever comes while a batch is being gathered is told by the first of it
    if (this.#waiting.push(line) > 1) return NOTHING
    const written = this.#last.then(() => this.#append())
    this.#last = written.catch(() => {})
    return written
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
    await this.#release()
    if (this.#lostInAll > 0) throw new Error(`the audit log ${this.#file} has lost ${this.#lostInAll} lines`)
  }

  async #append(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    try {
      const handle = await this.#current()
      // what is lost while this is being written belongs to the next gap
      const told = this.#lost
      this.#isOverflowTold = false
      const gap = told === 0 ? '' : `${JSON.stringify({ v: 1, time: new Date().toISOString(), lost: told })}\n`
      await this.#writeWhole(handle, Buffer.from(`${this.#isTorn ? '\n' : ''}${gap}${lines.join('')}`))
      this.#lost -= told
      // whatever comes after the end is written too, and leaves nothing open
      if (this.#isClosed) await this.#release()
    } catch (error) {
      this.#lose(lines.length)
      await this.#release()
      throw new Error(`${lines.length} lines of the audit log ${this.#file} are lost: ${messageOf(error)}`, { cause: error })
    }
  }

  async #writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      // a disk that is full takes a part, or nothing: then the file ends as it did
      const { bytesWritten } = await handle.write(bytes, at)
      at += bytesWritten
      if (bytesWritten > 0) this.#isTorn = bytes[at - 1] !== LINE_END
    }
  }

  /** The file of now: another process, or whoever looks after logs, may have moved it away. */
  async #current(): Promise<FileHandle> {
    const { maxBytes } = this.#rotation
    if (this.#handle !== null) {
      const [held, named] = await Promise.all([this.#handle.stat(), stat(this.#file).catch(() => null)])
      if (named === null || named.ino !== held.ino || named.dev !== held.dev) await this.#release()
      else if (maxBytes !== null && held.size >= maxBytes) await this.#rotate()
    } else if (maxBytes !== null && ((await stat(this.#file).catch(() => null))?.size ?? 0) >= maxBytes) await this.#rotate()
    return (this.#handle ??= await open(this.#file, 'a', OWNER_ONLY))
  }

  /** The old file gets a name that nobody else gives: two processes that do this at once make one file too many and lose nothing. */
  async #rotate(): Promise<void> {
    await this.#release()
    const stamp = new Date().toISOString().replace(/[-:.]/g, '')
    await rename(this.#file, `${this.#file}.${stamp}-${process.pid}-${randomBytes(4).toString('hex')}`).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      },
    )
    const { keep } = this.#rotation
    // what is in the way of one old file is no reason to lose lines; it is tried again with the next
    if (keep !== null) await this.#prune(keep).catch(() => {})
  }

  async #prune(keep: number): Promise<void> {
    const folder = path.dirname(this.#file)
    const start = `${path.basename(this.#file)}.`
    const old = (await readdir(folder)).filter((name) => name.startsWith(start) && OLD.test(name.slice(start.length))).sort()
    for (const name of old.slice(0, Math.max(0, old.length - keep))) await rm(path.join(folder, name), { force: true }).catch(() => {})
  }

  #lose(lines: number): void {
    this.#lost += lines
    this.#lostInAll += lines
  }

  async #release(): Promise<void> {
    const handle = this.#handle
    this.#handle = null
    await handle?.close().catch(() => {})
  }
}
