/** The commands and their options; the code of a command is imported when it runs. */
import { Command, InvalidArgumentError, Option } from 'commander'
import type { FlagValue } from '../flags/flag.ts'
import { VERSION } from '../version.ts'
import { parseApprove } from './approver.ts'
import type { CliContext } from './context.ts'
import { parseFlag } from './globals.ts'
import type { Globals } from './globals.ts'
import { addHookAuthorCommands } from './hooks-commands.ts'
import { addTraceCommands } from './trace-commands.ts'

/** Where the texts of the parser go, and what is done with a command. */
export interface ProgramHost {
  /** help and version that were asked for */
  readonly writeHelp: (text: string) => void
  /** help in place of a command that is missing */
  readonly writeUsage: (text: string) => void
  /** false: NO_COLOR */
  readonly color: boolean
  /** Runs the code of a command and keeps its exit status. */
  readonly run: (globals: Globals, command: (context: CliContext) => Promise<number>) => Promise<void>
}

/** The command line. `parseAsync` rejects with CommanderError or CLI_USAGE and never ends the process. */
export function createProgram(host: ProgramHost): Command {
  const program = new Command('tapline')
  const config: string[] = []
  // in the order of the command line, so that the last word on a flag counts
  const flags: Record<string, FlagValue> = Object.create(null) as Record<string, FlagValue>
  const set = (name: string, value: FlagValue): void => {
    flags[name] = value
  }
  program
    .description('Runs the tool calls of an agent over many MCP servers, each in its own environment.')
    .option(
      '--config <file>',
      'read this file and no other; may be given several times, later ones are stronger',
      (file) => void config.push(file),
    )
    .option('--enable <flag>', 'switch a flag on', (name) => set(name, true))
    .option('--disable <flag>', 'switch a flag off', (name) => set(name, false))
    .option('--flag <name=value>', 'set a flag', (text) => set(...parseFlag(text)))
    .option('--targeting-key <key>', 'whom roll-outs are decided for; default: TAPLINE_TARGETING_KEY, else this installation')
    .option('--json', 'print one JSON document on stdout and nothing else')
    .option('--quiet', 'no progress and no diagnostics on stderr')
    .option('--no-color', 'no colours')
    .option('--version', 'print the version')
    .configureHelp({ showGlobalOptions: true, visibleCommands: (cmd) => cmd.commands.filter((one) => one.name() !== 'help') })
    .configureOutput({ writeOut: host.writeHelp, writeErr: host.writeUsage, outputError: () => {} })
    .exitOverride()
    .on('option:version', () => {
      host.writeHelp(`${VERSION}\n`)
      throw new VersionShown()
    })

  const globals = (): Globals => {
    const {
      json = false,
      quiet = false,
      color,
      targetingKey = null,
    } = program.opts<{ json?: boolean; quiet?: boolean; color: boolean; targetingKey?: string }>()
    return { config, flags: { ...flags }, targetingKey, json, quiet, color: color && host.color }
  }
  const action =
    <A extends unknown[]>(command: (context: CliContext, ...args: A) => Promise<number>) =>
    (...args: unknown[]): Promise<void> =>
      // commander adds the command itself as the last argument
      host.run(globals(), (context) => command(context, ...(args.slice(0, -1) as A)))

  selecting(program.command('tools'), 'only')
    .option('--installation <name>', 'only this installation; default: servers without one')
    .description('list the tools of all servers')
    .option('--cached', 'start nothing: show the tools that servers had when they last ran')
    .action(action(async (context, options) => (await import('./commands/tools.ts')).run(context, options as object)))

  calling(program.command('call'))
    .description('call a tool: by its visible name, or with --server by its raw name')
    .option('--output <file>', 'write the whole result to this file, as JSON')
    .option('--trace-file <file>', 'append a record of the call to this file')
    .option('--explain', 'show what would happen, and call nothing')
    .action(
      action(async (context, name, args, options) =>
        (await import('./commands/call.ts')).run(context, name as string, args as string | undefined, options as object),
      ),
    )

  calling(program.command('explain'))
    .description('show what a call would do: owner, taps, approval, request; call nothing')
    .action(
      action(async (context, name, args, options) =>
        (await import('./commands/explain.ts')).run(context, name as string, args as string | undefined, options as object),
      ),
    )

  program
    .command('status')
    .description('show the state of every server')
    .option('--limit <n>', 'rows of a page; 0 acts as 1', wholeNumber)
    .option('--cursor <cursor>', 'the nextCursor of the page before')
    .addOption(new Option('--detail <detail>', 'how much to ask of a server').choices(['full', 'tools_and_auth']))
    .option('--server <name>', 'only this server')
    .option('--environment <id>', 'only of this environment; thread-wide: only servers without one')
    .option('--installation <name>', 'only this installation; default: only servers without one')
    .option('--watch', 'show it again with every change, until q or Ctrl-C')
    .action(action(async (context, options) => (await import('./commands/status.ts')).run(context, options as object)))

  selecting(program.command('doctor'), 'only')
    .option('--installation <name>', 'only this installation; default: servers without one')
    .description('check machine, configuration and every server, and say what to do')
    .action(action(async (context, options) => (await import('./commands/doctor.ts')).run(context, options as object)))

  const environments = program.command('environments').description('list environments and see whether they can be reached')
  environments
    .command('list')
    .description('list the environments of the configuration')
    .action(action(async (context) => (await import('./commands/environments.ts')).list(context)))
  environments
    .command('check')
    .description('connect them and ask for an answer: reachable, how fast, which platform')
    .argument('[id]', 'only this one; default: those that are selected')
    .action(action(async (context, id) => (await import('./commands/environments.ts')).check(context, id as string | undefined)))

  const resources = program.command('resources').description('list and read resources')
  listing(resources.command('list'))
    .description('list the resources of all servers')
    .action(action(async (context, options) => (await import('./commands/resources.ts')).list(context, options as object)))
  listing(resources.command('templates'))
    .description('list the resource templates of all servers')
    .action(action(async (context, options) => (await import('./commands/resources.ts')).templates(context, options as object)))
  selecting(resources.command('read'), 'of')
    .description('print one resource')
    .argument('<uri>', 'its URI')
    .option('--installation <name>', 'of this installation; default: the one without a name')
    .action(
      action(async (context, uri, options) => (await import('./commands/resources.ts')).read(context, uri as string, options as object)),
    )

  const prompts = program.command('prompts').description('list and get prompts')
  listing(prompts.command('list'))
    .description('list the prompts of all servers')
    .action(action(async (context, options) => (await import('./commands/prompts.ts')).list(context, options as object)))
  selecting(prompts.command('get'), 'of')
    .description('print the messages of one prompt')
    .argument('<name>', 'its name')
    .argument('[args]', 'its arguments as JSON, @FILE, or - for standard input; every value is text')
    .option('--installation <name>', 'of this installation; default: the one without a name')
    .action(
      action(async (context, name, args, options) =>
        (await import('./commands/prompts.ts')).get(context, name as string, args as string | undefined, options as object),
      ),
    )

  program
    .command('plugins')
    .description('show the plugin packages of the environments')
    .command('list')
    .description('list every plugin package with its installation, its servers and where it is')
    .option('--environment <id>', 'only of this environment')
    .action(action(async (context, options) => (await import('./commands/plugins.ts')).list(context, options as object)))

  program
    .command('serve')
    .description('be one MCP server with the tools of all, for an MCP client')
    .option('--stdio', 'talk to the client that started this process, over stdin and stdout')
    .option('--trace-file <file>', 'append a record of every call to this file')
    .action(action(async (context, options) => (await import('./commands/serve.ts')).run(context, options as object)))

  addTraceCommands(program, action)
  const flagCommands = program.command('flags').description('show the feature flags, and try a roll-out')
  flagCommands
    .command('list', { isDefault: true })
    .description('list every flag with its value and where that comes from')
    .action(action(async (context) => (await import('./commands/flags.ts')).list(context)))
  flagCommands
    .command('explain')
    .description('show what every source says of one flag, and which of them counts')
    .argument('<flag>', 'its name')
    .action(action(async (context, flag) => (await import('./commands/flags.ts')).explain(context, flag as string)))
  flagCommands
    .command('simulate')
    .description('show how a flagd definition file would split so many targeting keys')
    .argument('<file>', 'the file')
    .argument('[flag]', 'only this flag; default: all of the file')
    .option('--keys <n>', 'how many keys; default 10000', wholeNumber)
    .action(
      action(async (context, file, flag, options) =>
        (await import('./commands/flags-simulate.ts')).run(context, file as string, flag as string | undefined, options as object),
      ),
    )

  const configuration = program.command('config').description('check and show the configuration, and what it may hold')
  configuration
    .command('check')
    .description('report every mistake with file, line and column')
    .action(action(async (context) => (await import('./commands/config.ts')).check(context)))
  configuration
    .command('show')
    .description('print the merged configuration with the place of every value')
    .action(action(async (context) => (await import('./commands/config.ts')).show(context)))
  configuration
    .command('schema')
    .description('print the JSON Schema of tapline.json, for editors')
    .action(action(async (context) => (await import('./commands/config.ts')).schema(context)))

  program
    .command('trust')
    .description('use the configuration files found in a folder as they are now')
    .argument('[dir]', 'the folder; default: this one')
    .action(action(async (context, folder) => (await import('./commands/trust.ts')).run(context, folder as string | undefined)))
  program
    .command('untrust')
    .description('take that back')
    .argument('[dir]', 'the folder; default: this one')
    .action(action(async (context, folder) => (await import('./commands/untrust.ts')).run(context, folder as string | undefined)))
  const hooks = program.command('hooks').description('show hooks, trust the commands of hooks files, check hook plugins and begin one')
  hooks
    .command('list')
    .description('list the hooks of the configuration, and whether they may run')
    .action(action(async (context) => (await import('./commands/hooks-list.ts')).run(context)))
  hooks
    .command('trust')
    .description('run the commands of a hooks file as they are now')
    .argument('[file]', 'the hooks file; default: those of the configuration')
    .action(action(async (context, file) => (await import('./commands/hooks-trust.ts')).run(context, file as string | undefined)))
  hooks
    .command('untrust')
    .description('take that back')
    .argument('[file]', 'the hooks file; default: those of the configuration')
    .action(action(async (context, file) => (await import('./commands/hooks-untrust.ts')).run(context, file as string | undefined)))
  addHookAuthorCommands(hooks, action)
  const approvals = program.command('approvals').description('show and revoke what tools may do for always')
  approvals
    .command('list')
    .description('list what is allowed for always')
    .action(action(async (context) => (await import('./commands/approvals.ts')).list(context)))
  approvals
    .command('revoke')
    .description('ask about it again from now on')
    .argument('<id>', 'its id, or the beginning of it')
    .action(action(async (context, id) => (await import('./commands/approvals.ts')).revoke(context, id as string)))
  program
    .command('demo')
    .description('a tour on two small servers that come along')
    .action(action(async (context) => (await import('./commands/demo.ts')).run(context)))
  return program
}

/** Thrown once the version has been written, to leave the parser. */
export class VersionShown extends Error {}

function selecting(command: Command, word: 'only' | 'of'): Command {
  return command
    .option('--server <name>', `${word} this server`)
    .option('--environment <id>', `${word} this environment; thread-wide: servers without one`)
}

function listing(command: Command): Command {
  return selecting(command, 'only')
    .option('--installation <name>', 'only this installation; default: the one without a name')
    .option('--cursor <cursor>', 'the nextCursor of the page before; needs --server')
}

function calling(command: Command): Command {
  return command
    .argument('<name>', 'visible name of the tool; with --server the name that the server gives it')
    .argument('[args]', 'arguments as JSON, @FILE, or - for standard input')
    .option('--server <name>', 'the server')
    .option('--environment <id>', 'its environment; thread-wide: the server without one')
    .option('--installation <name>', 'its installation; default: the one without a name')
    .addOption(
      new Option('--approve <answer>', 'answer to the question whether the tool may run: once, session, always or deny').argParser(
        parseApprove,
      ),
    )
    .option('--timeout <seconds>', 'limit of the whole call, the start of the server included', seconds)
    .option('--trace', 'show what every hook decided')
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** Longer than 24 days does not fit a timer. */
function seconds(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0 || value > 2_000_000)
    throw new InvalidArgumentError('It must be a number of seconds above 0.')
  return value
}
