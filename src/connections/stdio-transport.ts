/** Newline-delimited JSON over the pipes of one process. */
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { ExitStatus, StdioProcess } from './executor.ts'
import { FRAME_LIMIT, FrameReader } from './frame-reader.ts'
import type { MessageTransport, TransportEnd } from './message-transport.ts'
import { StderrTail } from './stderr-tail.ts'
import { StdoutNoise } from './stdout-noise.ts'
import { stopProcess } from './stop-process.ts'

// taken at load: a plugin that patches it later changes nothing of what is sent
const { stringify } = JSON

/** ms without new output after which an ended process is taken to have said everything (a child of it may hold the pipe open). */
const QUIET_MS = 50
/** ms after which output of an ended process is no longer waited for. */
const LAST_WORDS_MS = 2000
/** ms that an exit may come after a broken pipe. */
const EXIT_MS = 1000
const SENT: Promise<void> = Promise.resolve()

/** The id at the start of an answer whose rest was never kept. */
const ID_FIRST =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d{1,15})"?\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/
const ANSWER_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/
const ID_LAST = /"id"\s*:\s*"?(\d{1,15})"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

/** The transport of a stdio server. `send` writes within the call; stderr is drained from the start. */
export class StdioTransport implements MessageTransport {
  readonly stderr: StderrTail = new StderrTail()
  readonly noise: StdoutNoise = new StdoutNoise()
  onMessage: ((message: JsonObject) => void) | null = null
  onTooLong: ((id: number | null) => void) | null = null
  onFailed: MessageTransport['onFailed'] = null
  onEnd: ((end: TransportEnd) => void) | null = null
  readonly #process: StdioProcess
  readonly #reader: FrameReader
  #ended = false
  #open = 0
  #heardAt = 0

  constructor(process: StdioProcess, frameLimit: number = FRAME_LIMIT) {
    this.#process = process
    this.#reader = new FrameReader(
      {
        line: (text) => this.#line(text),
        junk: (head) => this.#junk(head),
        tooLong: (head) => this.#tooLong(head),
        tooLongEnded: (head, tail) => this.#tooLongEnded(head, tail),
      },
      frameLimit,
    )
    this.#drain(process.stderr, (chunk) => this.stderr.push(chunk))
    void process.exited.then((status) => this.#lastWords(status))
  }

  get pid(): number | null {
    return this.#process.pid ?? null
  }

  /** Starts to read stdout; set the listeners before. */
  start(): void {
    this.#drain(this.#process.stdout, (chunk) => {
      if (!this.#ended) this.#reader.push(chunk)
    })
  }

  send(message: object): Promise<void> {
    if (this.#ended) return Promise.reject(new Error('the process has ended'))
    const written = this.#process.write(Buffer.from(`${stringify(message)}\n`))
    // the request that is written does not wait for the pipe; a pipe that is broken ends the connection
    written.catch((error: unknown) => {
      // mostly the process has just ended, and its exit says more
      setTimeout(() => this.#end({ status: null, cause: error instanceof Error ? error.message : String(error) }), EXIT_MS)
    })
    return SENT
  }

  get trouble(): string | null | undefined {
    return this.#process.trouble
  }

  agreed(): void {}

  junk(secrets: Secrets): string {
    return this.noise.describe(secrets)
  }

  lastLines(secrets: Secrets): readonly string[] {
    return this.stderr.lines(secrets)
  }

  stop(graceMs: number): Promise<void> {
    return stopProcess(this.#process, graceMs)
  }

  /** No message is given or taken from now on; whoever waits is told. */
  close(): void {
    this.#end({ status: null, cause: 'closed' })
  }

  #end(end: TransportEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.onEnd?.(end)
  }

  #line(text: string): void {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      this.#junk(text)
      return
    }
    if (!isJsonObject(message) || message['jsonrpc'] !== '2.0') {
      this.#junk(text)
      return
    }
    try {
      this.onMessage?.(message)
    } catch {
      // nothing that a server sends may end the host
      this.#junk(text)
    }
  }

  #junk(text: string): void {
    if (text.trim() !== '') this.noise.add(text)
  }

  #tooLong(head: string): void {
    const id = ID_FIRST.exec(head)?.[1]
    if (id !== undefined) this.onTooLong?.(Number(id))
    else if (!ANSWER_FIRST.test(head)) this.onTooLong?.(null)
  }

  #tooLongEnded(head: string, tail: string): void {
    if (ID_FIRST.test(head) || !ANSWER_FIRST.test(head)) return
    const id = ID_LAST.exec(tail)?.[1]
    this.onTooLong?.(id === undefined ? null : Number(id))
  }

  #drain(stream: AsyncIterable<Uint8Array>, take: (chunk: Uint8Array) => void): void {
    this.#open++
    const heard = (chunk: Uint8Array): void => {
      this.#heardAt = performance.now()
      take(chunk)
    }
    let done = false
    const closed = (): void => {
      if (!done) this.#open--
      done = true
    }
    if (isReadable(stream)) {
      // events: an async iterator costs several microtasks for every chunk
      stream.on('data', heard).on('end', closed).on('close', closed).on('error', closed)
      // an executor may have read from it and paused it
      stream.resume()
      return
    }
    void (async () => {
      try {
        for await (const chunk of stream) heard(chunk)
      } catch {
        // a broken stream ends like any other; the exit status says more
      }
      closed()
    })()
  }

  /** After the exit: what is still in the pipes is read, but a child that holds them open is not waited for. */
  #lastWords(status: ExitStatus): void {
    const exitedAt = performance.now()
    const look = (): void => {
      const now = performance.now()
      const quiet = now - Math.max(this.#heardAt, exitedAt) >= QUIET_MS
      if (this.#ended || this.#open === 0 || quiet || now - exitedAt > LAST_WORDS_MS) this.#end({ status, cause: null })
      // the immediate lets pending reads come first, however late the timer is
      else setTimeout(() => setImmediate(look), 10)
    }
    setImmediate(look)
  }
}

function isReadable(stream: AsyncIterable<Uint8Array>): stream is NodeJS.ReadableStream & AsyncIterable<Uint8Array> {
  return typeof (stream as { on?: unknown }).on === 'function'
}
