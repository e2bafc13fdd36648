/** `tapline help nosuch`: the parser shows help then, but not what was wrong. */
import type { Command } from 'commander'
import { TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'

/** CLI_USAGE about the command that help was asked for and that does not exist; null where there is none. `program` has parsed its command line. */
export function unknownTopic(program: Command): TaplineError | null {
  let command = program
  let isAsked = false
  for (const word of program.args.filter((one) => !one.startsWith('-'))) {
    if (word === 'help') {
      isAsked = true
      continue
    }
    const next = command.commands.find((one) => one.name() === word)
    if (next !== undefined) command = next
    else if (!isAsked || command.commands.length === 0) return null
    else {
      const near = nearest(
        word,
        command.commands.map((one) => one.name()),
      )
      return new TaplineError(
        'CLI_USAGE',
        `there is no command ${JSON.stringify(word)}${near === null ? '' : ` (did you mean "${near}"?)`}`,
      )
    }
  }
  return null
}
