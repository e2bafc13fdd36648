/** The trace files and sinks of one runtime. */
import { resolve } from 'node:path'
import { types } from 'node:util'
import { messageOf } from '../errors.ts'
import type { CallRecorder } from '../pipeline/host.ts'
import type { Secrets } from '../secrets.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { SessionRecord, TraceRecord } from '../trace/records.ts'
import { SessionTrace } from '../trace/session-trace.ts'
import { TraceFile } from '../trace/trace-file.ts'
import type { TraceOptions } from './trace-option.ts'

/** The recorder of one session, with its end. */
export interface SessionRecorder extends CallRecorder {
  /** Resolves when the records of all calls that have ended are written or given up. The last of a file closes it until there is another record. */
  close(): Promise<void>
}

interface SharedFile {
  readonly file: TraceFile
  /** sessions that are open */
  users: number
}

/** Sessions that write to one file share it. */
export class RuntimeTraces {
  readonly #secrets: Secrets
  readonly #report: (diagnostic: Diagnostic) => void
  /** never forgotten: they know what is missing, and what has been told */
  readonly #files = new Map<string, SharedFile>()

  constructor(secrets: Secrets, report: (diagnostic: Diagnostic) => void) {
    this.#secrets = secrets
    this.#report = report
  }

  /** A recorder for a session; `header` is asked for before its first record. */
  recorder({ file, sink, arguments: withArguments = false }: TraceOptions, header: () => SessionRecord): SessionRecorder {
    const opened = file === undefined ? null : this.#file(resolve(file))
    const tell = sink === undefined ? null : this.#guarded(sink)
    let state: 'new' | 'open' | 'closed' = 'new'
    const trace = new SessionTrace({
      header,
      secrets: this.#secrets,
      withArguments,
      target: (record) => {
        // not before: a session that fails to open writes nothing and is never closed
        if (opened !== null && state === 'new') opened.users++
        if (state === 'new') state = 'open'
        opened?.file.append(JSON.stringify(record))
        tell?.(record)
      },
    })
    return {
      settled: (run, outcome) => trace.add(run, outcome),
      close: async () => {
        trace.flush()
        if (opened === null) return
        if (state === 'open') opened.users--
        state = 'closed'
        await opened.file.flush()
        // another may have come meanwhile
        if (opened.users === 0) await opened.file.rest()
      },
    }
  }

  /** Writes what is left and closes the files. */
  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map(({ file }) => file.close()))
  }

  #file(path: string): SharedFile {
    let shared = this.#files.get(path)
    if (shared === undefined) this.#files.set(path, (shared = { file: new TraceFile(path, this.#report), users: 0 }))
    return shared
  }

  /** What a sink throws is told once. */
  #guarded(sink: NonNullable<TraceOptions['sink']>): (record: TraceRecord) => void {
    let isTold = false
    const failed = (error: unknown): void => {
      if (isTold) return
      isTold = true
      this.#report({ code: 'trace_sink_failed', severity: 'warning', message: `the sink of traces failed: ${messageOf(error)}` })
    }
    return (record) => {
      try {
        const pending: unknown = sink(record)
        if (types.isPromise(pending)) pending.catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}
