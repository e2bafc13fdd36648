/** Filters of listings and status: by bare name, environment and installation. */
import type { CatalogEntry } from '../servers/catalog.ts'
import { DEFAULT_INSTALLATION, THREAD_WIDE } from '../servers/definition.ts'

/** Left out or empty: any. For the environment null and `thread-wide` mean thread-wide servers only, for the installation null and `default` those without one. */
export interface ServerQuery {
  readonly server?: string | null | undefined
  readonly environmentId?: string | null | undefined
  readonly installationId?: string | null | undefined
}

export function matchesQuery({ key }: CatalogEntry, { server, environmentId, installationId }: ServerQuery): boolean {
  if (server && key.name !== server) return false
  return fits(key.environmentId, environmentId, THREAD_WIDE) && fits(key.installationId, installationId, DEFAULT_INSTALLATION)
}

function fits(part: string | null, asked: string | null | undefined, noneWord: string): boolean {
  return asked === undefined || asked === '' || part === (asked === noneWord ? null : asked)
}
