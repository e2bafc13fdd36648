/** Starts one command, by way of the launcher or without it, and finds out how it ended. */
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { spawn } from 'node:child_process'
import { messageOf } from '../errors.ts'
import { LauncherProbe } from '../launcher-probe.ts'
import { Evidence, originOf } from './exit-origin.ts'
import { openRealPipes } from './real-pipes.ts'
import { SandboxLauncherError } from './sandbox-errors.ts'

/** Options of Node's `spawn` that cannot change which program runs or how its arguments arrive. */
export type SpawnSettings = Omit<SpawnOptions, 'shell' | 'argv0' | 'windowsVerbatimArguments'>

/** How a process ended. */
export interface SandboxExit {
  readonly code: number | null
  /** the signal that ended the launcher; a command that a signal ended inside of it is code 128 + number */
  readonly signal: NodeJS.Signals | null
  /** 1, 2 and 101 may be the launcher's own: `unknown` where its output does not tell. A command can imitate the launcher, so never take `launcher` as leave to run the command without it. */
  readonly from: 'command' | 'launcher' | 'unknown'
}

/** A child process; `ended` rejects with SANDBOX_LAUNCHER_FAILED where it could not be started. */
export type SandboxedProcess = ChildProcess & { readonly ended: Promise<SandboxExit> }

/** A program with its arguments; `launcher` is null where it is the command itself. */
export interface CommandLine {
  readonly program: string
  readonly args: readonly string[]
  readonly launcher: string | null
}

/** Bytes that one argument may have, without the NUL at its end (Linux), or a whole command line (Windows). */
const ARGUMENT_BYTES: Partial<Record<NodeJS.Platform, number>> = { linux: 131_071, win32: 32_000 }
/** ms that the last words of a launcher are waited for, once it has gone */
const LAST_WORDS_MS = 1000
const FORBIDDEN = ['shell', 'argv0', 'windowsVerbatimArguments'] as const

const probe = new LauncherProbe()

/** The command line of the launcher. Throws SANDBOX_LAUNCHER_FAILED where the state, or another argument, is longer than one can be. */
export function launcherLine(launcher: string, state: string, command: string, args: readonly string[]): CommandLine {
  const limit = ARGUMENT_BYTES[process.platform] ?? Infinity
  for (const [at, text] of [state, command, ...args].entries()) {
    const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0
    const what = at === 0 ? 'the sandbox state' : at === 1 ? 'the command' : `argument ${at - 1} of the command`
    if (bytes > limit) throw new SandboxLauncherError(`${what} has ${bytes} bytes; this platform allows ${limit} at most in one argument`)
  }
  return { program: launcher, args: ['sandbox', '--sandbox-state-json', state, '--', command, ...args], launcher }
}

/** Starts it. Throws TypeError for what is no command line or option, SANDBOX_LAUNCHER_FAILED where the platform refuses it at once. */
export function startProcess(line: CommandLine, settings: SpawnSettings = {}): SandboxedProcess {
  for (const name of FORBIDDEN) {
    if ((settings as SpawnOptions)[name]) throw new TypeError(`${name} cannot be set: it would change what the sandbox runs`)
  }
  const { program, args, launcher } = line
  const pipes = launcher === null ? null : openRealPipes(settings.stdio)
  let child: ChildProcess
  try {
    child = spawn(program, args, { ...settings, ...(pipes !== null && { stdio: pipes.stdio }), shell: false })
  } catch (error) {
    pipes?.abandon()
    if (!isSpawnFailure(error)) throw error
    throw notStarted(line, error)
  }
  pipes?.attach(child)
  const evidence = new Evidence()
  evidence.watch(child.stdout, 'stdout')
  evidence.watch(child.stderr, 'stderr')
  const ended = endOf(child, line).then(async ({ code, signal }): Promise<SandboxExit> => {
    if (launcher === null) return { code, signal, from: 'command' }
    if (originOf(code, evidence) === null && code !== null) await lastWords(child)
    const origin = originOf(code, evidence)
    if (origin !== null || code === null) return { code, signal, from: origin ?? 'unknown' }
    // The output does not tell; a launcher that does not even pass its probe did not run the command.
    return { code, signal, from: (await probe.check(launcher)) ? 'unknown' : 'launcher' }
  })
  // An author who only wants the streams must not be ended by this promise.
  ended.catch(() => {})
  return Object.assign(child, { ended })
}

function endOf(child: ChildProcess, line: CommandLine): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      // with a pid it is an abort or a kill that failed: the exit follows
      if (child.pid === undefined) reject(notStarted(line, error))
    })
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** Waits for the end of stderr, which may come after the exit, or never where nobody reads it. */
function lastWords({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null || stderr.readableEnded || stderr.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(done, LAST_WORDS_MS)
    stderr.once('close', done)
  })
}

function notStarted({ launcher }: CommandLine, error: unknown): SandboxLauncherError {
  const what = launcher === null ? 'the command' : 'the sandbox launcher'
  return new SandboxLauncherError(`${what} could not be started: ${messageOf(error)}`, '', error)
}

const isSpawnFailure = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn')
