/** Runs the commands of one session's hooks, each in a process group of its own, and ends what is left of them. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { onAbort } from '../../connections/on-abort.ts'
import type { ExitStatus } from '../../connections/executor.ts'
import { LocalProcess } from '../../connections/executors/local-process.ts'
import { TapProblem } from '../../hooks/tap-problem.ts'
import type { HookEnd } from './answer.ts'
import { isDetaching } from './answer.ts'
import { HookWatch } from './hook-watch.ts'
import { lastWords } from './last-words.ts'
import { OutputText } from './output-text.ts'

/** Bytes of standard output; more is no answer. */
const STDOUT_LIMIT = 1024 * 1024
/** Bytes of standard error that are kept. */
const STDERR_LIMIT = 16 * 1024
/** Characters of a first line that may say that nobody should wait: a flood of small writes is not looked at again and again. */
const FIRST_LINE = 1000
/** ms between SIGTERM and SIGKILL. */
const GRACE_MS = 500
/** Hooks of one session that nobody waits for, at one time. */
const MOST_DETACHED = 16
/** ms that those have at the end of the session. */
const LAST_MS = 1000

/** What to run. */
export interface HookStart {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** for standard input; one that does not read it is no failure */
  readonly input: string
  readonly timeoutMs: number
}

export class HookProcesses {
  readonly #running = new Set<LocalProcess>()
  readonly #detached = new Set<Promise<unknown>>()
  readonly #watch = new HookWatch()
  /** those that were sent SIGKILL: nobody needs it twice, and their end may not have been seen yet */
  readonly #killed = new WeakSet<LocalProcess>()
  /** nothing new is taken on */
  #isClosed = false
  /** and what was taken on does not start any more */
  #isOver = false
  readonly #lastMs: number

  constructor(lastMs: number = LAST_MS) {
    this.#lastMs = lastMs
  }

  /** Its end, also where it was ended for what it did (`problem`); null: it said that nobody should wait for it. Rejects with TapProblem (HOOK_FAILED) and, for the signal, with its reason. */
  async run(start: HookStart, signal: AbortSignal): Promise<HookEnd | null> {
    return this.#run(start, signal)
  }

  /** Starts it, where there is a check once that agrees, and lets nobody wait; false: there are too many, or the session is closed. */
  detach(start: HookStart, mayRun: (() => Promise<boolean>) | null = null): boolean {
    if (this.#isClosed || this.#isFull) return false
    const run = (): Promise<unknown> => this.#run(start, null)
    const work = (mayRun === null ? run() : mayRun().then((may) => may && run())).catch(() => {})
    this.#detached.add(work)
    void work.then(() => this.#detached.delete(work))
    return true
  }

  /** Waits a moment for those that nobody waits for, then ends everything. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#detached.size > 0) {
      let timer: NodeJS.Timeout | undefined
      await Promise.race([Promise.all(this.#detached), new Promise((resolve) => (timer = setTimeout(resolve, this.#lastMs)))])
      clearTimeout(timer)
    }
    this.#isOver = true
    const left = [...this.#running]
    for (const one of left) this.#kill(one)
    await Promise.all(left.map((one) => one.swept))
    await this.#watch.close()
  }

  get #isFull(): boolean {
    return this.#detached.size >= MOST_DETACHED
  }

  async #run(start: HookStart, signal: AbortSignal | null): Promise<HookEnd | null> {
    signal?.throwIfAborted()
    // those that nobody waits for have a last moment
    const isLate = (): boolean => (signal === null ? this.#isOver : this.#isClosed)
    if (isLate()) throw new TapProblem('HOOK_FAILED', 'was not started: the session is closed')
    const child = this.#spawn(start)
    if (child.pid !== undefined) this.#watch.add(child.pid)
    const broken = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
      child.once('error', resolve).once('spawn', () => resolve(null)),
    )
    child.on('error', () => {})
    if (broken !== null || child.pid === undefined)
      throw new TapProblem('HOOK_FAILED', `could not be started in ${start.cwd} (${broken?.code ?? 'unknown cause'})`, { cause: broken })
    const running = new LocalProcess(child, this.#watch)
    this.#running.add(running)
    void running.swept.then(() => this.#running.delete(running))
    // what closed the session cannot have seen it
    if (isLate()) this.#kill(running)
    const end = (): void => {
      void running.kill('terminate')
      setTimeout(() => this.#kill(running), GRACE_MS).unref()
    }
    return new Promise<HookEnd | null>((resolve, reject) => {
      const stdout = new OutputText(STDOUT_LIMIT)
      const stderr = new OutputText(STDERR_LIMIT)
      let exit: ExitStatus | null = null
      let isOver = false
      // one that goes on printing is not ended again with each piece
      const settle = (act: () => void): void => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        forget?.()
        act()
      }
      const judge = (problem?: TapProblem): void =>
        settle(() => {
          if (problem !== undefined) end()
          const { code = null, signal: by = null } = exit ?? {}
          const printed = { stdout: stdout.text, stderr: stderr.text, isGarbled: stdout.isGarbled }
          resolve({ code, signal: by, ...printed, ...(problem !== undefined && { problem }) })
        })
      const stop = (): void =>
        settle(() => {
          end()
          reject(signal?.reason)
        })
      // what has been printed by now, and an exit, are taken in first
      const late = (): void => void setImmediate(() => (exit === null ? judge(tooLate(start.timeoutMs)) : judge()))
      const timer = setTimeout(late, start.timeoutMs)
      const forget = signal === null ? null : onAbort(signal, stop)
      if (signal?.aborted) stop()
      let first = ''
      let isDetached = signal === null
      child.stdout.on('data', (chunk: Buffer) => {
        // a daemon that the hook left behind may go on
        if (isOver) return
        if (!stdout.add(chunk)) return judge(tooMuch())
        if (isDetached || first.length > FIRST_LINE || first.includes('\n')) return
        first += chunk.toString('latin1')
        if (!first.includes('\n') || !isDetaching(first.slice(0, first.indexOf('\n')))) return
        // too many: this one is waited for, like any other
        if (this.#isFull) return
        isDetached = true
        forget?.()
        this.#adopt(running)
        resolve(null)
      })
      child.stderr.on('data', (chunk: Buffer) => void stderr.add(chunk))
      void running.exited.then((status) => (exit = status))
      void lastWords(running.exited, [child.stdout, child.stderr]).then(() => judge())
      child.stdin.end(start.input)
    })
  }

  #kill(one: LocalProcess): void {
    if (!one.running || this.#killed.has(one)) return
    this.#killed.add(one)
    void one.kill('kill')
  }

  /** One that went on by its own wish counts among those that nobody waits for. */
  #adopt(running: LocalProcess): void {
    const work = running.swept
    this.#detached.add(work)
    void work.then(() => this.#detached.delete(work))
  }

  #spawn({ command, cwd, env }: HookStart): ReturnType<typeof start> {
    try {
      return start(command, cwd, env)
    } catch (error) {
      // a NUL character; the text of the error would show the command
      throw new TapProblem('HOOK_FAILED', `could not be started (${(error as NodeJS.ErrnoException).code ?? 'unknown cause'})`)
    }
  }
}

const tooLate = (ms: number): TapProblem =>
  new TapProblem('HOOK_TIMED_OUT', `did not end within ${ms / 1000} s and was ended`, {
    remedy: 'Make the hook faster, or raise its "timeout".',
  })

const tooMuch = (): TapProblem => new TapProblem('HOOK_BAD_RETURN', `printed more than ${STDOUT_LIMIT / 1024 / 1024} MiB and was ended`)

let shell: string | null = null

/** Hooks are written for bash; where there is none, for the shell of the system. */
function start(command: string, cwd: string, env: Readonly<Record<string, string>>) {
  const options = { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] as ['pipe', 'pipe', 'pipe'], windowsHide: true }
  if (process.platform === 'win32') return spawn(command, { ...options, shell: true })
  shell ??= ['/bin/bash', '/usr/bin/bash'].find((file) => existsSync(file)) ?? '/bin/sh'
  // a bash whose input is a socket, as pipes of Node are, would take itself for one of rshd and read ~/.bashrc
  const flags = shell.endsWith('bash') ? ['--norc', '-c'] : ['-c']
  return spawn(shell, [...flags, command], { ...options, detached: true })
}
