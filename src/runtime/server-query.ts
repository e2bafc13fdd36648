/** Filters of listings and status: by bare name and by environment. */
import type { CatalogEntry } from '../servers/catalog.ts'
import { THREAD_WIDE } from '../servers/definition.ts'

/** Left out: any. null or `thread-wide`: thread-wide servers only. */
export interface ServerQuery {
  readonly server?: string | undefined
  readonly environmentId?: string | null | undefined
}

export function matchesQuery({ key }: CatalogEntry, { server, environmentId }: ServerQuery): boolean {
  if (server !== undefined && key.name !== server) return false
  if (environmentId === undefined) return true
  return key.environmentId === (environmentId === THREAD_WIDE ? null : environmentId)
}
