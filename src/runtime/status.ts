/** The status: rows are selected before anything is contacted, and only the servers of the page are contacted. */
import { TaplineError } from '../errors.ts'
import type { Catalog } from '../servers/catalog.ts'
import { compareKeys } from '../servers/key.ts'
import type { LiveSession } from './live-session.ts'
import { matchesQuery } from './server-query.ts'
import { cursorAfter, readCursor } from './status-cursor.ts'
import { statusRow } from './status-row.ts'
import type { Page, ServerStatus, StatusQuery } from './types.ts'
import { assertKnownKeys } from './unknown-key.ts'

const KEYS = ['limit', 'cursor', 'detail', 'discover', 'server', 'environmentId', 'installationId', 'signal'] as const

/** One page; `catalog` is that of the runtime as it is now. Throws INVALID_CURSOR, CALL_INVALID_REQUEST (limit, detail, discover); a server that fails or hangs costs its own row an error. */
export async function statusPage(session: LiveSession, catalog: Catalog, query: StatusQuery): Promise<Page<ServerStatus>> {
  assertKnownKeys('a query for the status', query, KEYS)
  const { limit, cursor, detail = 'full', discover = true, server, environmentId, installationId, signal } = query
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new TaplineError('CALL_INVALID_REQUEST', 'limit must be a whole number, 0 or more')
  if (detail !== 'full' && detail !== 'tools_and_auth')
    throw new TaplineError('CALL_INVALID_REQUEST', 'detail is "full" or "tools_and_auth"')
  if (typeof discover !== 'boolean') throw new TaplineError('CALL_INVALID_REQUEST', 'discover is true or false')
  if (environmentId && !session.resolver.takesEnvironment)
    throw new TaplineError('UNKNOWN_ARGUMENT', 'environmentId is not an argument while multiple environments are off')
  if (installationId && !session.resolver.takesEnvironment)
    throw new TaplineError('UNKNOWN_ARGUMENT', 'installationId is not an argument while multiple environments are off')
  const after = cursor === undefined ? null : readCursor(cursor)
  // what has left the catalog of the runtime since keeps its row where this session has it running
  const there = session.resolver.view.servers.filter(({ key }) => catalog.get(key) !== undefined || session.connections.isAlive(key))
  const selected = there.filter(
    (entry) => matchesQuery(entry, { server, environmentId, installationId }) && (after === null || compareKeys(entry.key, after) > 0),
  )
  const page = limit === undefined ? selected : selected.slice(0, Math.max(1, limit))
  const data = await Promise.all(page.map((entry) => statusRow(session, entry, { detail, discover, signal })))
  return { data, nextCursor: page.length < selected.length ? cursorAfter(page.at(-1)!.key) : null }
}

/** Page after page, each discovered when it is asked for. */
export async function* statusPages<Query extends StatusQuery>(
  from: { status(query: Query): Promise<Page<ServerStatus>> },
  query: Query,
): AsyncGenerator<Page<ServerStatus>> {
  let next = query
  for (;;) {
    const page = await from.status(next)
    yield page
    if (page.nextCursor === null) return
    next = { ...query, cursor: page.nextCursor }
  }
}
