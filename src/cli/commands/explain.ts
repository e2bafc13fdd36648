/** `tapline explain`: what a call would do, without doing it. */
import type { CliContext } from '../context.ts'
import { run as call } from './call.ts'
import type { CallCommandOptions } from './call.ts'

/** Exit status of the end that the call would have; 0 where it would be sent or asked about. */
export function run(context: CliContext, name: string, args: string | undefined, options: CallCommandOptions): Promise<number> {
  return call(context, name, args, { ...options, explain: true })
}
