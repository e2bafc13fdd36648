/** Folders that may be plugin packages: those that patterns name, on whatever machine. */
import { isTaplineError, TaplineError } from '../../errors.ts'
import type { PackagePlace } from './package-folder.ts'

/** Folders that the patterns of one environment may come to. */
export const MOST_FOLDERS = 500

export interface FoundFolders {
  /** absolute, in the order of the patterns, those of one pattern by name */
  readonly folders: readonly { readonly path: string /** named outright, without `*` */; readonly exact: boolean }[]
  /** true where there were more than MOST_FOLDERS */
  readonly cut: boolean
}

/** Absolute patterns; `*` stands for any part of one name, and for no name that begins with a dot. A folder that is not there is no mistake of a pattern with `*`. */
export async function findFolders(place: PackagePlace, patterns: readonly string[]): Promise<FoundFolders> {
  const found = new Map<string, boolean>()
  let cut = false
  for (const pattern of patterns) {
    if (!pattern.includes('*')) {
      found.set(pattern, true)
      continue
    }
    for (const path of await matching(place, pattern)) {
      if (found.size >= MOST_FOLDERS) cut = true
      else if (!found.has(path)) found.set(path, false)
    }
  }
  return { folders: [...found].map(([path, exact]) => ({ path, exact })), cut }
}

async function matching(place: PackagePlace, pattern: string): Promise<readonly string[]> {
  const windows = place.here && process.platform === 'win32'
  const [first = '', ...parts] = (windows ? pattern.replaceAll('\\', '/') : pattern).split('/')
  let folders = [first]
  for (const part of parts) {
    if (part === '') continue
    if (!part.includes('*')) folders = folders.map((folder) => `${folder}/${part}`)
    else folders = (await Promise.all(folders.map((folder) => below(place, folder, part)))).flat().slice(0, MOST_FOLDERS + 1)
  }
  return folders
}

/** Folders in a folder whose names fit, sorted. */
async function below({ executor, signal, environmentId }: PackagePlace, folder: string, part: string): Promise<readonly string[]> {
  if (executor.listDirectory === undefined)
    throw new TaplineError('ENVIRONMENT_UNSUPPORTED', `the executor of environment ${environmentId} lists no folders`)
  const name = new RegExp(`^${part.split(/\*+/).map(escaped).join('.*')}$`, 'su')
  try {
    const entries = await executor.listDirectory(folder || '/', { signal })
    return entries
      .filter((entry) => entry.kind === 'directory' && name.test(entry.name) && (!entry.name.startsWith('.') || part.startsWith('.')))
      .map((entry) => `${folder}/${entry.name}`)
      .sort()
  } catch (error) {
    if (isTaplineError(error) && error.code === 'ENVIRONMENT_FILE_FAILED') return []
    throw error
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
