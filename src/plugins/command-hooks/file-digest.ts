/** What a file says, as a digest; what has not changed is not read twice. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** ms: a change this soon after another may leave the times of a file as they are. */
const YOUNG_MS = 2000
const MOST_KNOWN = 1000

const known = new Map<string, { readonly signature: string; readonly digest: string }>()

/** SHA-256, 64 hex digits; `unreadable` where it may not be read, and so cannot be what was trusted; null: there is no such file. */
export async function fileDigest(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  if (found === null || !found.isFile()) return null
  const signature = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
  const before = known.get(file)
  if (before?.signature === signature) return before.digest
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
  } catch {
    return 'unreadable'
  }
  const digest = hash.digest('hex')
  if (known.size >= MOST_KNOWN) known.clear()
  if (Date.now() - Number(found.ctimeMs) > YOUNG_MS) known.set(file, { signature, digest })
  return digest
}
