/** The opaque cursor of the status: it carries the last key of a page, so that servers may come and go between two pages. */
import { TaplineError } from '../errors.ts'
import type { KeyParts } from '../servers/key.ts'

const FORM = 's1.'

/** The cursor after a row. */
export function cursorAfter({ name, environmentId, installationId }: KeyParts): string {
  return FORM + Buffer.from(JSON.stringify([name, environmentId, installationId])).toString('base64url')
}

/** The key that a cursor stands after. Throws INVALID_CURSOR for text that no page gave. */
export function readCursor(cursor: string): KeyParts {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor.slice(FORM.length), 'base64url').toString())
    if (Array.isArray(parts)) {
      const [name, environmentId, installationId] = parts as [string, string | null, string | null]
      if (typeof name === 'string' && isPart(environmentId) && isPart(installationId)) {
        const key = { name, environmentId, installationId }
        if (cursorAfter(key) === cursor) return key
      }
    }
  } catch {
    // said below
  }
  throw new TaplineError('INVALID_CURSOR', 'the cursor of the status cannot be read')
}

const isPart = (value: unknown): value is string | null => value === null || typeof value === 'string'
