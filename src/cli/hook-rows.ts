/** The hooks of the configuration as rows: hook plugins as they are, files of command hooks hook by hook. Nothing is imported or run. */
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { LoadedConfig } from '../config/config.ts'
import { isTaplineError } from '../errors.ts'
import type { HookSubject } from '../plugins/command-hooks/hook-trust.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Store } from '../storage/store.ts'
import { packageHookFiles } from './package-hooks.ts'

/** One hook plugin, or one command hook. */
export interface HookRow {
  readonly kind: 'module' | 'package' | 'builtin' | 'command'
  /** module, package, built-in plugin, or the file that has the command hook */
  readonly source: string
  readonly where: string
  /** as its entry says it */
  readonly mode: unknown
  /** null: needs none of its own. Of command hooks: whether they may run */
  readonly trusted: boolean | null
  /** why not */
  readonly reason: string | null
  readonly hook: {
    readonly id: string
    readonly event: string
    readonly matcher: string
    readonly command: string
    readonly timeoutMs: number
    readonly async: boolean
    readonly onFailure: string
  } | null
}

export interface HookRows {
  readonly rows: readonly HookRow[]
  /** files of command hooks with what trust in them is about, those of the user's own file left out */
  readonly subjects: readonly HookSubject[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the files of command hooks. One that cannot be read is a diagnostic. */
export async function hookRows(loaded: LoadedConfig, store: Store, signal: AbortSignal): Promise<HookRows> {
  const rows: HookRow[] = []
  const subjects: HookSubject[] = []
  const diagnostics: Diagnostic[] = []
  const take = async (
    source: string,
    {
      mode,
      where,
      onFailure = 'block',
      isTrusted = false,
    }: { mode: unknown; where: string; onFailure?: 'block' | 'continue'; isTrusted?: boolean },
  ): Promise<void> => {
    const { distrustOf } = await import('../plugins/command-hooks/hook-trust.ts')
    try {
      const { subject, diagnostics: told } = await readSubject(source, onFailure)
      diagnostics.push(...told)
      if (!isTrusted) subjects.push(subject)
      const reason = isTrusted ? null : await distrustOf(store, subject)
      rows.push(...commandRows(subject, { source, mode, reason }))
    } catch (error) {
      if (!isTaplineError(error)) throw error
      diagnostics.push({ code: error.code, severity: 'error', message: error.message, where: error.where ?? where })
    }
  }
  for (const entry of loaded.hooks) {
    const { module: source, kind, mode, where, commands } = entry
    if (kind !== 'commandHooks' || commands === undefined) {
      rows.push({
        kind: kind === 'path' || kind === 'commandHooks' ? 'module' : kind,
        source,
        where,
        mode,
        trusted: null,
        reason: null,
        hook: null,
      })
      continue
    }
    await take(source, { mode, where, onFailure: commands.onFailure, isTrusted: commands.byUser })
  }
  for (const file of await packageHookFiles(loaded, signal)) await take(file, { mode: 'enforce', where: file })
  return { rows, subjects, diagnostics }
}

/** The rows of one file. */
function commandRows(
  { hooks }: HookSubject,
  { source, mode, reason }: { readonly source: string; readonly mode: unknown; readonly reason: string | null },
): readonly HookRow[] {
  return hooks.map(({ id, event, matcher, command, timeoutMs, isAsync, onFailure, where }) => ({
    kind: 'command' as const,
    source,
    where,
    mode,
    trusted: reason === null,
    reason,
    hook: { id, event, matcher, command, timeoutMs, async: isAsync, onFailure },
  }))
}

/** A hooks file and what trust in it is about. Rejects with CONFIG_NOT_FOUND, CONFIG_INVALID. */
export async function readSubject(
  file: string,
  onFailure: 'block' | 'continue' = 'block',
): Promise<{ readonly subject: HookSubject; readonly diagnostics: readonly Diagnostic[] }> {
  const [{ readHookFile }, { placesInPackage, placesOf }] = await Promise.all([
    import('../plugins/command-hooks/hook-file.ts'),
    import('../plugins/command-hooks/hook-env.ts'),
  ])
  const { hooks, diagnostics } = await readHookFile(file, { onFailure })
  const folder = path.dirname(file)
  const root = await packageRoot(folder)
  const subject = { path: file, hooks, places: placesOf(folder), ...(root !== null && { alsoIn: placesInPackage(folder, root) }) }
  return { subject, diagnostics }
}

/** The plugin package that a folder is in, if any: what marks one is looked for a few folders up. */
async function packageRoot(folder: string): Promise<string | null> {
  let at = await realpath(folder).catch(() => folder)
  for (let level = 0; level < 5; level++, at = path.dirname(at))
    for (const mark of ['.codex-plugin/plugin.json', '.claude-plugin/plugin.json', '.mcp.json'])
      if (
        await stat(path.join(at, mark)).then(
          () => true,
          () => false,
        )
      )
        return at
  return null
}
