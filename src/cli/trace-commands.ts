/** The commands that read trace files, and their options. */
import type { Command } from 'commander'
import type { CliContext } from './context.ts'

/** Makes an action of the code of a command. */
export type MakeAction = (command: (context: CliContext, ...args: unknown[]) => Promise<number>) => (...args: unknown[]) => Promise<void>

/** Adds `trace` and `rollout`. */
export function addTraceCommands(program: Command, action: MakeAction): void {
  const traces = program.command('trace').description('look at trace files, which --trace-file writes')
  traces
    .command('schema')
    .description('print the JSON Schema of a line of a trace file')
    .action(action(async (context) => (await import('./commands/trace.ts')).schema(context)))
  traces
    .command('show')
    .description('show each call of a trace file as a time line of hooks, decisions and durations')
    .argument('<file>', 'the trace file, or - for standard input')
    .option('--call <id>', 'only this call')
    .action(
      action(async (context, file, options) => (await import('./commands/trace.ts')).show(context, file as string, options as object)),
    )
  program
    .command('rollout')
    .description('compare what is being tried out with what happens')
    .command('report')
    .description('count in trace files what hook plugins in shadow would have done, and how calls end under each value of a flag')
    .argument('<files...>', 'trace files, or - for standard input')
    .action(action(async (context, files) => (await import('./commands/rollout.ts')).report(context, files as string[])))
}
