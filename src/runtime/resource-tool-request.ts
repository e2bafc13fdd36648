/** What a model asks of a tool for resources, read strictly: one request of one server, or of all. */
import { TaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { PipelineRequest, Target } from '../pipeline/request.ts'
import type { Resolver } from '../pipeline/resolver.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import type { ResourceToolKind } from './resource-tools.ts'

/** `one`: goes the way of a call, a mistake too. `all`: one request for each of the servers. */
export type ResourceToolRequest =
  | { readonly to: 'one'; readonly request: PipelineRequest }
  | { readonly to: 'all'; readonly servers: readonly CatalogEntry[]; readonly requestOf: (entry: CatalogEntry) => PipelineRequest }

/** Never throws: what makes no sense is a request that ends with its error. */
export function resourceToolRequest(kind: ResourceToolKind, given: unknown, resolver: Resolver): ResourceToolRequest {
  const { method } = kind
  try {
    const args = readArguments(kind, given, resolver.takesEnvironment)
    const text = (name: string): string | undefined => args[name] as string | undefined
    const query = {
      server: text('server'),
      environmentId: text('environment_id'),
      installationId: text('installation_id'),
      cursor: text('cursor'),
    }
    if (query.server === undefined) {
      if (kind.field === null) throw new TaplineError('CALL_INVALID_REQUEST', 'server must be provided')
      const { servers } = resolver.selectForResources(query)
      const enabled = servers.filter(({ registration }) => registration.policy.enabled)
      return {
        to: 'all',
        servers: enabled,
        requestOf: ({ key }) => ({ method, target: { by: 'owner', owner: key }, subject: '', arguments: args }),
      }
    }
    const { server, environmentId, installationId } = query
    const target: Target = { by: 'server', server, environmentId, installationId }
    return { to: 'one', request: { method, target, subject: text('uri') ?? '', arguments: args } }
  } catch (thrown) {
    const error =
      thrown instanceof TaplineError ? thrown : new TaplineError('CALL_INVALID_REQUEST', 'the arguments cannot be read', { cause: thrown })
    return { to: 'one', request: { method, target: { by: 'nothing', error }, subject: '', arguments: {} } }
  }
}

/** The arguments that say something: null and the empty text count as left out. Throws UNKNOWN_ARGUMENT, CALL_INVALID_REQUEST. */
function readArguments({ name, parameters }: ResourceToolKind, given: unknown, takesEnvironment: boolean): JsonObject {
  if (given !== undefined && !isJsonObject(given))
    throw new TaplineError('CALL_INVALID_REQUEST', `the arguments of ${name} must be an object`)
  const args: Record<string, Json> = {}
  for (const [parameter, value] of Object.entries(given ?? {})) {
    if (!parameters.includes(parameter))
      throw new TaplineError('UNKNOWN_ARGUMENT', `${name} has no argument ${JSON.stringify(parameter.slice(0, 100))}`)
    if (value === null || value === undefined || value === '') continue
    if (typeof value !== 'string') throw new TaplineError('CALL_INVALID_REQUEST', `${parameter} must be text`)
    if (!takesEnvironment && parameter.endsWith('_id'))
      throw new TaplineError('UNKNOWN_ARGUMENT', `${parameter} is not an argument while multiple environments are off`)
    args[parameter] = value
  }
  return args
}
