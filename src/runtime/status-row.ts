/** One row of the status: what a server is, how it stands, and what it offers. */
import type { Connection, ListKind } from '../connections/connection.ts'
import type { TaplineError } from '../errors.ts'
import { asTaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { authStatusOf, runtimeStatusOf } from './auth-status.ts'
import type { LiveSession } from './live-session.ts'
import type { ServerStatus, StatusQuery } from './types.ts'

type Lists = Record<ListKind, readonly JsonObject[] | null>
type Ask = Required<Pick<StatusQuery, 'detail' | 'discover'>> & { readonly signal: AbortSignal | undefined }

/** Never rejects because of the server: what went wrong is the `error` of its row. */
export async function statusRow(session: LiveSession, entry: CatalogEntry, { detail, discover, signal }: Ask): Promise<ServerStatus> {
  const { registration, key, provenances } = entry
  const { launch, policy, problem } = registration
  const lists: Lists = { resources: null, resourceTemplates: null, prompts: null }
  let connection: Connection | null = null
  let error: TaplineError | null = problem
  if (policy.enabled && problem === null) {
    const waiting = signal === undefined ? {} : { signal }
    try {
      connection = discover ? session.connection(entry) : session.connections.peek(entry)
      if (discover) session.tools.update(entry, await connection!.ready(waiting))
      else if (connection?.tools) session.tools.update(entry, connection.tools)
      if (!discover) error = connection?.state === 'failed' ? connection.error : null
      else if (detail === 'full') error = await fill(session, connection!, lists, waiting)
    } catch (thrown) {
      error = asTaplineError(thrown, 'SERVER_FAILED')
    }
  }
  const info = connection?.info ?? null
  const { secrets } = session
  return {
    owner: key,
    runtimeStatus: policy.enabled ? runtimeStatusOf(connection, error) : 'disabled',
    authStatus: authStatusOf(launch, connection?.state === 'connected', error),
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
    pid: connection?.state === 'connected' ? (info?.pid ?? null) : null,
  }
}

/** Fills in the lists; gives the first error, and keeps the lists that could be read. */
async function fill(
  session: LiveSession,
  connection: Connection,
  lists: Lists,
  waiting: { readonly signal?: AbortSignal },
): Promise<TaplineError | null> {
  const kinds = Object.keys(lists) as ListKind[]
  const results = await Promise.allSettled(kinds.map((kind) => connection.list(kind, waiting)))
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
