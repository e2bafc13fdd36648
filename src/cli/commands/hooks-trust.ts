/** `tapline hooks trust [FILE]`: the command hooks of a file, or of the configuration, may run as they are now. */
import { resolve } from 'node:path'
import type { HookSubject } from '../../plugins/command-hooks/hook-trust.ts'
import { trustHooks } from '../../plugins/command-hooks/hook-trust.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { hookRows, readSubject } from '../hook-rows.ts'
import { openStore, readConfiguration } from '../open.ts'
import { visibleLine } from '../render/escape.ts'
import { invalidDocument } from '../../documents/invalid-document.ts'

/** Prints the files and what they may now run. Exit status 0; throws CONFIG_NOT_FOUND, CONFIG_INVALID where a file cannot be read: nothing is trusted then. */
export async function run(context: CliContext, file: string | undefined): Promise<number> {
  const store = await openStore(context)
  const subjects = file === undefined ? await ofConfiguration(context) : [(await readSubject(resolve(context.cwd, file))).subject]
  const trusted: string[] = []
  for (const subject of subjects) trusted.push(await trustHooks(store, subject))
  const hooks = subjects.flatMap((subject, index) =>
    subject.hooks.map(({ id, event, matcher, command }) => ({ file: trusted[index], id, event, matcher, command })),
  )
  await context.out.result({
    json: () => ({ trusted, hooks }),
    text: () =>
      trusted
        .flatMap((path) => [
          `trusted ${visibleLine(path)}`,
          ...hooks
            .filter((hook) => hook.file === path)
            .map(
              ({ event, matcher, command }) =>
                `  may run on ${event} of ${matcher === '' ? 'every call' : visibleLine(matcher)}: ${visibleLine(command)}`,
            ),
        ])
        .join('\n') || 'there are no hooks files to trust',
  })
  return EXIT_DONE
}

async function ofConfiguration(context: CliContext): Promise<readonly HookSubject[]> {
  const { loaded } = await readConfiguration(context)
  const { subjects, diagnostics } = await hookRows(loaded, await openStore(context), context.interrupt.signal)
  const broken = diagnostics.filter(({ code, severity }) => severity === 'error' && code.startsWith('CONFIG_'))
  if (broken.length > 0)
    throw invalidDocument(
      broken.map(({ where = '', message }) => ({ where, message })),
      'the hooks of the configuration',
    )
  return subjects
}
