/** Reads one configuration file whole, with a plain sentence for everything that can be in the way. */
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { TaplineError } from '../errors.ts'

/** Bytes; no configuration comes near it, and reading must not take long or fill the memory. */
const LARGEST = 1024 * 1024

/** The bytes of the file. Throws CONFIG_NOT_FOUND where there is none, CONFIG_INVALID for a folder, a device, a file beyond 1 MiB or one that may not be read. */
export async function readConfigFile(file: string): Promise<Buffer> {
  try {
    const found = await stat(file)
    // a pipe or device could block for ever
    if (!found.isFile()) throw invalid(file, found.isDirectory() ? 'is a folder; name the file in it' : 'is no regular file')
    if (found.size > LARGEST) throw invalid(file, `has ${found.size} bytes; ${LARGEST} is the limit for a configuration`)
    return await readFile(file)
  } catch (cause) {
    if (cause instanceof TaplineError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new TaplineError('CONFIG_NOT_FOUND', `there is no file ${file}`, { cause, remedy: 'Correct the path, or write the file.' })
    if (code === 'EACCES' || code === 'EPERM') throw invalid(file, 'cannot be read: permission denied', cause)
    throw invalid(file, `cannot be read (${code ?? 'unknown cause'})`, cause)
  }
}

/** SHA-256 of the bytes, 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The bytes as text. Throws CONFIG_INVALID where they are not UTF-8. */
export function decodeText(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw invalid(file, 'is not UTF-8 text; save it as UTF-8', cause)
  }
}

function invalid(file: string, what: string, cause?: unknown): TaplineError {
  return new TaplineError('CONFIG_INVALID', `${file} ${what}`, {
    where: file,
    data: { mistakes: [{ where: file, message: what }] },
    ...(cause !== undefined && { cause }),
  })
}
