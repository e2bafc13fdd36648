/** What the host says about the sandbox of one call, and the way to run commands in it. */
import { messageOf } from '../errors.ts'
import { type CallMeta, readAuthority, type SandboxLauncher } from './call-authority.ts'
import { type RunOptions, runCommand, type SandboxOutput } from './run-command.ts'
import { SandboxLauncherError, SandboxUnavailableError } from './sandbox-errors.ts'
import { type CommandLine, launcherLine, type SandboxedProcess, type SpawnSettings, startProcess } from './sandboxed-process.ts'

/** Options of `readSandbox`. */
export interface ReadSandboxOptions {
  /** The choice of whoever starts the server, never the model's: commands run without a sandbox where the host sends none. Logged at every use. Default false; TAPLINE_ALLOW_UNSANDBOXED=1 in the environment of the server says the same. */
  readonly allowUnsandboxed?: boolean
  /** default: a line on stderr */
  readonly log?: (line: string) => void
}

/** The sandbox of one call. */
export interface Sandbox {
  /** The original value: hand it on, never take it apart. undefined only where unsandboxed was allowed. */
  readonly state: unknown
  readonly launcher: SandboxLauncher | null
  /** true where commands run in the sandbox */
  readonly sandboxed: boolean
  /** Starts a command without a shell. Throws SANDBOX_UNAVAILABLE without a launcher, SANDBOX_LAUNCHER_FAILED for a state beyond the platform's limit of an argument (128 KiB on Linux). */
  spawn(command: string, args?: readonly string[], options?: SpawnSettings): SandboxedProcess
  /** Runs a command to its end and keeps what it prints. Rejects with SANDBOX_UNAVAILABLE without a launcher, SANDBOX_LAUNCHER_FAILED where the command never ran, SANDBOX_OUTPUT_TOO_LARGE, or the reason of the signal. */
  run(command: string, args?: readonly string[], options?: RunOptions): Promise<SandboxOutput>
}

const OPT_OUT = 'TAPLINE_ALLOW_UNSANDBOXED'

/** Reads `extra._meta` of a call; arguments of the tool are never looked at. Throws SANDBOX_UNAVAILABLE without a state (unless allowed), SANDBOX_CONTRADICTION where the two names differ or the launcher is no absolute path. */
export function readSandbox(meta: CallMeta, options: ReadSandboxOptions = {}): Sandbox {
  const { state, launcher } = readAuthority(meta)
  const sandboxed = state !== undefined && launcher !== null
  const missing =
    state === undefined ? 'the host sent no sandbox state with this call' : 'the host offers no sandbox launcher with this call'
  const allowedBy = sandboxed ? null : optOut(options)
  if (state === undefined && allowedBy === null) throw new SandboxUnavailableError(`${missing}: commands are not run`)
  const log = options.log ?? ((line) => void process.stderr.write(`${line}\n`))
  const allow = (what: string): void => log(`tapline/sandbox: ${what} without a sandbox: ${missing}; allowed by ${allowedBy}`)
  if (allowedBy !== null) allow('a call goes on')

  let text: string | undefined
  const lineOf = (command: string, args: readonly string[]): CommandLine => {
    if (typeof command !== 'string' || command === '') throw new TypeError('the command must be text that is not empty')
    if (!args.every((text) => typeof text === 'string')) throw new TypeError('every argument of the command must be text')
    if (state !== undefined && launcher !== null) return launcherLine(launcher.codexExecutable, (text ??= printed(state)), command, args)
    if (allowedBy === null) throw new SandboxUnavailableError(`${missing}: commands are not run`)
    allow(`${JSON.stringify(command.slice(0, 200))} runs`)
    return { program: command, args, launcher: null }
  }
  return Object.freeze({
    state,
    launcher,
    sandboxed,
    spawn: (command: string, args: readonly string[] = [], settings?: SpawnSettings) => startProcess(lineOf(command, args), settings),
    run: async (command: string, args: readonly string[] = [], settings?: RunOptions) => runCommand(lineOf(command, args), settings),
  })
}

/** What allows commands without a sandbox, or null. */
function optOut({ allowUnsandboxed }: ReadSandboxOptions): string | null {
  if (allowUnsandboxed === true) return 'allowUnsandboxed'
  return process.env[OPT_OUT] === '1' ? `${OPT_OUT}=1` : null
}

function printed(state: unknown): string {
  try {
    return JSON.stringify(state)
  } catch (error) {
    throw new SandboxLauncherError(`the sandbox state cannot be written as JSON: ${messageOf(error)}`, '', error)
  }
}
