/** Filters of listings and status: by bare name and by environment. */
import type { CatalogEntry } from '../servers/catalog.ts'
import { THREAD_WIDE } from '../servers/definition.ts'

/** Left out or empty: any. For the environment null and `thread-wide` mean thread-wide servers only. */
export interface ServerQuery {
  readonly server?: string | null | undefined
  readonly environmentId?: string | null | undefined
}

export function matchesQuery({ key }: CatalogEntry, { server, environmentId }: ServerQuery): boolean {
  if (server && key.name !== server) return false
  if (environmentId === undefined || environmentId === '') return true
  return key.environmentId === (environmentId === THREAD_WIDE ? null : environmentId)
}
