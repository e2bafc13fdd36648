/** Servers as functions in this process, over the same pipes and the same transport as real ones: for tests. */
import { Readable } from 'node:stream'
import { TaplineError } from '../../errors.ts'
import type { Executor, ExecutorDefinition, ExitStatus, LaunchRequest, StdioProcess } from '../executor.ts'

/** The server's side of its pipes. */
export interface MemoryDuplex {
  readonly request: LaunchRequest
  /** what the host writes, line by line; ends with stdin */
  readonly lines: AsyncIterable<string>
  /** aborts when the host terminates or kills the server */
  readonly signal: AbortSignal
  /** Writes one line to stdout; an object as JSON. */
  send(line: string | object): void
  /** Writes to stderr. */
  log(text: string): void
  exit(code: number): void
}

/** A server: runs until its promise settles (0, or 1 where it rejects) or until it calls `exit`. */
export type MemoryServer = (duplex: MemoryDuplex) => Promise<void>

/** An executor of kind `memory`; the command of a launch names one of the functions. */
export function memoryExecutor(servers: Readonly<Record<string, MemoryServer>>): ExecutorDefinition {
  return {
    kind: 'memory',
    connect: () => {
      const running = new Set<MemoryProcess>()
      const executor: Executor = {
        lost: new Promise<never>(() => {}),
        startStdio(request) {
          const server = Object.hasOwn(servers, request.command) ? servers[request.command] : undefined
          if (!server)
            return Promise.reject(
              new TaplineError('SERVER_START_FAILED', `${request.label} was not started: command ${request.command} was not found`),
            )
          const one = new MemoryProcess(server, request)
          running.add(one)
          void one.exited.then(() => running.delete(one))
          return Promise.resolve(one)
        },
        async dispose() {
          await Promise.all([...running].map((one) => one.kill('kill')))
        },
      }
      return Promise.resolve(executor)
    },
  }
}

class MemoryProcess implements StdioProcess {
  readonly stdout: Readable = new Readable({ read() {} })
  readonly stderr: Readable = new Readable({ read() {} })
  readonly exited: Promise<ExitStatus>
  readonly #stdin: Readable = new Readable({ read() {} })
  readonly #ended = new AbortController()
  #exit: (status: ExitStatus) => void = () => {}
  #gone = false

  constructor(server: MemoryServer, request: LaunchRequest) {
    this.exited = new Promise((resolve) => {
      this.#exit = resolve
    })
    const duplex: MemoryDuplex = {
      request,
      lines: linesOf(this.#stdin),
      signal: this.#ended.signal,
      send: (line) => {
        if (!this.#gone) this.stdout.push(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
      },
      log: (text) => {
        if (!this.#gone) this.stderr.push(text)
      },
      exit: (code) => this.#end({ code, signal: null }),
    }
    // a turn later, as a process would: the host must have its listeners
    setImmediate(() => {
      Promise.resolve()
        .then(() => server(duplex))
        .then(
          () => this.#end({ code: 0, signal: null }),
          (error: unknown) => {
            duplex.log(`${error instanceof Error ? error.message : String(error)}\n`)
            this.#end({ code: 1, signal: null })
          },
        )
    })
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#gone || this.#stdin.readableEnded) return Promise.reject(new Error('the server has ended'))
    this.#stdin.push(Buffer.from(chunk))
    return Promise.resolve()
  }

  endStdin(): Promise<boolean> {
    if (!this.#gone) this.#stdin.push(null)
    return Promise.resolve(true)
  }

  kill(how: 'terminate' | 'kill'): Promise<void> {
    this.#ended.abort()
    this.#end({ code: null, signal: how === 'kill' ? 'SIGKILL' : 'SIGTERM' })
    return Promise.resolve()
  }

  #end(status: ExitStatus): void {
    if (this.#gone) return
    this.#gone = true
    this.stdout.push(null)
    this.stderr.push(null)
    this.#stdin.destroy()
    this.#exit(status)
  }
}

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = ''
  stream.setEncoding('utf8')
  try {
    for await (const text of stream) {
      const lines = (rest + String(text)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch {
    // the host has gone
  }
}
