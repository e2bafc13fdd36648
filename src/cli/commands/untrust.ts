/** `tapline untrust [DIR]`: takes trust back. */
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { untrust } from '../open.ts'
import { visibleLine } from '../render/escape.ts'

/** Prints what is no longer trusted; `trusted` in JSON is what still is, from that folder. Exit status 0, also where nothing was trusted. */
export async function run(context: CliContext, folder: string | undefined): Promise<number> {
  const untrusted = await untrust(context, folder)
  await context.out.result({
    json: () => ({ trusted: [], untrusted }),
    text: () =>
      untrusted.length === 0 ? 'nothing was trusted' : untrusted.map((file) => `no longer trusted ${visibleLine(file)}`).join('\n'),
  })
  return EXIT_DONE
}
