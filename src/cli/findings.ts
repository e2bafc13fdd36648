/** What a configuration says that will not work here, found without starting or importing anything: for `tapline config check`. */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { LoadedConfig } from '../config/config.ts'
import { BUILT_IN } from '../connections/executors/built-in.ts'
import { asTaplineError } from '../errors.ts'
import { Captured } from '../flags/captured.ts'
import type { CapturedFlags } from '../flags/flag.ts'
import { nearest } from '../nearest.ts'
import type { HookModuleSpec } from '../plugins/loader.ts'
import { selectResolver } from '../pipeline/select-resolver.ts'
import { CatalogBuilder } from '../servers/catalog-builder.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { LOCAL } from '../servers/environment.ts'
import { displayKey, KeyRegistry } from '../servers/key.ts'
import type { CliContext } from './context.ts'
import { evaluateFlags } from './flag-sources.ts'
import { mistakesOf } from './render/failure.ts'

/** Kinds of executors that every runtime knows. */
const BUILT_IN_KINDS: readonly string[] = BUILT_IN.map(({ kind }) => kind)

/** Errors: flags and hook modules that end every command. Warnings: servers that will not start, and those that are shadowed, by a key or (as the flags are now) by a name. */
export async function furtherFindings(context: Pick<CliContext, 'globals' | 'env'>, loaded: LoadedConfig): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = []
  let flags: CapturedFlags | null = null
  try {
    const { flags: evaluated, diagnostics } = await evaluateFlags(context, loaded)
    flags = new Captured(new Map(evaluated.map(({ flag, statements }) => [flag, statements])))
    found.push(...diagnostics)
  } catch (error) {
    const { code, message, where } = asTaplineError(error, 'FLAG_BAD_VALUE')
    found.push({ code, severity: 'error', message, ...(where !== undefined && { where }) })
  }
  for (const { module, kind, mode, where, options, folder } of loaded.hooks) {
    if (mode === 'off') continue
    if (kind === 'builtin') found.push(...(await builtinFindings({ module, kind, options, folder, where })))
    if (kind === 'commandHooks') found.push(...(await hooksFileFindings(module, where)))
    if (kind === 'path' && !(await isThere(module)))
      found.push({ code: 'HOOK_BAD_PLUGIN', severity: 'error', message: `there is no hook module ${module}`, where })
  }
  for (const { id, executor, codexExecutable, where } of loaded.environments) {
    const { kind } = executor
    if (!BUILT_IN_KINDS.includes(kind))
      found.push({
        code: 'executor_of_host',
        severity: 'warning',
        message: `environment ${id} has the executor ${JSON.stringify(kind)}${didYouMean(kind)}, which only a host program can bring: it works in no command`,
        where,
      })
    if (codexExecutable !== null && kind === LOCAL && !(isAbsolute(codexExecutable) && (await isThere(codexExecutable))))
      found.push({
        code: 'launcher_not_offered',
        severity: 'warning',
        message: `environment ${id}: its codexExecutable ${codexExecutable} is no absolute path of a file that is there; servers are offered none`,
        where,
      })
  }
  const builder = new CatalogBuilder()
  for (const registration of loaded.registrations) {
    builder.add(registration)
    const problem = await problemOf(registration)
    if (problem !== null) {
      const { where } = registration.provenance
      // what the reader has told already is not told again
      if (!loaded.diagnostics.some((one) => one.severity === 'error' && (one.where === where || problem.includes(one.message))))
        found.push({ code: 'server_will_not_start', severity: 'warning', message: problem, owner: registration.key, where })
    }
  }
  const catalog = builder.build(new KeyRegistry(), 1)
  const { selectedEnvironments, naming } = loaded
  const shadowed = flags === null ? [] : selectResolver(flags, catalog, selectedEnvironments, naming).view.diagnostics
  return [...found, ...catalog.diagnostics, ...shadowed]
}

/** What is wrong with the options of a plugin that comes with the package; nobody else's code is imported. */
async function builtinFindings(spec: HookModuleSpec): Promise<readonly Diagnostic[]> {
  const { loadHookModule } = await import('../plugins/loader.ts')
  try {
    await loadHookModule(spec)
    return []
  } catch (thrown) {
    const { code, message } = asTaplineError(thrown, 'HOOK_BAD_PLUGIN')
    return [{ code, severity: 'error', message, where: spec.where }]
  }
}

/** What is wrong with a hooks file, and what of it is not run. */
async function hooksFileFindings(file: string, where: string): Promise<readonly Diagnostic[]> {
  const { readHookFile } = await import('../plugins/command-hooks/hook-file.ts')
  try {
    return (await readHookFile(file)).diagnostics
  } catch (thrown) {
    const error = asTaplineError(thrown, 'CONFIG_INVALID')
    const mistakes = mistakesOf(error)
    if (mistakes.length === 0) return [{ code: error.code, severity: 'error', message: error.message, where: error.where ?? where }]
    return mistakes.map(({ where: place, message }) => ({ code: error.code, severity: 'error', message, where: place }))
  }
}

async function problemOf({ key, launch, policy, problem }: ServerRegistration): Promise<string | null> {
  const name = displayKey(key)
  if (!policy.enabled) return null
  if (problem !== null) return problem.message
  return launch.type === 'http' || launch.cwd === null || (await isThere(launch.cwd))
    ? null
    : `${name}: its cwd ${launch.cwd} does not exist`
}

function didYouMean(kind: string): string {
  const near = nearest(kind, BUILT_IN_KINDS)
  return near === null ? '' : ` (did you mean ${JSON.stringify(near)}?)`
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
