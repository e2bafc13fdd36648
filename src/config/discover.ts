/** Which configuration files there are where nobody named one. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import type { Variables } from './expand.ts'

/** Names that are looked for in every folder, the weaker one first. */
export const FOUND_NAMES: readonly string[] = ['.mcp.json', 'tapline.json']

/** Where the user's own file is: `$XDG_CONFIG_HOME/tapline/tapline.json`, by default below `~/.config`. */
export function userConfigPath(env: Variables): string {
  const xdg = env['XDG_CONFIG_HOME']
  const folder = xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(env['HOME'] || homedir(), '.config')
  return path.join(folder, 'tapline', 'tapline.json')
}

/** The files that exist, weakest first: the user's, then those found from the root down to the working directory. Nothing is read. */
export async function discoverConfig(cwd: string, env: Variables): Promise<{ path: string; kind: 'found' | 'user' }[]> {
  const files: { path: string; kind: 'found' | 'user' }[] = []
  const own = userConfigPath(env)
  const ownId = await identity(own)
  if (ownId !== null) files.push({ path: own, kind: 'user' })
  for (const folder of foldersDownTo(path.resolve(cwd))) {
    for (const name of FOUND_NAMES) {
      const file = path.join(folder, name)
      const id = await identity(file)
      // in its own folder the user's file would be found again
      if (id !== null && id !== ownId) files.push({ path: file, kind: 'found' })
    }
  }
  return files
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
