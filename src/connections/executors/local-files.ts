/** Files of this machine, as an executor gives them. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFailed } from './file-failed.ts'

/** Most bytes of one file. */
const FILE_LIMIT = 64 * 1024 * 1024

interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'other'
}

/** Rejects with ENVIRONMENT_FILE_FAILED, also for what is no file: a pipe or a device could block for ever. */
export function readLocalFile(path: string): Promise<Uint8Array> {
  return asked(path, async () => {
    const found = await stat(path)
    if (!found.isFile()) throw new Error('it is no file')
    if (found.size > FILE_LIMIT) throw new Error(`it has more than ${FILE_LIMIT / 1024 / 1024} MiB`)
    return readFile(path)
  })
}

/** What a folder holds, links followed. Rejects with ENVIRONMENT_FILE_FAILED. */
export function listLocalDirectory(path: string): Promise<readonly DirectoryEntry[]> {
  return asked(path, async () => {
    const entries = await readdir(path, { withFileTypes: true })
    return Promise.all(
      entries.map(async (entry): Promise<DirectoryEntry> => {
        const meant = entry.isSymbolicLink() ? await stat(join(path, entry.name)).catch(() => entry) : entry
        return { name: entry.name, kind: meant.isDirectory() ? 'directory' : meant.isFile() ? 'file' : 'other' }
      }),
    )
  })
}

/** Rejects with ENVIRONMENT_FILE_FAILED. */
export function realLocalPath(path: string): Promise<string> {
  return asked(path, () => realpath(path))
}

async function asked<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw fileFailed(path, code === 'ENOENT' || code === 'ENOTDIR' ? 'there is nothing' : (code ?? message))
  }
}
