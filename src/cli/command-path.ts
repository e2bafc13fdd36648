/** Which command a command line means, for a remedy that names its help. */
import type { Command } from 'commander'

/** `tapline call`, `tapline resources read` …; `tapline` where no command is named. */
export function commandPath(program: Command, argv: readonly string[]): string {
  let command = program
  const path = [program.name()]
  for (const word of argv) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) continue
    command = next
    path.push(word)
  }
  return path.join(' ')
}
