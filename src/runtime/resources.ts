/** Resources and their templates, through the pipeline. */
import { TaplineError } from '../errors.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { ReadResourceResult } from '../mcp.ts'
import type { CallOptions } from '../pipeline/request.ts'
import type { ServerKey } from '../servers/key.ts'
import { asGiven, listItems, OWNER_KEYS, ownFields, targetOf, textOf, textsOf } from './listings.ts'
import type { LiveSession } from './live-session.ts'
import type { ListQuery, Listing, Owned, ResourceItem, ResourceRequest, ResourceTemplateItem } from './types.ts'
import { assertKnownKeys } from './unknown-key.ts'
import { unwrap } from './unwrap.ts'

const OPTIONAL = ['title', 'description', 'mimeType'] as const

/** Throws what `listItems` throws. */
export function listResources(session: LiveSession, query: ListQuery): Promise<Listing<ResourceItem>> {
  return listItems(session, 'resources/list', query, (owner, raw) => ({
    owner,
    uri: textOf(raw['uri']),
    name: textOf(raw['name']),
    ...textsOf(raw, ...OPTIONAL),
    raw,
  }))
}

/** Throws what `listItems` throws. */
export function listResourceTemplates(session: LiveSession, query: ListQuery): Promise<Listing<ResourceTemplateItem>> {
  return listItems(session, 'resources/templates/list', query, (owner, raw) => ({
    owner,
    uriTemplate: textOf(raw['uriTemplate']),
    name: textOf(raw['name']),
    ...textsOf(raw, ...OPTIONAL),
    raw,
  }))
}

/** One resource of one server. Throws what `unwrap` throws. */
export async function readResource(
  session: LiveSession,
  request: ResourceRequest,
  options: CallOptions,
): Promise<ReadResourceResult & Owned> {
  assertKnownKeys('a request for a resource', request, [...OWNER_KEYS, 'uri'])
  const given = ownFields(request)
  const { uri } = given
  const outcome = await session.pipeline.call(
    {
      method: 'resources/read',
      target: targetOf(given),
      subject: uri,
      arguments: asGiven(given, { uri }),
    },
    options,
  )
  const result = unwrap(outcome as CallOutcome<'resources/read'>)
  if (!Array.isArray(result.contents)) throw new TaplineError('SERVER_FAILED', `${outcome.owner} answered resources/read without contents`)
  return { ...result, owner: outcome.owner as ServerKey }
}
