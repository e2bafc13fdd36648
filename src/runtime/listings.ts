/** Lists of one server or of all, through the pipeline: resources, templates, prompts. */
import type { TaplineError } from '../errors.ts'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { CallOptions, Target } from '../pipeline/request.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import type { ServerKey } from '../servers/key.ts'
import type { LiveSession } from './live-session.ts'
import type { ListQuery, Listing, OwnerOrSelector, ServerFailure, ServerSelector } from './types.ts'
import { assertKnownKeys } from './unknown-key.ts'
import { unwrap } from './unwrap.ts'

/** The methods that list, and where their answers have the items. */
const FIELDS = { 'resources/list': 'resources', 'resources/templates/list': 'resourceTemplates', 'prompts/list': 'prompts' } as const

/** The keys that name a server in a request of the host. */
const SELECTOR_KEYS: readonly string[] = ['server', 'environmentId', 'installationId']
/** The same, and the key that a listing gave. */
export const OWNER_KEYS: readonly string[] = [...SELECTOR_KEYS, 'owner']

/** Without a server: the items of all, sorted by server key, failures as entries of `errors`. With one: its own, or a throw. */
export async function listItems<T>(
  session: LiveSession,
  method: keyof typeof FIELDS,
  given: ListQuery,
  itemOf: (owner: ServerKey, raw: JsonObject) => T,
): Promise<Listing<T>> {
  assertKnownKeys(`a query for ${FIELDS[method]}`, given, [...SELECTOR_KEYS, 'cursor', 'signal'])
  const query = ownFields(given)
  const { servers, isMerged } = session.resolver.selectForResources(query)
  const options: CallOptions = query.signal === undefined ? {} : { signal: query.signal }
  const asked = isMerged ? servers.filter(({ registration }) => registration.policy.enabled) : servers
  const args = asGiven(query, query.cursor === undefined ? {} : { cursor: query.cursor })
  const outcomes = await Promise.all(
    asked.map(({ key }) => session.pipeline.call({ method, target: { by: 'owner', owner: key }, subject: '', arguments: args }, options)),
  )
  const items: T[] = []
  const errors: ServerFailure[] = []
  let nextCursor: string | null = null
  for (const [index, outcome] of outcomes.entries()) {
    const { key } = asked[index] as CatalogEntry
    try {
      const result = unwrap(outcome as CallOutcome<keyof typeof FIELDS>)
      const list = result[FIELDS[method]]
      if (Array.isArray(list)) for (const raw of list as readonly Json[]) if (isJsonObject(raw)) items.push(itemOf(key, raw))
      if (typeof result.nextCursor === 'string') nextCursor = result.nextCursor
    } catch (error) {
      if (!isMerged) throw error
      errors.push({ owner: key, error: error as TaplineError })
    }
  }
  return { items, errors, nextCursor }
}

/** A copy without a prototype: what somebody put on Object.prototype names no server. */
export const ownFields = <T extends object>(given: T): T => ({ __proto__: null, ...given })

/** Whom a request means: by the key that a listing gave, or as untrusted input names it. */
export function targetOf({ owner, server, environmentId, installationId }: OwnerOrSelector): Target {
  return owner !== undefined ? { by: 'owner', owner } : { by: 'server', server, environmentId, installationId }
}

/** The arguments under their names on the wire, as far as they were given: what taps see, and may not use to move the request. */
export function asGiven({ server, environmentId, installationId }: Partial<ServerSelector>, rest: JsonObject): JsonObject {
  return {
    ...(server !== undefined && { server }),
    ...(environmentId !== undefined && { environment_id: environmentId }),
    ...(installationId !== undefined && { installation_id: installationId }),
    ...rest,
  }
}

/** Those of the fields that are text, for an item of a listing. */
export function textsOf<F extends string>(raw: JsonObject, ...fields: readonly F[]): { readonly [K in F]?: string } {
  const texts: { [K in F]?: string } = {}
  for (const field of fields) if (typeof raw[field] === 'string') texts[field] = raw[field]
  return texts
}

/** A field that an item must have; the empty text where its server left it out. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
