/** The text of a flag file, with plain words for everything that can be in the way. */
import type { BigIntStats, Stats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { messageOf } from '../errors.ts'

/** Bytes that a file may have. */
const MOST_BYTES = 16 * 1024 * 1024

/** What the file says that `stat` has found. Rejects for a folder, a pipe, more than 16 MiB and what is not UTF-8; `flagFileProblem` has it in words. */
export async function flagText(file: string, found: Stats | BigIntStats): Promise<string> {
  if (found.isDirectory()) throw new Error('it is a folder')
  // reading a pipe could wait for ever
  if (!found.isFile()) throw new Error('it is not a file')
  if (found.size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`)
  return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
}

/** Why a flag file cannot be read. */
export function flagFileProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'ENOENT') return 'it is not there'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8'
  return messageOf(error)
}
