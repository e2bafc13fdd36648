/** Runs one command line: parses it, runs the command, turns every end into text and an exit status. */
import { CommanderError } from 'commander'
import { asTaplineError, isTaplineError, TaplineError } from '../errors.ts'
import { commandPath } from './command-path.ts'
import type { CliContext } from './context.ts'
import { EXIT_DONE, EXIT_FAILED, statusOfCode } from './exit-status.ts'
import { asksForJson } from './globals.ts'
import type { Globals } from './globals.ts'
import { unknownTopic } from './help-topic.ts'
import { Interrupt } from './interrupt.ts'
import { Output } from './output.ts'
import { reserveStdout, writeStdout } from './own-stdout.ts'
import { createProgram, VersionShown } from './program.ts'
import { Progress } from './progress.ts'
import { debugText, errorJson, errorText } from './render/failure.ts'

/** ms that an interrupted command has to close its servers */
const CLOSE_MS = 10_000
/** ms after the end until the process is ended, should something hold it open */
const LINGER_MS = 2_000
const EXIT_REMEDY = 'Most likely a hook module called process.exit: it returns deny(reason) to refuse, or nothing.'
const STRAY_REMEDY = 'Most likely a hook module threw where nobody waits for it; run again with TAPLINE_DEBUG=1 to see where.'

/** The whole command line tool. Sets `process.exitCode`; does not reject. */
export async function main(argv: readonly string[]): Promise<void> {
  // stands if the loop runs empty before a command is done
  process.exitCode = EXIT_FAILED
  const color = !process.env['NO_COLOR']
  reserveStdout()
  const streams = { stdout: process.stdout, stderr: process.stderr, write: writeStdout }
  let out = new Output({ json: asksForJson(argv), quiet: false, color: color && !argv.includes('--no-color') }, streams)
  const interrupt = new Interrupt()
  const stray = catchStray(() => out, interrupt)
  let status: number = EXIT_DONE
  let help = ''
  let usage = ''

  const runCommand = async (globals: Globals, command: (context: CliContext) => Promise<number>): Promise<void> => {
    out = new Output(globals, streams)
    const animated = process.stderr.isTTY === true && process.env['TERM'] !== 'dumb'
    const progress = new Progress({ stream: process.stderr, quiet: globals.quiet, animated })
    const listening = interrupt.listen((name) => {
      progress.pause()
      if (process.stderr.isTTY === true && name === 'SIGINT') out.note('\ncancelling and closing the servers; Ctrl-C again ends at once')
    })
    const context: CliContext = { globals, out, progress, interrupt, cwd: process.cwd(), env: process.env, stdin: process.stdin }
    try {
      status = await untilTooLate(command(context), interrupt.signal)
    } finally {
      progress.pause()
      listening[Symbol.dispose]()
    }
  }

  const program = createProgram({
    color,
    run: runCommand,
    writeHelp: (text) => void (help += text),
    writeUsage: (text) => void (usage += text),
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (thrown) {
    const error = thrown instanceof CommanderError && thrown.code === 'commander.help' ? (unknownTopic(program) ?? thrown) : thrown
    if (usage !== '' && !out.json) out.line(usage)
    // help that was asked for is no failure; commander gives `process.exitCode` for it, which stands at "failed" here
    const told = error instanceof CommanderError ? usageError(error, commandPath(program, argv)) : error
    status = help !== '' ? EXIT_DONE : await report(told, out, interrupt)
  }
  if (help !== '') await out.text(help)
  stray[Symbol.dispose]()
  process.exitCode = interrupt.status ?? status
  // what is still open then (a pipe that a stranger holds, a handle of a hook) must not keep the terminal
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/** The command; after an interruption it has 10 s to close what it opened. */
function untilTooLate(command: Promise<number>, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    command.then(resolve, reject)
    signal.addEventListener(
      'abort',
      () => setTimeout(() => reject(new TaplineError('CALL_CANCELLED', 'interrupted; some servers did not end in time')), CLOSE_MS).unref(),
      { once: true },
    )
  })
}

/** Writes what went wrong, in the form that was asked for. Gives the exit status. */
async function report(thrown: unknown, out: Output, interrupt: Interrupt): Promise<number> {
  if (thrown instanceof VersionShown) return EXIT_DONE
  const error =
    interrupt.status !== null && !isTaplineError(thrown)
      ? new TaplineError('CALL_CANCELLED', 'interrupted', { cause: thrown })
      : asTaplineError(thrown, 'INTERNAL')
  if (out.json && !out.documentWritten) await out.document(errorJson(error))
  else out.line(errorText(error, out.paintErr))
  if (process.env['TAPLINE_DEBUG']) out.line(debugText(thrown))
  return statusOfCode(error.code)
}

/** What the parser found wrong; the remedy names the help of the command that was meant. */
function usageError(cause: CommanderError, command: string): TaplineError {
  const message = cause.code === 'commander.help' ? 'no command was given' : cause.message.replace(/^error: /, '').replace(/\n+/g, ' ')
  return new TaplineError('CLI_USAGE', message, { cause, remedy: `Run \`${command} --help\` to see the commands and options.` })
}

/**
 * A hook module may throw where nobody waits. That is told, and stops nothing: the call it belongs to has limits of its own. It may also
 * end the process, as hooks that are processes of their own do: that is told too, and is no success.
 */
function catchStray(out: () => Output, interrupt: Interrupt): Disposable {
  const tell = (error: unknown): void => {
    const message = `an error outside any call: ${error instanceof Error ? error.message : String(error)}`
    out().line(errorText(new TaplineError('INTERNAL', message, { remedy: STRAY_REMEDY, cause: error }), out().paintErr))
    if (process.env['TAPLINE_DEBUG']) out().line(debugText(error))
  }
  const ended = (message: string, remedy?: string): void => {
    process.off('exit', exited)
    const error = new TaplineError('INTERNAL', message, remedy === undefined ? {} : { remedy })
    // what a process writes while it exits is written at once
    if (out().json && !out().documentWritten) void out().document(errorJson(error))
    else out().line(errorText(error, out().paintErr))
  }
  const unfinished = (): void => ended('the command ended before it was done')
  const exited = (): void => {
    if (interrupt.status !== null) return
    process.exitCode = EXIT_FAILED
    ended('something ended the process before the command was done', EXIT_REMEDY)
  }
  process.on('uncaughtException', tell).on('unhandledRejection', tell).once('beforeExit', unfinished).once('exit', exited)
  return { [Symbol.dispose]: () => void process.off('beforeExit', unfinished).off('exit', exited) }
}
