/** What a command gets: the options of everybody, where to write, and when to stop. */
import type { Globals } from './globals.ts'
import type { Interrupt } from './interrupt.ts'
import type { Output } from './output.ts'
import type { Progress } from './progress.ts'

/** Everything a command may touch of the process. */
export interface CliContext {
  readonly globals: Globals
  readonly out: Output
  readonly progress: Progress
  readonly interrupt: Interrupt
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadStream
}
