/** Whose exit status is it, the command's or the launcher's? They overlap in 1, 2 and 101. */
import type { Readable } from 'node:stream'

/** What was seen of a process while somebody else read its output. */
export class Evidence {
  /** the beginning of stderr, up to 4 KiB */
  stderr = ''
  hasStdout = false

  /** Watches what is read from the stream, without reading from it. */
  watch(stream: Readable | null, name: 'stdout' | 'stderr'): void {
    if (stream === null) return
    const emit = stream.emit.bind(stream) as (event: string | symbol, ...values: unknown[]) => boolean
    // A listener of ours would make the stream flow before the author listens.
    stream.emit = (event: string | symbol, ...values: unknown[]): boolean => {
      if (event === 'data') this.note(name, values[0] as Buffer | string)
      return emit(event, ...values)
    }
  }

  note(name: 'stdout' | 'stderr', chunk: Buffer | string): void {
    if (name === 'stdout') this.hasStdout ||= chunk.length > 0
    else if (this.stderr.length < KEPT) this.stderr = (this.stderr + chunk.toString('utf8')).slice(0, KEPT)
  }
}

const KEPT = 4096
const SHARED_CODES: ReadonlySet<number> = new Set([1, 2, 101])
/** How a launcher begins that could not run the command. */
const LAUNCHER_FAILED = [
  /^Error: invalid --sandbox-state-json value/,
  /^Error: sandbox command must not be empty/,
  /^error: [^\n]*--sandbox-state-json/,
  /^thread '[^'\n]*'(?: \(\d+\))? panicked at [^\n]*sandbox/,
  /^bwrap: /,
]
/** How it may begin: a command can too. */
const LAUNCHER_LIKE = /^(?:Error: |error: |warning: |thread '[^'\n]*'(?: \(\d+\))? panicked at )/

/** `command` and `launcher` where the status or the output tells, else null. A command may imitate the launcher; the launcher prints nothing on stdout. */
export function originOf(code: number | null, { stderr, hasStdout }: Evidence): 'command' | 'launcher' | null {
  if (code === null) return null
  if (!SHARED_CODES.has(code) || hasStdout) return 'command'
  const said = withoutWarnings(stderr)
  if (LAUNCHER_FAILED.some((form) => form.test(said))) return 'launcher'
  return said === '' || LAUNCHER_LIKE.test(said) ? null : 'command'
}

/** What the launcher said, without the warnings about its own folders that it begins with and goes on after. */
export function withoutWarnings(stderr: string): string {
  return stderr.replace(/^(?:WARNING: [^\n]*(?:\n|$))+/, '').trim()
}
