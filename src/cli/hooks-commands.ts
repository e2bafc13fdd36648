/** The commands for authors of hook plugins, and their options. */
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { MakeAction } from './trace-commands.ts'

/** Adds `check` and `init` to the commands of `hooks`. */
export function addHookAuthorCommands(hooks: Command, action: MakeAction): void {
  hooks
    .command('check')
    .description('find what is wrong with a hook plugin: run it in a process of its own against hostile input')
    .argument('<module>', 'a .js, .mjs or .cjs file, or the name of a package')
    .option('--options <json>', 'options for the plugin, as a configuration would give them')
    .option('--seed <n>', 'order and chance; the same seed gives the same findings', seed)
    .option('--calls <n>', 'calls that are made at once; default 2000', number)
    .option('--budget <ms>', 'time of its own that a tap may take; default 100', number)
    .option('--allow <kind>', 'a kind of finding that is meant; may be given several times', (kind: string, all: string[] | undefined) => [
      ...(all ?? []),
      kind,
    ])
    .option('--limit <seconds>', 'end it when it has not given a sign of life for so long; default 10', number)
    .action(
      action(async (context, module, options) =>
        (await import('./commands/hooks-check.ts')).run(context, module as string, options as object),
      ),
    )
  hooks
    .command('init')
    .description('write a package with a hook plugin, its tests and a server to try it on')
    .argument('<dir>', 'a folder that is empty, or does not exist yet')
    .option('--name <name>', 'its name; default: that of the folder')
    .action(
      action(async (context, folder, options) =>
        (await import('./commands/hooks-init.ts')).run(context, folder as string, options as object),
      ),
    )
}

function seed(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= Number.MAX_SAFE_INTEGER))
    throw new InvalidArgumentError('It must be 0 or a number above.')
  return value
}

function number(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0 || value > 1_000_000)
    throw new InvalidArgumentError('It must be a number above 0.')
  return value
}
