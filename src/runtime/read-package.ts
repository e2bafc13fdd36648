/** Reads one plugin package through the executor of its environment: what it is, and the servers that it brings. */
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { readManifest, parsePackageFile } from '../config/package-manifest.ts'
import type { PackageManifest, ServersSource } from '../config/package-manifest.ts'
import type { PackageServersContext } from '../config/package-servers.ts'
import { readPackageServers } from '../config/package-servers.ts'
import { TaplineError, isTaplineError, messageOf } from '../errors.ts'
import type { PackageHooks } from '../plugins/command-hooks/package-hooks.ts'
import type { PackageFolder } from '../plugins/packages/package-folder.ts'
import { readPackageHooks } from './read-package-hooks.ts'
import type { ServerRegistration } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { displayKey } from '../servers/key.ts'

/** Manifests, the first that is there counts. */
const MANIFESTS = ['.codex-plugin', '.claude-plugin'] as const

/** A package that was read. */
export interface ReadPackage {
  readonly id: string
  readonly version: string | null
  readonly description: string | null
  readonly root: string
  /** label of its manifest, or null where it has only `.mcp.json` */
  readonly manifest: string | null
  readonly registrations: readonly ServerRegistration[]
  readonly hooks: readonly PackageHooks[]
}

export interface ReadPackageContext extends Omit<PackageServersContext, 'package' | 'words'> {
  readonly here: boolean
  readonly installationId: string | null
  readonly source: 'selected' | 'discovered'
  /** folder on its machine that the data folders of packages are in */
  readonly dataFolder: string
}

/** Null where the folder is no package. What is wrong with a part of it is a diagnostic and costs that part; rejects where its executor fails. */
export async function readPackage(folder: PackageFolder, context: ReadPackageContext): Promise<ReadPackage | null> {
  const { here, installationId, source, environment, dataFolder, diagnose } = context
  const report = (where: string, message: string): void => diagnose({ code: 'CONFIG_INVALID', severity: 'error', message, where })
  const found = await findManifest(folder, report)
  if (found === null && !folder.names.has('.mcp.json')) return null
  const { manifest, label } = found ?? { manifest: null, label: null }
  const paths = here ? path : path.posix
  const id = manifest?.name ?? (paths.basename(folder.root) || 'plugin')
  const data = paths.join(dataFolder, dataName(environment.id, id, installationId))
  const words = new Map([
    ['PLUGIN_ROOT', folder.root],
    ['CLAUDE_PLUGIN_ROOT', folder.root],
    ['PLUGIN_DATA', data],
    ['CLAUDE_PLUGIN_DATA', data],
  ])
  const meaning = (word: string): { readonly kind: 'value'; readonly value: string } | null => {
    const value = words.get(word)
    return value === undefined ? null : { kind: 'value', value }
  }
  const own = { root: folder.root, own: [folder.root, data], pluginId: id, installationId, source }
  const registrations: ServerRegistration[] = []
  // a manifest that cannot be read brings nothing: what it would have said is not known
  const sources = found !== null && manifest === null ? [] : (manifest?.servers ?? defaultSource(folder))
  for (const one of sources) {
    const root = one.kind === 'inline' ? one.value : await readServersFile(folder, one, report)
    if (root === null) continue
    for (const registration of readPackageServers(root, { ...context, package: own, words: { meaning } }))
      registrations.push(await withinLinks(registration, folder, diagnose))
  }
  const hooks = await readPackageHooks(folder, manifest, {
    pluginId: id,
    environmentId: environment.id,
    installationId,
    root: folder.root,
    data,
    cwd: environment.cwd,
    here,
    manifestFile: label,
    where: label ?? folder.label(folder.root),
    diagnose,
  })
  tellIdleOverlays(id, registrations, context)
  if (here && registrations.some(({ template }) => /\$\{(CLAUDE_)?PLUGIN_DATA\}/.test(JSON.stringify(template))))
    await mkdir(data, { recursive: true, mode: 0o700 }).catch((error: unknown) =>
      report(data, `the folder for data of ${id} cannot be made: ${messageOf(error)}`),
    )
  return {
    id,
    version: manifest?.version ?? null,
    description: manifest?.description ?? null,
    root: folder.root,
    manifest: label,
    registrations,
    hooks,
  }
}

type Report = (where: string, message: string) => void

async function findManifest(
  folder: PackageFolder,
  report: Report,
): Promise<{ readonly manifest: PackageManifest | null; readonly label: string } | null> {
  for (const name of MANIFESTS) {
    // the folder alone makes no package of the other kind less of one
    if (!folder.names.has(name) || !(await folder.list(name)).has('plugin.json')) continue
    const file = `${name}/plugin.json`
    const label = folder.label(folder.file(file))
    try {
      return { manifest: readManifest(await folder.read(file), label, report), label }
    } catch (error) {
      if (!isOfTheFile(error)) throw error
      report(label, error.message)
      return { manifest: null, label }
    }
  }
  return null
}

/** True for what is wrong with one file; other errors are those of the machine. */
function isOfTheFile(error: unknown): error is TaplineError {
  return isTaplineError(error) && (error.code === 'ENVIRONMENT_FILE_FAILED' || error.code === 'CONFIG_INVALID')
}

const defaultSource = (folder: PackageFolder): readonly ServersSource[] =>
  folder.names.has('.mcp.json') ? [{ kind: 'file', path: '.mcp.json', where: folder.label(folder.file('.mcp.json')) }] : []

async function readServersFile(
  folder: PackageFolder,
  { path: file, where }: Extract<ServersSource, { readonly kind: 'file' }>,
  report: Report,
): Promise<ReturnType<typeof parsePackageFile>> {
  try {
    return parsePackageFile(await folder.read(file), folder.label(folder.file(file)), report)
  } catch (error) {
    if (!isOfTheFile(error)) throw error
    report(where, error.message)
    return null
  }
}

/** The registration, with a problem where a link leads its cwd or its command out of the package. */
async function withinLinks(
  registration: ServerRegistration,
  folder: PackageFolder,
  diagnose: (diagnostic: Diagnostic) => void,
): Promise<ServerRegistration> {
  const { launch, key, provenance, problem } = registration
  if (launch.type !== 'stdio' || problem !== null) return registration
  for (const [name, target] of [
    ['cwd', launch.cwd],
    ['command', launch.command],
  ] as const) {
    if (target === null || target === folder.root || !folder.holds(target) || !/[\\/]/.test(target)) continue
    const outside = await folder.outside(target)
    if (outside === null) continue
    const message = `server ${displayKey(key)} cannot be used (${provenance.where}): ${name} ${target} leads out of the package: ${outside}`
    diagnose({ code: 'CONFIG_INVALID', severity: 'error', message, owner: key, where: provenance.where })
    return {
      ...registration,
      problem: new TaplineError('CONFIG_INVALID', message, { where: provenance.where, data: { server: key.name } }),
    }
  }
  return registration
}

function tellIdleOverlays(id: string, registrations: readonly ServerRegistration[], { overlays, diagnose }: ReadPackageContext): void {
  const names = new Set(registrations.map(({ key }) => key.name))
  for (const overlay of overlays)
    for (const [name, { where }] of overlay) {
      if (names.has(name)) continue
      const there = names.size === 0 ? 'no server' : [...names].join(', ')
      diagnose({
        code: 'overlay_fits_nothing',
        severity: 'warning',
        message: `the plugin package ${id} has no server ${JSON.stringify(name)} whose policy could be set; it has ${there}`,
        where,
      })
    }
}

/** One name for one installation, whatever the package calls itself. */
function dataName(environmentId: string, id: string, installationId: string | null): string {
  const readable = id.replace(/[^A-Za-z0-9-]/g, '_').slice(0, 40)
  return `${readable}-${createHash('sha256')
    .update(JSON.stringify([environmentId, id, installationId]))
    .digest('hex')
    .slice(0, 12)}`
}
