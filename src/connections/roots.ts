/** The folders of an environment as MCP roots. */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../json.ts'
import type { Environment } from '../servers/environment.ts'

/** Its working directory and extra roots, as `file://` URIs of its machine, each once. */
export function rootsOf({ cwd, spec }: Environment): readonly JsonObject[] {
  return [...new Set([cwd, ...spec.extraRoots].map(fileUri))].map((uri) => ({ uri, name: nameOf(uri) }))
}

/** The machine may be another one than this: a path tells by itself which kind it is. */
function fileUri(folder: string): string {
  return pathToFileURL(folder, { windows: !path.posix.isAbsolute(folder) && path.win32.isAbsolute(folder) }).href
}

function nameOf(uri: string): string {
  const last = uri.split('/').findLast((part) => part !== '') ?? ''
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}
