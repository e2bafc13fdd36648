/** Runs one command to its end and keeps what it prints. */
import type { Readable } from 'node:stream'
import { withoutWarnings } from './exit-origin.ts'
import { SandboxLauncherError, SandboxOutputError } from './sandbox-errors.ts'
import { type CommandLine, type SandboxExit, startProcess } from './sandboxed-process.ts'

/** Options of `run`. */
export interface RunOptions {
  /** Where the launcher starts. In the sandbox the command starts in the folder that the state names, whatever this is. */
  readonly cwd?: string
  /** default: the variables of the server */
  readonly env?: NodeJS.ProcessEnv
  /** what the command reads on stdin; default: nothing */
  readonly input?: string
  /** ends the command with its process group */
  readonly signal?: AbortSignal
  /** of stdout and stderr together; default 8 MiB */
  readonly maxBytes?: number
}

/** How a command ended, and what it printed, decoded as UTF-8. */
export interface SandboxOutput extends SandboxExit {
  readonly stdout: string
  readonly stderr: string
}

const MAX_BYTES = 8 * 1024 * 1024
/** ms between SIGTERM and SIGKILL */
const PATIENCE_MS = 1000
/** ms that pipes are read after the exit: something that the command left behind may hold them */
const DRAIN_MS = 2000

/** Process groups of commands that run now: they end with the server. */
const running = new Set<number>()

/** Rejects with SANDBOX_LAUNCHER_FAILED where the command never ran, SANDBOX_OUTPUT_TOO_LARGE beyond `maxBytes`, and the signal's reason on abort. */
export async function runCommand(line: CommandLine, options: RunOptions = {}): Promise<SandboxOutput> {
  const { cwd, env, input, signal, maxBytes = MAX_BYTES } = options
  if (!(maxBytes > 0)) throw new TypeError('maxBytes must be a number above 0')
  signal?.throwIfAborted()
  const child = startProcess(line, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // a group of its own, so that an abort reaches what the command has started
    detached: process.platform !== 'win32',
    windowsHide: true,
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  })
  const { pid } = child
  let failure: { readonly reason: unknown } | null = null
  const stop = (reason: unknown): void => {
    if (failure !== null) return
    failure = { reason }
    end(pid, 'SIGTERM')
    killing = setTimeout(() => end(pid, 'SIGKILL'), PATIENCE_MS)
  }
  let killing: NodeJS.Timeout | undefined
  let left = maxBytes
  const collect = (stream: Readable | null): { readonly text: () => string; readonly closed: Promise<void> } => {
    const chunks: Buffer[] = []
    stream?.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left >= 0) chunks.push(chunk)
      else stop(new SandboxOutputError(maxBytes))
    })
    return { text: () => Buffer.concat(chunks).toString('utf8'), closed: closeOf(stream) }
  }
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  // EPIPE: the command reads less than it is given
  child.stdin?.on('error', () => {}).end(input)
  const onAbort = (): void => stop(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (pid !== undefined) hold(pid)
  try {
    const exit = await child.ended
    await within(Promise.all([stdout.closed, stderr.closed]), DRAIN_MS)
    if (failure !== null) throw (failure as { readonly reason: unknown }).reason
    if (exit.from === 'launcher') throw launcherFailed(exit, stderr.text())
    return { ...exit, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    clearTimeout(killing)
    signal?.removeEventListener('abort', onAbort)
    // what the command left behind in its group goes with it
    end(pid, 'SIGKILL')
    if (pid !== undefined) release(pid)
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
}

function launcherFailed({ code }: SandboxExit, stderr: string): SandboxLauncherError {
  const [first = '', second = ''] = withoutWarnings(stderr).split('\n')
  // the place of a panic tells nobody anything, the line after it says what happened
  const said = /^thread .* panicked at /.test(first) && second !== '' ? second : first
  return new SandboxLauncherError(
    `the command did not run: the sandbox launcher ended with status ${code}${said && `: ${said.slice(0, 300)}`}`,
    stderr,
  )
}

function closeOf(stream: Readable | null): Promise<void> {
  return stream === null || stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', () => resolve()))
}

async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([promise, limit])
  clearTimeout(timer)
}

function end(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    // it has gone already
  }
}

function hold(pid: number): void {
  if (running.size === 0) process.on('exit', endAll)
  running.add(pid)
}

function release(pid: number): void {
  running.delete(pid)
  if (running.size === 0) process.off('exit', endAll)
}

function endAll(): void {
  for (const pid of running) end(pid, 'SIGKILL')
}
