/** The stdout of the command line tool: results alone. What a hook module prints would spoil the JSON of a command, and end the conversation of `serve`. */

const { stdout } = process
// taken at load, before any hook module is
const write = stdout.write.bind(stdout) as (text: string, done?: () => void) => boolean

/** Writes to stdout, also once it is reserved. */
export function writeStdout(text: string, done?: () => void): void {
  write(text, done)
}

/** From now on whatever else writes to stdout writes to stderr. */
export function reserveStdout(): void {
  const { stderr } = process
  stdout.write = stderr.write.bind(stderr)
}
