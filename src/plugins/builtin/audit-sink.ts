/** Where the lines of an audit log go. */

/** Takes whole lines, in order. */
export interface AuditSink {
  /** Never throws; rejects where this or earlier lines were lost, once for all of them. */
  write(line: string): Promise<void>
  /** Resolves when everything that was written has arrived; rejects where lines were lost. */
  close(): Promise<void>
}

/** Bytes (of a file or stream) that may wait: more would only fill the memory of a host whose disk stands still. */
export const MOST_WAITING_BYTES: number = 64 * 1024 * 1024

/** What a stream of Node's offers; it stays the host's, and is not ended. */
export interface LineStream {
  readonly writableLength: number
  write(text: string, done: (error?: Error | null) => void): boolean
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** Lines go to a function of the host; what it returns is waited for. */
export class FunctionSink implements AuditSink {
  readonly #write: (line: string) => unknown
  readonly #open = new Set<Promise<unknown>>()

  constructor(write: (line: string) => unknown) {
    this.#write = write
  }

  async write(line: string): Promise<void> {
    const writing = Promise.resolve(this.#write(line))
    this.#open.add(writing)
    try {
      await writing
    } finally {
      this.#open.delete(writing)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#open)
  }
}

const ignore = (): void => {}
/** Sinks of a stream: one listener for all of them, or Node would warn of a leak. */
const users = new WeakMap<LineStream, number>()

function use(stream: LineStream, change: 1 | -1): void {
  const before = users.get(stream) ?? 0
  users.set(stream, before + change)
  if (before === 0) stream.on('error', ignore)
  else if (before + change === 0) stream.off('error', ignore)
}

/** Lines go to a stream of the host. */
export class StreamSink implements AuditSink {
  readonly #stream: LineStream
  readonly #open = new Set<Promise<void>>()
  #lost = 0

  constructor(stream: LineStream) {
    this.#stream = stream
    // an error that nobody listens to would end the host's process; it comes back through the callback of each write
    use(stream, 1)
  }

  async write(line: string): Promise<void> {
    if (this.#stream.writableLength > MOST_WAITING_BYTES) {
      if (this.#lost++ === 0) throw new Error('the stream of the audit log takes nothing more; lines are lost')
      return
    }
    const writing = new Promise<void>((resolve, reject) =>
      this.#stream.write(line, (error) => (error === null || error === undefined ? resolve() : reject(error))),
    )
    this.#open.add(writing)
    try {
      await writing
    } catch (error) {
      if (this.#lost++ === 0) throw error
    } finally {
      this.#open.delete(writing)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#open)
    // the last errors of a stream come in a later turn
    setImmediate(() => use(this.#stream, -1))
    if (this.#lost > 0) throw new Error(`the audit log has lost ${this.#lost} lines`)
  }
}
