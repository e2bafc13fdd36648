/** The plugin packages that an exec-server knows of: those that are installed for its user. */
import type { JsonObject } from '../../../json.ts'
import { isJsonObject } from '../../../json.ts'
import { RpcError } from './exec-connection.ts'
import { fileUri, listExecDirectory, pathOfUri } from './exec-files.ts'

type Call = (method: string, params: JsonObject) => Promise<JsonObject>

/** What JSON-RPC says of a method that is not there. */
const NO_METHOD = -32601
/** Most candidates that an executor without the newer method is asked about. */
const MOST_CANDIDATES = 200

/** Their roots. Rejects with RpcError or ENVIRONMENT_UNAVAILABLE. `home` is the URI of its user's home, where it says so. */
export async function discoverExecPackages(call: Call, folder: string, home: unknown): Promise<readonly string[]> {
  try {
    return rootsOf((await call('capabilities/discoverV2', { cwd: fileUri(folder) }))['plugins'], 'root')
  } catch (error) {
    if (!(error instanceof RpcError && error.code === NO_METHOD)) throw error
  }
  const candidates = await cached(call, pathOfUri(home))
  if (candidates.length === 0) return []
  const roots = candidates.map((path, index) => ({ id: String(index), path: fileUri(path) }))
  const found = (await call('capabilityRoots/discoverV1', { roots }))['roots']
  return rootsOf(Array.isArray(found) ? found.filter((root) => isJsonObject(root) && isJsonObject(root['plugin'])) : [], 'path')
}

/** Folders of the cache of plugins: marketplace, plugin, version. */
async function cached(call: Call, home: string | null): Promise<readonly string[]> {
  if (home === null) return []
  let folders = [`${home}/.codex/plugins/cache`]
  for (let level = 0; level < 3; level++) {
    const below = await Promise.all(
      folders.map(async (folder) => {
        const entries = await listExecDirectory(call, folder).catch(() => [])
        return entries.filter(({ kind }) => kind === 'directory').map(({ name }) => `${folder}/${name}`)
      }),
    )
    folders = below.flat().slice(0, MOST_CANDIDATES)
  }
  return folders
}

function rootsOf(list: unknown, key: string): readonly string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one: unknown) => (isJsonObject(one) ? (pathOfUri(one[key]) ?? []) : []))
}
