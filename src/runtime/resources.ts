/** Resources of one server or of all, through the pipeline. */
import { TaplineError } from '../errors.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { JsonObject } from '../json.ts'
import type { ReadResourceResult } from '../mcp.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import type { ServerKey } from '../servers/key.ts'
import type { LiveSession } from './live-session.ts'
import type { ListQuery, Listing, ResourceItem, ServerFailure, ServerSelector } from './types.ts'
import { unwrap } from './unwrap.ts'

/** Without a server: those of all, sorted by server key, failures as entries of `errors`. With one: its own, or a throw. */
export async function listResources(session: LiveSession, given: ListQuery): Promise<Listing<ResourceItem>> {
  // own fields: what somebody put on Object.prototype names no server
  const query = { __proto__: null, ...given } as ListQuery
  const { servers, isMerged } = session.resolver.selectForResources(query)
  const options: CallOptions = query.signal === undefined ? {} : { signal: query.signal }
  const asked = isMerged ? servers.filter(({ registration }) => registration.policy.enabled) : servers
  const outcomes = await Promise.all(
    asked.map((entry) =>
      session.pipeline.call(
        {
          method: 'resources/list',
          target: { by: 'owner', owner: entry.key },
          subject: '',
          arguments: asGiven(query, query.cursor === undefined ? {} : { cursor: query.cursor }),
        },
        options,
      ),
    ),
  )
  const items: ResourceItem[] = []
  const errors: ServerFailure[] = []
  let nextCursor: string | null = null
  for (const [index, outcome] of outcomes.entries()) {
    const { key } = asked[index] as CatalogEntry
    try {
      const result = unwrap(outcome as CallOutcome<'resources/list'>)
      for (const raw of listOf(result['resources'])) items.push(itemOf(key, raw))
      if (typeof result.nextCursor === 'string') nextCursor = result.nextCursor
    } catch (error) {
      if (!isMerged) throw error
      errors.push({ owner: key, error: error as TaplineError })
    }
  }
  return { items, errors, nextCursor }
}

/** One resource of one server. Throws what `unwrap` throws. */
export async function readResource(
  session: LiveSession,
  request: ServerSelector & { readonly uri: string },
  options: CallOptions,
): Promise<ReadResourceResult & { readonly owner: ServerKey }> {
  // own fields: what somebody put on Object.prototype names no server
  const given = { __proto__: null, ...request } as typeof request
  const { server, environmentId, installationId, uri } = given
  const outcome = await session.pipeline.call(
    {
      method: 'resources/read',
      target: { by: 'server', server, environmentId, installationId },
      subject: uri,
      arguments: asGiven(given, { uri }),
    },
    options,
  )
  const result = unwrap(outcome as CallOutcome<'resources/read'>)
  if (!Array.isArray(result.contents)) throw new TaplineError('SERVER_FAILED', `${outcome.owner} answered resources/read without contents`)
  return { ...result, owner: outcome.owner as ServerKey }
}

/** The arguments under their names on the wire, as far as they were given: what taps see, and may not use to move the request. */
function asGiven({ server, environmentId, installationId }: Partial<ServerSelector>, rest: JsonObject): JsonObject {
  return {
    ...(server !== undefined && { server }),
    ...(environmentId !== undefined && { environment_id: environmentId }),
    ...(installationId !== undefined && { installation_id: installationId }),
    ...rest,
  }
}

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? (value as readonly JsonObject[]) : [])
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function itemOf(owner: ServerKey, raw: JsonObject): ResourceItem {
  const { uri, name, title, description, mimeType } = raw
  const optional = { title: text(title), description: text(description), mimeType: text(mimeType) }
  return {
    owner,
    uri: text(uri) ?? '',
    name: text(name) ?? '',
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as object),
    raw,
  }
}
