/** `tapline hooks untrust [FILE]`: takes trust in command hooks back. */
import { resolve } from 'node:path'
import { untrustHooks } from '../../plugins/command-hooks/hook-trust.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { openStore, readConfiguration } from '../open.ts'
import { packageHookFiles } from '../package-hooks.ts'
import { visibleLine } from '../render/escape.ts'

/** Prints what is no longer trusted; `trusted` in JSON is what still is, of these. Exit status 0, also where nothing was trusted or the file is gone. */
export async function run(context: CliContext, file: string | undefined): Promise<number> {
  const store = await openStore(context)
  const files = file === undefined ? await ofConfiguration(context) : [resolve(context.cwd, file)]
  const untrusted: string[] = []
  for (const one of files) {
    const path = await untrustHooks(store, one)
    if (path !== null) untrusted.push(path)
  }
  await context.out.result({
    json: () => ({ trusted: [], untrusted }),
    text: () => untrusted.map((path) => `no longer trusted ${visibleLine(path)}`).join('\n') || 'nothing was trusted',
  })
  return EXIT_DONE
}

async function ofConfiguration(context: CliContext): Promise<readonly string[]> {
  const { loaded } = await readConfiguration(context)
  const own = loaded.hooks.filter(({ kind }) => kind === 'commandHooks').map(({ module }) => module)
  return [...own, ...(await packageHookFiles(loaded, context.interrupt.signal))]
}
