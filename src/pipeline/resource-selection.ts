/** Which servers a request for resources means (spec 40): the rules of `environment_id` with several environments, and without any. */
import { TaplineError } from '../errors.ts'
import type { CatalogEntry, CatalogView } from '../servers/catalog.ts'
import { DEFAULT_INSTALLATION, THREAD_WIDE } from '../servers/definition.ts'
import { displayKey } from '../servers/key.ts'

/** What such a request may say; the empty string counts as left out. A model's arguments come without those that are null. */
export interface ResourceQuery {
  readonly server?: string | null | undefined
  /** null with a server: the thread-wide one, as in a call */
  readonly environmentId?: string | null | undefined
  /** null with a server: the one without installation id */
  readonly installationId?: string | null | undefined
  readonly cursor?: string | null | undefined
}

/** The servers meant; `isMerged` where the request named none and all are asked. */
export interface ResourceSelection {
  readonly servers: readonly CatalogEntry[]
  readonly isMerged: boolean
}

/** The rules of a session whose names carry no environment. Throws UNKNOWN_ARGUMENT, UNKNOWN_SERVER, CALL_INVALID_REQUEST. */
export function selectUnscoped(view: CatalogView, query: ResourceQuery): ResourceSelection {
  if (query.environmentId)
    throw new TaplineError('UNKNOWN_ARGUMENT', 'environment_id is not an argument while multiple environments are off')
  if (query.installationId)
    throw new TaplineError('UNKNOWN_ARGUMENT', 'installation_id is not an argument while multiple environments are off')
  const server = serverOf(query)
  if (server === null) return { servers: view.servers, isMerged: true }
  const [entry] = view.named(server)
  if (entry === undefined) throw unknown(server, view.named(server))
  return { servers: [entry], isMerged: false }
}

/** The rules of a session with several environments. Throws AMBIGUOUS_SERVER, UNKNOWN_SERVER, CALL_INVALID_REQUEST. */
export function selectScoped(view: CatalogView, selected: readonly string[], query: ResourceQuery): ResourceSelection {
  const server = serverOf(query)
  const environmentId = query.environmentId === null ? THREAD_WIDE : query.environmentId
  const installationId = query.installationId === null ? DEFAULT_INSTALLATION : query.installationId
  if (server === null) {
    if (query.environmentId) throw new TaplineError('CALL_INVALID_REQUEST', 'environment_id can only be used when a server is specified')
    return { servers: view.servers, isMerged: true }
  }
  const named = view.named(server)
  const wide = named.filter(({ key }) => key.environmentId === null)
  const scoped = named.filter(({ key }) => key.environmentId !== null)
  let fits: readonly CatalogEntry[]
  if (environmentId) {
    const id = environmentId.trim()
    const inEnvironment = scoped.filter(({ key }) => key.environmentId === id)
    // a thread-wide server answers to its selector, and to the environment where it executes unless another server has that name there
    fits =
      id === THREAD_WIDE
        ? wide
        : inEnvironment.length > 0
          ? inEnvironment
          : wide.filter(({ registration }) => registration.executesOn === id)
  } else if (wide.length > 0 && scoped.length > 0) {
    throw ambiguous(`${JSON.stringify(server)} fits several MCP servers`, named)
  } else if (scoped.length > 0 && selected.length > 1) {
    throw ambiguous(`environment_id is required for MCP server '${server}' when multiple environments are selected`, scoped)
  } else fits = named
  if (installationId) {
    const wanted = installationId === DEFAULT_INSTALLATION ? null : installationId
    fits = fits.filter(({ key }) => key.installationId === wanted)
  }
  if (fits.length === 0) throw unknown(server, named)
  if (fits.length > 1) throw ambiguous(`installation_id is required for MCP server '${server}'`, fits)
  return { servers: fits, isMerged: false }
}

function serverOf({ server, cursor }: ResourceQuery): string | null {
  if (server === undefined || server === null || server === '') {
    if (cursor) throw new TaplineError('CALL_INVALID_REQUEST', 'cursor can only be used when a server is specified')
    return null
  }
  const name = server.trim()
  if (name === '') throw new TaplineError('CALL_INVALID_REQUEST', 'server must be provided')
  return name
}

function unknown(server: string, named: readonly CatalogEntry[]): TaplineError {
  const others = named.length === 0 ? '' : `; there is ${named.map(({ key }) => displayKey(key)).join(', ')}`
  return new TaplineError('UNKNOWN_SERVER', `unknown MCP server '${server.slice(0, 140)}' for the selected environment${others}`, {
    data: { keys: named.map(({ key }) => key) },
  })
}

function ambiguous(text: string, candidates: readonly CatalogEntry[]): TaplineError {
  return new TaplineError('AMBIGUOUS_SERVER', `${text}: ${candidates.map(({ key }) => displayKey(key)).join(', ')}`, {
    data: { keys: candidates.map(({ key }) => key) },
  })
}
