/** Hooks files that are named twice: their hooks run once. */
import { realFile } from '../documents/real-file.ts'
import { quoted } from '../documents/value.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { HookModule } from './config.ts'

/** The entries without those that say what an earlier one says of the same hooks file. Two rewrites of one call by one hook are never meant. */
export async function withoutTwins(
  hooks: readonly HookModule[],
  diagnose: (diagnostic: Diagnostic) => void,
): Promise<readonly HookModule[]> {
  const kept = new Map<string, HookModule>()
  for (const [index, hook] of hooks.entries()) {
    const identity = hook.kind === 'commandHooks' ? await identityOf(hook) : String(index)
    const first = kept.get(identity)
    if (first === undefined) kept.set(identity, hook)
    else {
      diagnose({
        code: 'hooks_named_twice',
        severity: 'info',
        message: `the hooks file ${quoted(hook.module)} is named already (${first.where}): its hooks run once`,
        where: hook.where,
      })
      // trusted by either is trusted
      if (hook.commands?.byUser && first.commands) kept.set(identity, { ...first, commands: { ...first.commands, byUser: true } })
    }
  }
  return [...kept.values()]
}

async function identityOf({ module, mode, environments, servers, tools, commands }: HookModule): Promise<string> {
  const { onFailure, env } = commands ?? {}
  return JSON.stringify([await realFile(module), mode, environments ?? 0, servers ?? 0, tools ?? 0, onFailure, env])
}
