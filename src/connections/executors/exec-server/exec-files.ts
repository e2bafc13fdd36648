/** Files of an exec-server's machine; its paths are `file:` URIs. */
import type { JsonObject } from '../../../json.ts'
import { isJsonObject } from '../../../json.ts'
import { fileFailed } from '../file-failed.ts'
import { RpcError } from './exec-connection.ts'

type Call = (method: string, params: JsonObject) => Promise<JsonObject>
export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'other'
}

/** An absolute path of that machine, of either kind, as a URI. */
export function fileUri(path: string): string {
  const windows = /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\')
  const parts = (windows ? path.replaceAll('\\', '/') : path).split('/')
  const encoded = parts.map((part, index) => (windows && index === 0 && part !== '' ? part : encodeURIComponent(part))).join('/')
  if (windows && encoded.startsWith('//')) return `file:${encoded}`
  return `file://${encoded.startsWith('/') ? '' : '/'}${encoded}`
}

/** The path of such a URI; what is none stays as it is. */
export function pathOf(uri: string | null): string | null {
  if (uri === null || !uri.startsWith('file://')) return uri
  try {
    const decoded = decodeURIComponent(uri.slice('file://'.length))
    return /^\/[A-Za-z]:/.test(decoded) ? decoded.slice(1) : decoded
  } catch {
    return uri
  }
}

/** Rejects with ENVIRONMENT_FILE_FAILED, or ENVIRONMENT_UNAVAILABLE. */
export async function readExecFile(call: Call, path: string): Promise<Buffer> {
  const { dataBase64 } = await asked(call, 'fs/readFile', path)
  if (typeof dataBase64 !== 'string') throw fileFailed(path, 'the executor answered without its content')
  return Buffer.from(dataBase64, 'base64')
}

/** Rejects with ENVIRONMENT_FILE_FAILED, or ENVIRONMENT_UNAVAILABLE. */
export async function listExecDirectory(call: Call, path: string): Promise<DirectoryEntry[]> {
  const { entries } = await asked(call, 'fs/readDirectory', path)
  if (!Array.isArray(entries)) throw fileFailed(path, 'the executor answered without a list')
  return (entries as unknown[])
    .filter(isJsonObject)
    .flatMap(({ fileName, isDirectory, isFile }): DirectoryEntry[] =>
      typeof fileName === 'string'
        ? [{ name: fileName, kind: isDirectory === true ? 'directory' : isFile === true ? 'file' : 'other' }]
        : [],
    )
}

/** An absolute path of that machine from a URI of it; null for what is none. */
export function pathOfUri(uri: unknown): string | null {
  if (typeof uri !== 'string' || !uri.startsWith('file:') || !URL.canParse(uri)) return null
  const { host, pathname } = new URL(uri)
  try {
    const path = decodeURIComponent(pathname)
    return host !== '' ? `//${host}${path}` : /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path
  } catch {
    return null
  }
}

/** The path with every link resolved. Rejects with ENVIRONMENT_FILE_FAILED, or ENVIRONMENT_UNAVAILABLE. */
export async function realExecPath(call: Call, path: string): Promise<string> {
  const real = pathOfUri((await asked(call, 'fs/canonicalize', path))['path'])
  if (real === null) throw fileFailed(path, 'the executor answered without a path')
  return real
}

async function asked(call: Call, method: string, path: string): Promise<JsonObject> {
  try {
    return await call(method, { path: fileUri(path), sandbox: null })
  } catch (error) {
    throw error instanceof RpcError ? fileFailed(path, error.message) : error
  }
}
