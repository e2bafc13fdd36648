/** `tapline trust [DIR]`: the configuration files found from this folder may be used as they are now. */
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { allowedBy, trust } from '../open.ts'
import { visibleLine } from '../render/escape.ts'

/** Prints the files and what they may now start and import. Exit status 0; throws CONFIG_NOT_FOUND where there is nothing to trust. */
export async function run(context: CliContext, folder: string | undefined): Promise<number> {
  const trusted = await trust(context, folder)
  const { servers, hooks, commandHooks, plugins } = await allowedBy(context, trusted)
  await context.out.result({
    json: () => ({ trusted, servers, hooks, commandHooks, plugins }),
    text: () =>
      [
        ...trusted.map((file) => `trusted ${visibleLine(file)}`),
        ...servers.map(({ server, starts }) => `  may start ${visibleLine(server)}: ${visibleLine(starts)}`),
        ...plugins.map((folder) => `  may start what the plugin package says: ${visibleLine(folder)}`),
        ...hooks.map((module) => `  may import ${visibleLine(module)}`),
        ...commandHooks.map((file) => `  may run its hooks once \`tapline hooks trust\` has been run: ${visibleLine(file)}`),
      ].join('\n'),
  })
  return EXIT_DONE
}
