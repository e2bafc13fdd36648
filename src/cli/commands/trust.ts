/** `tapline trust [DIR]`: the configuration files found from this folder may be used as they are now. */
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { trust } from '../open.ts'
import { visibleLine } from '../render/escape.ts'

/** Prints the files. Exit status 0; throws CONFIG_NOT_FOUND where there is nothing to trust. */
export async function run(context: CliContext, folder: string | undefined): Promise<number> {
  const trusted = await trust(context, folder)
  await context.out.result({ json: () => ({ trusted }), text: () => trusted.map((file) => `trusted ${visibleLine(file)}`).join('\n') })
  return EXIT_DONE
}
