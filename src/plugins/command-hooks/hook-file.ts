/** Reads a hooks file, or hooks that are given in code, and compiles their matchers. */
import { invalidDocument } from '../../documents/invalid-document.ts'
import { parseFile } from '../../documents/parse-file.ts'
import { readConfigFile } from '../../documents/read-file.ts'
import type { Mistake, Value } from '../../documents/value.ts'
import { fromCode, quoted } from '../../documents/value.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { CommandHook, HookFile, ReadyHook } from './definition.ts'
import { compileMatcher, idleName } from './matcher.ts'
import { readHooks } from './read-hooks.ts'

/** What is said of hooks beside their file. */
export interface HookDefaults {
  /** of hooks that do not say it; default `block` */
  readonly onFailure?: CommandHook['onFailure']
}

/** Rejects with CONFIG_NOT_FOUND, or with one CONFIG_INVALID that has every mistake with its `file:line:column`. JSON, or TOML by the name. */
export async function readHookFile(path: string, defaults: HookDefaults = {}): Promise<HookFile> {
  const mistakes: Mistake[] = []
  const root = await parseFile(await readConfigFile(path), path, (where, message) => mistakes.push({ where, message }))
  if (root === null) throw invalidDocument(mistakes, `the hooks file ${path}`)
  return readHookTree(root, path, defaults)
}

/** The same for what is in memory already. */
export function readHookObject(hooks: unknown, defaults: HookDefaults = {}): Promise<HookFile> {
  return readHookTree(fromCode(hooks), null, defaults, true)
}

/** The same for a tree that was read; `isBareAllowed`: events may be at its top. */
export async function readHookTree(root: Value, path: string | null, defaults: HookDefaults, isBareAllowed = false): Promise<HookFile> {
  const mistakes: Mistake[] = []
  const diagnostics: Diagnostic[] = []
  const report = (where: string, message: string): number => mistakes.push({ where, message })
  const read = readHooks(root, {
    report,
    diagnose: (diagnostic) => diagnostics.push(diagnostic),
    onFailure: defaults.onFailure ?? 'block',
    isBareAllowed,
  })
  const hooks: ReadyHook[] = []
  for (const hook of read) {
    try {
      hooks.push(Object.freeze({ ...hook, fits: await compileMatcher(hook.matcher) }))
      const idle = idleName(hook.matcher)
      if (idle !== undefined) diagnostics.push(idleMatcher(hook, idle))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      report(hook.where, `the matcher ${quoted(hook.matcher)} of ${hook.id} is no regular expression that can be used: ${error.message}`)
    }
  }
  if (mistakes.length > 0) throw invalidDocument(mistakes, path === null ? 'the hooks' : `the hooks file ${path}`)
  return { path, hooks, diagnostics }
}

const idleMatcher = ({ id, where }: CommandHook, name: string): Diagnostic => ({
  code: 'hook_matcher_idle',
  severity: 'warning',
  message: `the matcher of ${id} names ${quoted(name)}, which is no tool: ${quoted(`${name.replace(/__$/, '')}__.*`)} means every tool of that server`,
  where,
})
