/** Reads every plugin package of one environment: those that are selected, and those that are found there. */
import path from 'node:path'
import type { PackageChoice } from '../config/config.ts'
import { isHere } from '../config/package-servers.ts'
import type { Executor } from '../connections/executor.ts'
import { isTaplineError } from '../errors.ts'
import { findFolders, MOST_FOLDERS } from '../plugins/packages/find-packages.ts'
import type { PackageHooks } from '../plugins/command-hooks/package-hooks.ts'
import { PackageFolder } from '../plugins/packages/package-folder.ts'
import type { Secrets } from '../secrets.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Environment } from '../servers/environment.ts'
import { defaultStoreFolder } from '../storage/default-folder.ts'
import type { PluginPackage } from './package-types.ts'
import type { ReadPackage } from './read-package.ts'
import { readPackage } from './read-package.ts'

export interface PackagesContext {
  readonly executor: Executor
  readonly choices: readonly PackageChoice[]
  /** null: the default one */
  readonly storeFolder: string | null
  readonly secrets: Secrets
  readonly signal: AbortSignal
  readonly diagnose: (diagnostic: Diagnostic) => void
}

interface Wanted {
  readonly folder: string
  readonly choice: PackageChoice | null
  /** a folder that is no package is worth telling */
  readonly exact: boolean
  readonly where: string
}

/** What the packages of one environment come to. */
export interface PackagesRead {
  readonly packages: readonly PluginPackage[]
  readonly registrations: readonly ServerRegistration[]
  readonly hooks: readonly PackageHooks[]
}

/** Rejects where the executor fails as a whole; what is wrong with one package costs that one. */
export async function packagesOf(environment: Environment, context: PackagesContext): Promise<PackagesRead> {
  const { executor, choices, signal, secrets, diagnose } = context
  const { spec, id: environmentId } = environment
  const here = isHere(spec)
  const place = { executor, here, environmentId, signal }
  const wanted = [
    ...choices.map((choice): Wanted => ({ folder: choice.path, choice, exact: true, where: choice.where })),
    ...(await discovered(environment, context)),
  ]
  if (executor.realPath === undefined && wanted.length > 0)
    diagnose({
      code: 'links_unchecked',
      severity: 'info',
      message: `the executor of environment ${environmentId} cannot resolve links: one that leads out of a plugin package is not noticed`,
    })

  const packages: PluginPackage[] = []
  const registrations: ServerRegistration[] = []
  const hooks: PackageHooks[] = []
  const selected = new Map<string, PackageChoice>()
  for (const { folder: written, choice, exact, where } of wanted) {
    signal.throwIfAborted()
    let folder: PackageFolder
    let read: ReadPackage | null
    // the same folder, selected and found, is one installation
    let counted = choice
    try {
      folder = await PackageFolder.open(place, written)
      counted ??= selected.get(folder.root) ?? null
      if (choice !== null && !selected.has(folder.root)) selected.set(folder.root, choice)
      read = await readPackage(folder, {
        environment: spec,
        here,
        source: choice === null ? 'discovered' : 'selected',
        installationId: counted?.installationId ?? null,
        rank: choice?.rank ?? 0,
        overlays: choice === null ? [] : [choice.overlays],
        // a folder of this machine that the user points at is the user's own, as a server in that file would be; others are not
        trusted: here && choice?.byUser === true,
        // what somebody selected may name variables; what lies about on another machine may not
        variables: here || choice !== null ? process.env : null,
        dataFolder: here
          ? path.join(context.storeFolder ?? defaultStoreFolder(), 'plugin-data')
          : path.posix.join(spec.cwd, '.tapline', 'plugin-data'),
        secrets,
        diagnose,
      })
    } catch (error) {
      if (!isTaplineError(error) || (error.code !== 'ENVIRONMENT_FILE_FAILED' && error.code !== 'CONFIG_INVALID')) throw error
      if (exact) diagnose(noPackage(here ? written : `${environmentId}:${written}`, error.message, where))
      continue
    }
    if (read === null) {
      if (exact)
        diagnose(noPackage(folder.label(written), 'it has no .codex-plugin/plugin.json, .claude-plugin/plugin.json or .mcp.json', where))
      continue
    }
    registrations.push(...read.registrations)
    // reached twice, they run once
    for (const one of read.hooks)
      if (!hooks.some(({ file, installationId }) => file === one.file && installationId === one.installationId)) hooks.push(one)
    add(packages, environmentId, counted?.installationId ?? null, choice === null ? 'discovered' : 'selected', where, read)
  }
  return { packages, registrations, hooks }
}

/** By the roots of the environment, then by the executor itself. */
async function discovered({ id, spec }: Environment, { executor, signal, diagnose }: PackagesContext): Promise<readonly Wanted[]> {
  const here = isHere(spec)
  const patterns = (spec.pluginRoots ?? []).map((root) => (here ? root : path.posix.resolve(spec.cwd, root)))
  const { folders, cut } = await findFolders({ executor, here, environmentId: id, signal }, patterns)
  if (cut)
    diagnose({
      code: 'packages_cut_short',
      severity: 'warning',
      message: `pluginRoots of environment ${id} come to more than ${MOST_FOLDERS} folders; the others are left out`,
      where: spec.where,
    })
  const found = folders.map(({ path: folder, exact }): Wanted => ({ folder, choice: null, exact, where: spec.where }))
  if (spec.discover !== true) return found
  if (executor.discoverPackages === undefined) {
    diagnose({
      code: 'ENVIRONMENT_UNSUPPORTED',
      severity: 'warning',
      message: `the executor of environment ${id} knows of no plugin packages, so "discover" finds none; name their folders with "pluginRoots"`,
      where: spec.where,
    })
    return found
  }
  const known = await executor.discoverPackages(spec.cwd, { signal })
  return [...found, ...known.map((folder): Wanted => ({ folder, choice: null, exact: true, where: spec.where }))]
}

function add(
  packages: PluginPackage[],
  environmentId: string,
  installationId: string | null,
  source: PluginPackage['source'],
  where: string,
  { registrations, hooks, ...read }: ReadPackage,
): void {
  const at = packages.findIndex((one) => one.root === read.root && one.installationId === installationId)
  const known = packages[at]
  if (known !== undefined) {
    packages[at] = { ...known, where: [...known.where, where] }
    return
  }
  const servers = registrations.map(({ key, policy, problem }) => ({ owner: key, enabled: policy.enabled, error: problem }))
  packages.push({ ...read, hooks: hooks.map(({ file }) => file), environmentId, installationId, source, where: [where], servers })
}

function noPackage(folder: string, why: string, where: string): Diagnostic {
  return { code: 'no_package', severity: 'error', message: `${folder} is no plugin package that can be used: ${why}`, where }
}
