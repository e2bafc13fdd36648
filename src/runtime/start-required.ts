/** The servers without which a session does not open. */
import type { Connection } from '../connections/connection.ts'
import { TaplineError } from '../errors.ts'
import type { CatalogEntry } from '../servers/catalog.ts'

/** Starts those that are marked `required`; rejects with the error of the first that does not start, or with SESSION_CLOSED. */
export async function startRequired(
  servers: readonly CatalogEntry[],
  connectionOf: (entry: CatalogEntry) => Connection,
  signal: AbortSignal,
): Promise<void> {
  const required = servers.filter(({ registration: { policy } }) => policy.enabled && policy.required)
  await Promise.all(
    required.map(async (entry) => {
      if (entry.registration.problem !== null) throw entry.registration.problem
      await connectionOf(entry).ready({ signal })
    }),
  ).catch((error: unknown) => {
    throw signal.aborted
      ? new TaplineError('SESSION_CLOSED', 'the session was closed while its required servers were starting', { cause: error })
      : error
  })
}
