/** Reads the hooks files of a plugin package on this machine. */
import type { PackageManifest } from '../config/package-manifest.ts'
import { parsePackageFile } from '../config/package-manifest.ts'
import { invalidDocument } from '../documents/invalid-document.ts'
import type { Mistake } from '../documents/value.ts'
import { TaplineError } from '../errors.ts'
import type { HookFile } from '../plugins/command-hooks/definition.ts'
import type { PackageHooks } from '../plugins/command-hooks/package-hooks.ts'
import type { PackageFolder } from '../plugins/packages/package-folder.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'

/** Where packages have their hooks unless they say otherwise. */
const DEFAULT_FILE = 'hooks/hooks.json'

export interface PackageHooksContext extends Pick<PackageHooks, 'pluginId' | 'environmentId' | 'installationId' | 'root' | 'data' | 'cwd'> {
  /** false: the package is on another machine, where no hook is run */
  readonly here: boolean
  /** label of the manifest */
  readonly manifestFile: string | null
  readonly where: string
  readonly diagnose: (diagnostic: Diagnostic) => void
}

/** Those of the manifest, and those of `hooks/hooks.json`. One that cannot be read is told, and is there all the same: it refuses calls. */
export async function readPackageHooks(
  folder: PackageFolder,
  manifest: PackageManifest | null,
  { here, manifestFile, where, diagnose, ...common }: PackageHooksContext,
): Promise<readonly PackageHooks[]> {
  const sources = manifest?.hooks ?? []
  const unknown = manifest?.hooksProblem ?? null
  const isDefault = await folder.mayHold('hooks', 'hooks.json')
  if (sources.length === 0 && !isDefault && unknown === null) return []
  if (!here) {
    diagnose({
      code: 'hooks_not_run',
      severity: 'warning',
      message: `the hooks of the plugin package ${common.pluginId} are not run: it is on the machine of environment ${common.environmentId}, and hooks run on this one alone`,
      where,
    })
    return []
  }
  const files = new Set(sources.flatMap((source) => (source.kind === 'file' ? [folder.file(source.path)] : [])))
  if (isDefault) files.add(folder.file(DEFAULT_FILE))
  if ((unknown !== null || sources.some(({ kind }) => kind === 'inline')) && manifestFile !== null) files.add(manifestFile)
  const all: PackageHooks[] = []
  for (const file of files) {
    const { hooksProblem } = await import('../plugins/command-hooks/package-hooks.ts')
    try {
      if (unknown !== null && file === manifestFile) throw new TaplineError('CONFIG_INVALID', unknown, { where: file })
      const read = await readOne(folder, file)
      for (const diagnostic of read.diagnostics) diagnose(diagnostic)
      all.push({ ...common, file, read, problem: null })
    } catch (error) {
      const problem = hooksProblem(error)
      diagnose({
        code: 'hooks_unreadable',
        severity: 'error',
        message: `the hooks of the plugin package ${common.pluginId} cannot be read, so calls to servers of its environment and installation are refused: ${problem}`,
        where: file,
      })
      all.push({ ...common, file, read: null, problem })
    }
  }
  return all
}

async function readOne(folder: PackageFolder, file: string): Promise<HookFile> {
  const mistakes: Mistake[] = []
  const root = parsePackageFile(await folder.read(file), file, (where, message) => mistakes.push({ where, message }))
  if (root === null) throw invalidDocument(mistakes, `the hooks file ${file}`)
  const { readHookTree } = await import('../plugins/command-hooks/hook-file.ts')
  return readHookTree(root, file, {})
}
