/** The status: rows are selected before anything is contacted, and only the servers of the page are contacted. */
import type { Connection, ListKind } from '../connections/connection.ts'
import { asTaplineError, TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { compareKeys } from '../servers/key.ts'
import type { LiveSession } from './live-session.ts'
import { matchesQuery } from './server-query.ts'
import { cursorAfter, readCursor } from './status-cursor.ts'
import type { Page, ServerStatus, StatusQuery } from './types.ts'

/** One page. Throws INVALID_CURSOR, CALL_INVALID_REQUEST (limit); a server that fails or hangs costs its own row an error. */
export async function statusPage(session: LiveSession, query: StatusQuery): Promise<Page<ServerStatus>> {
  const { limit, cursor, detail = 'full', server, environmentId } = query
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new TaplineError('CALL_INVALID_REQUEST', 'limit must be a whole number, 0 or more')
  if (detail !== 'full' && detail !== 'tools_and_auth')
    throw new TaplineError('CALL_INVALID_REQUEST', 'detail is "full" or "tools_and_auth"')
  if (environmentId && !session.resolver.takesEnvironment)
    throw new TaplineError('UNKNOWN_ARGUMENT', 'environmentId is not an argument while multiple environments are off')
  const after = cursor === undefined ? null : readCursor(cursor)
  const selected = session.resolver.view.servers.filter(
    (entry) => matchesQuery(entry, { server, environmentId }) && (after === null || compareKeys(entry.key, after) > 0),
  )
  const page = limit === undefined ? selected : selected.slice(0, Math.max(1, limit))
  const data = await Promise.all(page.map((entry) => rowOf(session, entry, detail, query.signal)))
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

async function rowOf(
  session: LiveSession,
  entry: CatalogEntry,
  detail: 'full' | 'tools_and_auth',
  signal: AbortSignal | undefined,
): Promise<ServerStatus> {
  const { registration, key, provenances } = entry
  const { launch, policy, problem } = registration
  let connection: Connection | null = null
  let error: TaplineError | null = problem
  const lists: Record<ListKind, readonly JsonObject[] | null> = { resources: null, resourceTemplates: null, prompts: null }
  if (policy.enabled && problem === null) {
    try {
      connection = session.connection(entry)
      session.tools.update(entry, await connection.ready(signal === undefined ? {} : { signal }))
      if (detail === 'full') error = await fill(session, connection, lists, signal)
    } catch (thrown) {
      error = asTaplineError(thrown, 'SERVER_FAILED')
    }
  }
  const info = connection?.info ?? null
  const { secrets } = session
  return {
    owner: key,
    runtimeStatus: !policy.enabled ? 'disabled' : connection?.state === 'connected' ? 'connected' : error !== null ? 'failed' : 'idle',
    authStatus:
      launch.type === 'stdio'
        ? 'unsupported'
        : launch.bearerTokenEnvVar !== null ||
            [...Object.keys(launch.headers), ...Object.keys(launch.envHeaders)].some((name) => name.toLowerCase() === 'authorization')
          ? 'bearer_token'
          : 'unknown',
    provenance: provenances.map(({ where }) => where),
    pluginId: registration.provenance.pluginId,
    httpOrigin: launch.type === 'http' ? originOf(launch.url) : null,
    protocolVersion: info?.protocolVersion ?? null,
    serverInfo: secrets.redactJson(info?.serverInfo ?? null),
    capabilities: secrets.redactJson(info?.capabilities ?? null),
    tools: connection?.state === 'connected' ? session.tools.toolsOf(entry) : [],
    ...lists,
    error: error && { code: error.code, message: secrets.redact(error.message), remedy: secrets.redact(error.remedy) },
    startedAt: connection?.startedAt == null ? null : new Date(connection.startedAt).toISOString(),
    startMs: connection?.startMs ?? null,
    pid: info?.pid ?? null,
  }
}

/** Fills in the lists; gives the first error, and keeps the lists that could be read. */
async function fill(
  session: LiveSession,
  connection: Connection,
  lists: Record<ListKind, readonly JsonObject[] | null>,
  signal: AbortSignal | undefined,
): Promise<TaplineError | null> {
  const kinds = Object.keys(lists) as ListKind[]
  const results = await Promise.allSettled(kinds.map((kind) => connection.list(kind, signal === undefined ? {} : { signal })))
  let error: TaplineError | null = null
  for (const [index, result] of results.entries()) {
    if (result.status === 'fulfilled') {
      lists[kinds[index]!] = session.secrets.redactJson(result.value.items)
      for (const diagnostic of result.value.diagnostics) session.report(diagnostic)
    } else error ??= asTaplineError(result.reason, 'SERVER_FAILED')
  }
  return error
}

function originOf(url: string): string | null {
  try {
    return new URL(url).origin
  } catch {
    return null
  }
}
