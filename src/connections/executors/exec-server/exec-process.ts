/** One process of an exec-server: its output in order and once, whatever the connection does meanwhile. */
import { Readable } from 'node:stream'
import type { JsonObject } from '../../../json.ts'
import { isJsonObject } from '../../../json.ts'
import type { ExitStatus, StdioProcess } from '../../executor.ts'
import { RpcError } from './exec-connection.ts'

/** Most bytes of one write; 8 MiB of text are known to pass. */
const WRITE_BYTES = 1024 * 1024
/** ms before a write is tried again on a process that is still starting. */
const STARTING_MS = 25

/** What a process needs of the session that it belongs to. */
export interface ProcessHost {
  /** Sends a request that may be sent twice; waits over a cut. Rejects once the session is lost. */
  call(method: string, params: JsonObject): Promise<JsonObject>
  /** why the place cannot be reached at the moment, or null */
  trouble(): string | null
  forget(process: ExecProcess): void
}

/** What happened to a process at one place of its order. */
type Happening =
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }
  | { readonly kind: 'exited'; readonly code: number | null }
  | { readonly kind: 'closed' }

interface Write {
  readonly chunk: Uint8Array
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class ExecProcess implements StdioProcess {
  readonly id: string
  readonly stdout: Readable = new Readable({ read() {} })
  readonly stderr: Readable = new Readable({ read() {} })
  readonly exited: Promise<ExitStatus>
  readonly #host: ProcessHost
  #exit: (status: ExitStatus) => void = () => {}
  #state: 'running' | 'exited' | 'closed' = 'running'
  #why: string | null = null
  /** last place of the order that was taken */
  #last = 0
  /** what came before its turn */
  readonly #early = new Map<number, Happening>()
  #filling: Promise<void> | null = null
  #queue: Write[] = []
  #writing = false
  #writes = 0

  constructor(id: string, host: ProcessHost) {
    this.id = id
    this.#host = host
    this.exited = new Promise((resolve) => (this.#exit = resolve))
  }

  /** Why it ended or cannot be reached, where that is the fault of its place; else null. */
  get trouble(): string | null {
    return this.#why ?? (this.#state === 'running' ? this.#host.trouble() : null)
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#state !== 'running') return Promise.reject(new Error('the process has ended'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ chunk, resolve, reject })
      if (!this.#writing) void this.#pump()
    })
  }

  /** An exec-server cannot close stdin. */
  endStdin(): Promise<boolean> {
    return Promise.resolve(false)
  }

  /** `terminate` interrupts (SIGINT), since there is no SIGTERM; `kill` is SIGKILL for the whole group. */
  async kill(how: 'terminate' | 'kill'): Promise<void> {
    if (this.#state === 'closed') return
    if (how === 'kill' || this.#state === 'exited') await this.#host.call('process/terminate', { processId: this.id })
    else await this.#host.call('process/signal', { processId: this.id, signal: 'interrupt' })
  }

  /** A notification about this process. */
  notice(method: string, params: JsonObject): void {
    const seq = params['seq']
    const happening = readHappening(method, params)
    if (happening === null || typeof seq !== 'number' || !Number.isSafeInteger(seq)) {
      this.lose('it sent output that cannot be read')
      return
    }
    if (seq <= this.#last || this.#state === 'closed') return
    if (seq === this.#last + 1) {
      this.#take(seq, happening)
      this.#takeEarly()
    } else {
      this.#early.set(seq, happening)
      void this.catchUp()
    }
  }

  /** Asks for what was missed. Never rejects; joined while one is under way. */
  catchUp(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => (this.#filling = null))
    return this.#filling
  }

  /** It counts as exited: its place is gone, or its output has a hole. */
  lose(why: string): void {
    if (this.#state === 'closed') return
    this.#why = why
    this.#end(null)
    this.#close()
  }

  async #fill(): Promise<void> {
    try {
      for (;;) {
        const before = this.#last
        const read = await this.#host.call('process/read', { processId: this.id, afterSeq: before, maxBytes: null, waitMs: 0 })
        this.#apply(read)
        if (this.#state === 'closed' || this.#last === before) return
      }
    } catch (error) {
      // a session that is lost tells its processes itself
      if (error instanceof RpcError) this.lose(`the executor does not know it any more (${error.message})`)
    }
  }

  /** The answer to a read names no places for the exit and the end; they are what is missing between the chunks. */
  #apply({ chunks, nextSeq, exited, exitCode, closed }: JsonObject): void {
    const known = new Map<number, Happening>()
    for (const chunk of Array.isArray(chunks) ? (chunks as unknown[]) : []) {
      const happening = isJsonObject(chunk) ? readHappening('process/output', chunk) : null
      if (happening !== null && isJsonObject(chunk)) known.set(chunk['seq'] as number, happening)
    }
    if (typeof nextSeq !== 'number') return
    const missing: number[] = []
    for (let seq = this.#last + 1; seq < nextSeq && missing.length < 3; seq++)
      if (!known.has(seq) && !this.#early.has(seq)) missing.push(seq)
    const isExitEarly = [...this.#early.values()].some(({ kind }) => kind === 'exited')
    const wanted: Happening[] = []
    if (exited === true && this.#state === 'running' && !isExitEarly) wanted.push({ kind: 'exited', code: codeOf(exitCode) })
    if (closed === true) wanted.push({ kind: 'closed' })
    if (missing.length > wanted.length) {
      this.lose('output was lost: more came while the connection was cut than the executor keeps')
      return
    }
    missing.forEach((seq, index) => known.set(seq, wanted[index] as Happening))
    for (let seq = this.#last + 1; seq < nextSeq && this.#state !== 'closed'; seq++) {
      const happening = known.get(seq) ?? this.#early.get(seq)
      if (happening === undefined) break
      this.#take(seq, happening)
    }
    this.#takeEarly()
  }

  #takeEarly(): void {
    for (;;) {
      const next = this.#early.get(this.#last + 1)
      if (next === undefined || this.#state === 'closed') break
      this.#take(this.#last + 1, next)
    }
    for (const seq of this.#early.keys()) if (seq <= this.#last) this.#early.delete(seq)
  }

  #take(seq: number, happening: Happening): void {
    this.#last = seq
    if (happening.kind === 'output') this[happening.stream].push(happening.bytes)
    else if (happening.kind === 'exited') {
      this.#end(happening.code)
      // what it started in turn ends with it
      this.kill('kill').catch(() => {})
    } else {
      this.#end(null)
      this.#close()
    }
  }

  #end(code: number | null): void {
    if (this.#state !== 'running') return
    this.#state = 'exited'
    for (const { reject } of this.#queue.splice(0)) reject(new Error('the process has ended'))
    this.#exit({ code, signal: null })
  }

  #close(): void {
    this.#state = 'closed'
    this.#early.clear()
    this.stdout.push(null)
    this.stderr.push(null)
    this.#host.forget(this)
  }

  /** One write at a time: with several on their way an executor that answers in parallel could change their order. */
  async #pump(): Promise<void> {
    this.#writing = true
    for (;;) {
      const batch = this.#nextBatch()
      if (batch.length === 0) break
      const bytes = batch.length === 1 ? Buffer.from((batch[0] as Write).chunk) : Buffer.concat(batch.map(({ chunk }) => chunk))
      try {
        for (let at = 0; at < bytes.length; at += WRITE_BYTES) await this.#send(bytes.subarray(at, at + WRITE_BYTES))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error as Error)
      }
    }
    this.#writing = false
  }

  #nextBatch(): Write[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && (count === 0 || bytes < WRITE_BYTES)) bytes += (this.#queue[count++] as Write).chunk.length
    return this.#queue.splice(0, count)
  }

  async #send(bytes: Buffer): Promise<void> {
    const params = { processId: this.id, chunk: bytes.toString('base64'), writeId: String(++this.#writes) }
    for (;;) {
      const { status } = await this.#host.call('process/write', params)
      if (status === 'accepted') return
      if (status !== 'starting')
        throw new Error(status === 'stdinClosed' ? 'stdin of the process is closed' : 'the executor does not know the process any more')
      await new Promise((resolve) => setTimeout(resolve, STARTING_MS))
    }
  }
}

function readHappening(method: string, { stream, chunk, exitCode }: JsonObject): Happening | null {
  if (method === 'process/exited') return { kind: 'exited', code: codeOf(exitCode) }
  if (method === 'process/closed') return { kind: 'closed' }
  if (typeof chunk !== 'string') return null
  return { kind: 'output', stream: stream === 'stderr' ? 'stderr' : 'stdout', bytes: Buffer.from(chunk, 'base64') }
}

const codeOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)
