/** From a visible name to its owner, for one session. Servers are started only as far as a name needs them. */
import type { Connection, ToolListing } from '../connections/connection.ts'
import { asTaplineError, TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import type { CatalogEntry, CatalogView } from '../servers/catalog.ts'
import { toolIsEnabled } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerKey } from '../servers/key.ts'
import type { NamedTool, Names } from '../servers/name-table.ts'
import { currentList } from './current-list.ts'

/** A server and one of its tools, as a name says them. */
export interface Located {
  readonly entry: CatalogEntry
  /** raw name */
  readonly tool: string
}

/** The names of a session. What a name stands for never changes, so an entry that is out of date can only point at a tool that is gone. */
export class ToolDirectory {
  readonly #view: CatalogView
  readonly #table: Names
  readonly #listed = new Map<ServerKey, ToolListing>()

  constructor(view: CatalogView, names: Names) {
    this.#view = view
    this.#table = names
  }

  /** Takes over a server's list, where it is another one; true where names may have changed. */
  update(entry: CatalogEntry, listing: ToolListing): boolean {
    if (this.#listed.get(entry.key) === listing) return false
    this.#listed.set(entry.key, listing)
    this.#table.set(
      entry.key,
      [...listing.tools.keys()].filter((tool) => toolIsEnabled(entry.registration.policy, tool)),
    )
    return true
  }

  /** The offered tools of a server, as far as it was listed. */
  of(key: ServerKey): readonly NamedTool[] {
    return this.#table.of(key)
  }

  namespace(key: ServerKey): string {
    return this.#table.namespace(key)
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#table.diagnostics
  }

  #namespaces(): string {
    const all = this.#view.servers.map(({ key }) => `${this.#table.namespace(key)}__`)
    return all.length === 0 ? 'nothing: it has no servers' : `${all.slice(0, 3).join(', ')}${all.length > 3 ? ' …' : ''}`
  }

  /** What a name stands for, as far as servers were listed. */
  find(name: string, namespace: string | undefined): Located | null {
    const found = namespace === undefined ? this.#table.find(name) : this.#table.findIn(namespace, name)
    const entry = found && this.#view.get(found.owner)
    return found && entry ? { entry, tool: found.tool } : null
  }

  /**
   * What a name stands for, after listing the servers that could have it; a tool that is disabled is found too.
   * Rejects with UNKNOWN_TOOL, or with the error of the one server that could not be listed.
   */
  async load(
    name: string,
    namespace: string | undefined,
    connection: (entry: CatalogEntry) => Connection,
    signal: AbortSignal,
  ): Promise<Located> {
    const flat = namespace === undefined ? name : `${namespace}__${name}`
    const isMeant = ({ key }: CatalogEntry, tool: string): boolean => this.#table.nameOf(key, tool).name === flat
    const candidates = this.#view.servers.filter(
      ({ key, registration }) => registration.policy.enabled && registration.problem === null && this.#table.mayName(key, flat),
    )
    // a tool that the configuration names and takes away needs no start of its server; with several servers it may be another's too
    const [only] = candidates.length === 1 ? candidates : []
    if (only !== undefined) for (const tool of only.registration.policy.disabledTools) if (isMeant(only, tool)) return { entry: only, tool }
    const listings = await Promise.allSettled(candidates.map((entry) => currentList(connection(entry), signal)))
    let failure: TaplineError | null = null
    for (const [index, listing] of listings.entries()) {
      if (listing.status === 'fulfilled') this.update(candidates[index]!, listing.value)
      else failure ??= asTaplineError(listing.reason, 'SERVER_FAILED')
    }
    const found = this.find(name, namespace)
    if (found !== null) return found
    for (const entry of candidates)
      for (const tool of this.#listed.get(entry.key)?.tools.keys() ?? [])
        if (!toolIsEnabled(entry.registration.policy, tool) && isMeant(entry, tool)) return { entry, tool }
    if (failure !== null) throw failure
    const near = nearest(flat, this.#table.names())
    const hint =
      near !== null
        ? `: did you mean ${near}?`
        : candidates.length > 0
          ? ''
          : `; the names of this session begin with ${this.#namespaces()}`
    throw new TaplineError('UNKNOWN_TOOL', `no tool is named ${JSON.stringify(flat.slice(0, 140))}${hint}`, {
      ...(candidates.length === 0 && { remedy: 'List the tools with `tapline tools`, or name the server and the raw tool name.' }),
    })
  }
}
