/** One child process of this machine, with everything that it started in turn. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { ExitStatus, ProcessWatch, StdioProcess } from '../executor.ts'
import { outsiders, processTable } from './process-tree.ts'

/** ms that processes get between SIGTERM and SIGKILL once the server that started them has ended. */
const SWEEP_MS = 1000
/** ms after the exit for which the pipes are still read. */
const PIPE_MS = 2500
const TAKEN: Promise<void> = Promise.resolve()

/** A child with pipes, in a process group of its own. */
export class LocalProcess implements StdioProcess {
  readonly pid: number
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  readonly exited: Promise<ExitStatus>
  /** settles when nothing is left of the process and of what it started, as far as we can see */
  readonly swept: Promise<void>
  readonly #child: ChildProcess
  /** a table from before knows nothing of this process */
  readonly #since = performance.now()
  /** descendants that have left the group: pid → when it started */
  readonly #outsiders = new Map<number, string>()
  #drained: Promise<void> | null = null

  constructor(child: ChildProcess, watch: ProcessWatch) {
    const { pid, stdin, stdout, stderr } = child
    if (pid === undefined || !stdin || !stdout || !stderr) throw new TypeError('the child has no pid or no pipes')
    this.pid = pid
    this.stdout = stdout
    this.stderr = stderr
    this.#child = child
    // an end of the other side shows as the exit; EPIPE has nothing to add
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {})
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    this.swept = this.exited.then(() => this.#sweep()).then(() => watch.delete(pid))
  }

  /** until the exit */
  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  write(chunk: Uint8Array): Promise<void> {
    const stdin = this.#child.stdin
    if (!stdin?.writable) return Promise.reject(new Error('stdin of the process is closed'))
    if (stdin.write(chunk)) return TAKEN
    this.#drained ??= new Promise<void>((resolve, reject) => {
      const done = (act: () => void): void => {
        this.#drained = null
        stdin.off('drain', drained).off('close', closed)
        act()
      }
      const drained = (): void => done(resolve)
      const closed = (): void => done(() => reject(new Error('stdin of the process was closed')))
      stdin.on('drain', drained).on('close', closed)
    })
    return this.#drained
  }

  endStdin(): Promise<boolean> {
    // a server that ends by itself orphans its children: who they are must be known before
    this.#look()
    this.#child.stdin?.end()
    return Promise.resolve(true)
  }

  kill(how: 'terminate' | 'kill'): Promise<void> {
    this.#signal(how)
    return Promise.resolve()
  }

  #signal(how: 'terminate' | 'kill'): void {
    if (process.platform === 'win32') {
      spawn('taskkill', ['/pid', String(this.pid), '/T', ...(how === 'kill' ? ['/F'] : [])], { stdio: 'ignore', windowsHide: true }).on(
        'error',
        () => {},
      )
      return
    }
    const signal = how === 'kill' ? 'SIGKILL' : 'SIGTERM'
    this.#look()
    if (this.running || this.#groupLives()) send(-this.pid, signal)
    for (const pid of this.#outsiders.keys()) send(pid, signal)
  }

  /** Finds descendants outside the group, and forgets those that have ended. */
  #look(): void {
    const table = processTable(this.#since)
    if (!table) return
    for (const { pid, started } of outsiders(table, this.pid)) this.#outsiders.set(pid, started)
    for (const [pid, started] of this.#outsiders) if (table.get(pid)?.started !== started) this.#outsiders.delete(pid)
  }

  /** Zombies do not count: where process 1 collects none, they stay for ever. */
  #groupLives(): boolean {
    const table = processTable(this.#since)
    if (table) {
      // a table from just before the exit still shows the process itself
      for (const entry of table.values()) if (entry.group === this.pid && (this.running || entry.pid !== this.pid)) return true
      return false
    }
    return process.platform !== 'win32' && send(-this.pid, 0)
  }

  /** After the exit: ends what the process left behind, and lets go of pipes that somebody else holds open. */
  async #sweep(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child
    setTimeout(() => {
      for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    }, PIPE_MS).unref()
    if (!this.#left()) return
    this.#signal('terminate')
    if (await this.#goneWithin(SWEEP_MS)) return
    this.#signal('kill')
    await this.#goneWithin(SWEEP_MS)
  }

  #left(): boolean {
    // nobody in the group, so nobody whose descendants could be found: no need to read every process of the machine
    if (this.#outsiders.size === 0 && isEmptyGroup(this.pid)) return false
    this.#look()
    return this.#outsiders.size > 0 || this.#groupLives()
  }

  async #goneWithin(ms: number): Promise<boolean> {
    for (const end = performance.now() + ms; performance.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      if (!this.#left()) return true
    }
    return false
  }
}

/** True where the group has no process, not even one that waits to be collected; never on Windows. */
function isEmptyGroup(group: number): boolean {
  if (process.platform === 'win32') return false
  try {
    process.kill(-group, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** True where there was something to send it to. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
