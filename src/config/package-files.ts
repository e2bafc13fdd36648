/** The files of a plugin package on this machine that say what is started: what trust in a project file is bound to. */
import path from 'node:path'
import { isTaplineError } from '../errors.ts'
import { readManifest } from './package-manifest.ts'
import { readConfigFile } from '../documents/read-file.ts'

const MANIFESTS = [path.join('.codex-plugin', 'plugin.json'), path.join('.claude-plugin', 'plugin.json')]

/** Absolute, whether they are there or not. */
export async function packageFiles(folder: string): Promise<readonly string[]> {
  const manifests = MANIFESTS.map((name) => path.join(folder, name))
  const named = await Promise.all(manifests.map((file) => serverFiles(file, folder)))
  return [...manifests, path.join(folder, '.mcp.json'), ...named.flat()]
}

async function serverFiles(manifest: string, folder: string): Promise<readonly string[]> {
  try {
    const read = readManifest(await readConfigFile(manifest), manifest, () => {})
    return (read?.servers ?? []).flatMap((one) => (one.kind === 'file' ? [path.resolve(folder, one.path)] : []))
  } catch (error) {
    if (isTaplineError(error)) return []
    throw error
  }
}
