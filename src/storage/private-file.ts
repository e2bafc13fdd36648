/** Writes a file that is for its owner alone, in place of whatever was at its path. */
import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'

/**
 * A new file (0600) takes the place of what was there: an older file keeps neither its permissions nor its readers, and a link is replaced
 * and not followed. What is under `/dev` (a terminal, a pipe) is written to as it is. Rejects with the error of the system.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  if (file.startsWith('/dev/')) return writeFile(file, text)
  const temporary = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}
