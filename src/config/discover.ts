/** Which configuration files there are where nobody named one. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { TaplineError } from '../errors.ts'
import type { Variables } from './expand.ts'

/** Names that are looked for in every folder, the weaker one first. */
export const FOUND_NAMES: readonly string[] = ['.mcp.json', 'tapline.toml', 'tapline.json']
/** Of these one folder has one at most. */
const OURS = ['tapline.json', 'tapline.toml']

/** Where the user's own file is: `$XDG_CONFIG_HOME/tapline/tapline.json`, by default below `~/.config`; `tapline.toml` in its place does as well. */
export function userConfigPath(env: Variables): string {
  const xdg = env['XDG_CONFIG_HOME']
  const folder = xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(env['HOME'] || homedir(), '.config')
  return path.join(folder, 'tapline', 'tapline.json')
}

/** The files that exist, weakest first: the user's, then those found from the root down to the working directory. Nothing is read. Throws CONFIG_INVALID where a folder has both a tapline.json and a tapline.toml. */
export async function discoverConfig(cwd: string, env: Variables): Promise<{ path: string; kind: 'found' | 'user' }[]> {
  const own = await presentIn(path.dirname(userConfigPath(env)), OURS)
  const ownIds = new Set(own.map(({ id }) => id))
  const files: { path: string; kind: 'found' | 'user' }[] = own.map(({ file }) => ({ path: file, kind: 'user' }))
  for (const folder of foldersDownTo(path.resolve(cwd))) {
    for (const { file, id } of await presentIn(folder, FOUND_NAMES)) {
      // in its own folder the user's file would be found again
      if (!ownIds.has(id)) files.push({ path: file, kind: 'found' })
    }
  }
  return files
}

async function presentIn(folder: string, names: readonly string[]): Promise<{ file: string; id: string }[]> {
  const present: { file: string; id: string }[] = []
  for (const name of names) {
    const file = path.join(folder, name)
    const id = await identity(file)
    if (id !== null) present.push({ file, id })
  }
  const [one, other] = present.filter(({ file }) => OURS.includes(path.basename(file)))
  if (one === undefined || other === undefined) return present
  throw new TaplineError('CONFIG_INVALID', `${folder} has both a tapline.json and a tapline.toml`, {
    where: one.file,
    remedy: 'Keep one of the two.',
  })
}

function foldersDownTo(folder: string): readonly string[] {
  const parent = path.dirname(folder)
  return parent === folder ? [folder] : [...foldersDownTo(parent), folder]
}

/** Device and inode of a file, or null where there is none that could be read. */
async function identity(file: string): Promise<string | null> {
  try {
    const found = await stat(file, { bigint: true })
    return found.isDirectory() ? null : `${found.dev}:${found.ino}`
  } catch {
    return null
  }
}
