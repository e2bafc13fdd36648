/** `tapline serve --stdio`: one MCP server in front of all, for the client that started this process. */
import { TaplineError } from '../../errors.ts'
import type { Logger } from '../../runtime/types.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { flagOptions } from '../globals.ts'
import { configurationFiles, traceTo } from '../open.ts'
import { writeStdout } from '../own-stdout.ts'
import { diagnosticText } from '../render/diagnostic.ts'
import { visibleLine } from '../render/escape.ts'

/** Serves until the client closes its end or a signal comes. stdout carries MCP and nothing else. Throws CLI_USAGE, CONFIG_…. */
export async function run(
  context: CliContext,
  { stdio = false, traceFile }: { readonly stdio?: boolean; readonly traceFile?: string },
): Promise<number> {
  const { globals, out, interrupt } = context
  if (!stdio)
    throw new TaplineError('CLI_USAGE', 'serve needs --stdio', { remedy: 'Write `tapline serve --stdio`; an MCP client starts it so.' })
  const note = (line: string): void => out.note(visibleLine(line))
  const silent = (): void => {}
  const tell = (_data: object, line: string): void => note(line)
  // a hook may log as info; diagnostics are told as they come, because nobody waits for the end
  const logger: Logger = {
    debug: silent,
    info: (data, line) => ('session' in data ? note(line) : undefined),
    warn: tell,
    error: tell,
  }
  const files = await configurationFiles(context)
  const [{ openRuntime }, { serveClient }, { ClientStream }] = await Promise.all([
    import('../../runtime/open-runtime.ts'),
    import('../../gateway/gateway.ts'),
    import('../../gateway/client-stream.ts'),
  ])
  const runtime = await openRuntime({ config: files, flags: flagOptions(globals), logger, ...traceTo(traceFile, context) })
  try {
    for (const one of runtime.diagnostics) if (one.severity !== 'info') out.note(diagnosticText(one, out.paintErr))
    await serveClient({
      transport: new ClientStream({ input: context.stdin, output: process.stdout, write: writeStdout }),
      openSession: (options) => runtime.openSession(options),
      note,
      signal: interrupt.signal,
    })
  } finally {
    await runtime.close()
  }
  return EXIT_DONE
}
