/** Trace files for the commands that read them, and what is wrong with them. */
import { resolve } from 'node:path'
import { TaplineError } from '../errors.ts'
import { readTrace } from '../trace/read-trace.ts'
import type { TraceRecord } from '../trace/records.ts'
import type { CliContext } from './context.ts'
import { openInput, openStdin } from './open-input.ts'
import { visibleLine } from './render/escape.ts'

/** A line that is no record. */
export interface LineProblem {
  readonly file: string
  readonly line: number
  readonly problem: string
}

/** how many are shown; the rest is counted */
const KEPT = 20

/** Reads trace files, and keeps what cannot be read of them. */
export class TraceSource {
  readonly #context: CliContext
  readonly problems: LineProblem[] = []
  problemCount = 0

  constructor(context: CliContext) {
    this.#context = context
  }

  /** The records of a file, or of standard input for `-`. Rejects with TRACE_UNREADABLE where there is no such file, or nothing in it is a record. */
  async *records(file: string): AsyncGenerator<TraceRecord> {
    const { interrupt } = this.#context
    let count = 0
    let first: LineProblem | undefined
    for await (const { line, record, problem } of this.#lines(file)) {
      interrupt.signal.throwIfAborted()
      if (record !== undefined) {
        count++
        yield record
        continue
      }
      first ??= { file, line, problem }
      if (this.problemCount++ < KEPT) this.problems.push({ file, line, problem })
    }
    if (count > 0 || first === undefined) return
    throw new TaplineError('TRACE_UNREADABLE', `no line of ${file} is a record of a trace; line ${first.line} ${first.problem}`)
  }

  /** Tells on stderr which lines were left out. */
  tell(): void {
    const { out } = this.#context
    const warning = out.paintErr.yellow('warning')
    for (const { file, line, problem } of this.problems) out.note(`${warning}: ${visibleLine(`${file}:${line}: the line ${problem}`)}`)
    if (this.problemCount > this.problems.length)
      out.note(`${warning}: ${this.problemCount - this.problems.length} more lines cannot be read`)
  }

  async *#lines(file: string): ReturnType<typeof readTrace> {
    const { cwd, stdin, interrupt } = this.#context
    const { signal } = interrupt
    try {
      yield* readTrace(file === '-' ? openStdin(stdin, signal) : await openInput(resolve(cwd, file), signal))
    } catch (cause) {
      signal.throwIfAborted()
      const { code, message } = cause as NodeJS.ErrnoException
      throw new TaplineError(
        'TRACE_UNREADABLE',
        `the trace file ${file} cannot be read: ${code === 'ENOENT' ? 'it is not there' : (code ?? message)}`,
        { cause },
      )
    }
  }
}
