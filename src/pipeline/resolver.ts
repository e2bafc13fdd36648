/** What both resolvers do: from a request to one server and what is meant there. They differ in what is visible and how it may be named. */
import type { Connection } from '../connections/connection.ts'
import { TaplineError } from '../errors.ts'
import type { CatalogEntry, CatalogView } from '../servers/catalog.ts'
import type { ServerKey } from '../servers/key.ts'
import { guardNames } from '../servers/guard-names.ts'
import type { Names } from '../servers/name-table.ts'
import { selectServer } from '../servers/selector.ts'
import type { ResourceQuery, ResourceSelection } from './resource-selection.ts'
import type { PipelineRequest } from './request.ts'
import { type Located, ToolDirectory } from './tool-directory.ts'

/** How tools are named. */
export interface NamingChoice {
  readonly scheme: 'stable' | 'codex'
  /** of the scheme `stable` */
  readonly maxLength: number
}

/** What a resolver may ask of the session. */
export interface ResolverContext {
  readonly signal: AbortSignal
  connection(entry: CatalogEntry): Connection
}

/** Finds the owner of a request, before any plugin's tap runs. */
export interface Resolver {
  readonly view: CatalogView
  readonly directory: ToolDirectory
  /** The parameters that tools for resources have: with or without `environment_id` and `installation_id`. */
  readonly takesEnvironment: boolean
  /** Synchronous where nothing has to be started. Throws or rejects with AMBIGUOUS_SERVER, UNKNOWN_SERVER, UNKNOWN_TOOL, UNKNOWN_ARGUMENT, CALL_INVALID_REQUEST. */
  locate(request: PipelineRequest, context: ResolverContext): Located | Promise<Located>
  /** The names by which guards may know a tool, the visible one first. */
  namesOf(owner: ServerKey, tool: string): readonly string[]
  /** Which servers a request for resources means (spec 40). Throws like `locate`. */
  selectForResources(query: ResourceQuery): ResourceSelection
}

/** Everything but the rules for resources. */
export abstract class BaseResolver implements Resolver {
  readonly view: CatalogView
  readonly directory: ToolDirectory
  abstract readonly takesEnvironment: boolean

  readonly #naming: NamingChoice

  constructor(view: CatalogView, names: Names, naming: NamingChoice) {
    this.view = view
    this.directory = new ToolDirectory(view, names)
    this.#naming = naming
  }

  namesOf(owner: ServerKey, tool: string): readonly string[] {
    return guardNames(owner, tool, this.directory.of(owner).find((named) => named.tool === tool)?.name ?? null, this.#naming)
  }

  abstract selectForResources(query: ResourceQuery): ResourceSelection

  locate({ method, target, subject }: PipelineRequest, context: ResolverContext): Located | Promise<Located> {
    switch (target.by) {
      case 'name': {
        const found = this.directory.find(target.name, target.namespace)
        return found ?? this.directory.load(target.name, target.namespace, (entry) => context.connection(entry), context.signal)
      }
      case 'nothing':
        throw target.error
      case 'owner': {
        const entry = this.view.get(target.owner)
        if (entry === undefined) throw new TaplineError('UNKNOWN_SERVER', `${String(target.owner)} is not visible in this session`)
        return { entry, tool: subject }
      }
      default: {
        // lists and reads have rules of their own for what is left out
        if (method !== 'tools/call')
          return {
            entry: one(
              this.selectForResources({
                server: target.server,
                environmentId: target.environmentId,
                installationId: target.installationId,
              }),
            ),
            tool: subject,
          }
        const selection = selectServer(this.view, target)
        if (selection.error !== undefined) throw withCandidates(selection.error, selection.candidates)
        return { entry: selection.entry, tool: subject }
      }
    }
  }
}

function one(selection: ResourceSelection): CatalogEntry {
  if (selection.servers.length === 1) return selection.servers[0]!
  throw new TaplineError('CALL_INVALID_REQUEST', 'server must be provided')
}

/** The error with the keys that the request could have meant, for `candidates` of the outcome. */
function withCandidates(error: TaplineError, candidates: readonly CatalogEntry[]): TaplineError {
  return new TaplineError(error.code, error.message, {
    remedy: error.remedy,
    data: { ...error.data, keys: candidates.map(({ key }) => key) },
  })
}
