/** The tools of a session: what is listed, what is still starting, what failed. */
import type { ToolListing, ToolRecord } from '../connections/connection.ts'
import type { Inventory } from '../connections/inventory.ts'
import type { CachedTools, InventoryServer } from '../connections/inventory-entry.ts'
import type { TaplineError } from '../errors.ts'
import { asTaplineError } from '../errors.ts'
import type { PipelineHost } from '../pipeline/host.ts'
import type { Resolver } from '../pipeline/resolver.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { approvalModeOf } from '../servers/definition.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { ServerKey } from '../servers/key.ts'
import { namespaceDescription } from '../servers/namespace-description.ts'
import { unmatchedNames } from '../servers/unmatched-names.ts'
import type { SessionConnections } from './session-connections.ts'
import type { ListToolsOptions, ResourceTool, Tool, ToolList } from './types.ts'
import { matchesQuery } from './server-query.ts'

interface ListerHost extends Pick<PipelineHost, 'connection' | 'secrets'> {
  readonly connections: Pick<SessionConnections, 'peek'>
}

/** Keeps the lists that were seen last, and makes the session's tools of them. */
export class ToolLister {
  readonly #host: ListerHost
  readonly #resolver: Resolver
  readonly #inventory: Inventory
  readonly #resourceTools: readonly ResourceTool[]
  readonly #listings = new Map<ServerKey, ToolListing>()
  /** servers whose list is one of the inventory, with what they said of themselves then */
  readonly #cached = new Map<ServerKey, CachedTools>()
  readonly #made = new Map<ServerKey, { readonly generation: number; readonly tools: readonly Tool[] }>()
  #generation = 0

  constructor(host: ListerHost, resolver: Resolver, inventory: Inventory, resourceTools: readonly ResourceTool[] = []) {
    this.#host = host
    this.#resolver = resolver
    this.#inventory = inventory
    this.#resourceTools = resourceTools
  }

  /** changes when, and only when, the list does */
  get generation(): number {
    return this.#generation
  }

  get diagnostics(): readonly Diagnostic[] {
    const { secrets } = this.#host
    const lists = [...this.#listings].flatMap(([key, { tools, diagnostics }]) => {
      const policy = this.#resolver.view.get(key)?.registration.policy
      const unmatched = policy && isWhole({ diagnostics }) ? unmatchedNames(key, policy, tools) : null
      return unmatched === null ? diagnostics : [...diagnostics, unmatched]
    })
    return [...this.#resolver.directory.diagnostics, ...lists].map((diagnostic) => ({
      ...diagnostic,
      message: secrets.redact(diagnostic.message),
    }))
  }

  /** Takes over a server's list; true where it is another one. */
  update(entry: CatalogEntry, listing: ToolListing): boolean {
    if (this.#listings.get(entry.key) === listing) return false
    this.#cached.delete(entry.key)
    const connection = this.#host.connections.peek(entry)
    if (connection !== null && isWhole(listing)) {
      const server = { registration: entry.registration, environment: connection.environment }
      this.#inventory.note(server, listing.tools, connection.info?.instructions ?? null)
    }
    this.#listings.set(entry.key, listing)
    this.#resolver.directory.update(entry, listing)
    this.#generation++
    return true
  }

  /** Starts every server that matches and is not running, waits as long as it may, and gives what is there. Never rejects because of a server. */
  async list({ waitMs, cached = false, signal, ...query }: ListToolsOptions): Promise<ToolList> {
    const errors = new Map<ServerKey, TaplineError>()
    const pending = new Set<ServerKey>()
    const entries = this.#resolver.view.servers.filter((entry) => entry.registration.policy.enabled && matchesQuery(entry, query))
    const starts: Promise<void>[] = []
    const unlisted: (InventoryServer & { readonly entry: CatalogEntry })[] = []
    for (const entry of entries) {
      const { key } = entry
      const { problem } = entry.registration
      if (problem !== null) {
        errors.set(key, problem)
        continue
      }
      try {
        const connection = this.#host.connection(entry)
        if (connection.tools !== null) {
          this.update(entry, connection.tools)
          continue
        }
        pending.add(key)
        if (cached) {
          unlisted.push({ entry, registration: entry.registration, environment: connection.environment })
          continue
        }
        starts.push(
          connection.ready().then(
            (listing) => {
              this.update(entry, listing)
              pending.delete(key)
            },
            (error: unknown) => {
              errors.set(key, asTaplineError(error, 'SERVER_FAILED'))
              pending.delete(key)
            },
          ),
        )
      } catch (error) {
        errors.set(key, asTaplineError(error, 'SERVER_FAILED'))
      }
    }
    if (cached) for (const entry of await this.#fromInventory(unlisted)) pending.delete(entry.key)
    else await within(Promise.all(starts), waitMs, signal)
    return {
      tools: entries.filter(({ key }) => !pending.has(key) && !errors.has(key)).flatMap((entry) => this.toolsOf(entry)),
      resourceTools: query.server === undefined && query.environmentId === undefined ? this.#resourceTools : [],
      pending: entries.filter(({ key }) => pending.has(key)).map(({ key }) => key),
      errors: [...errors].map(([owner, error]) => ({ owner, error })),
      generation: this.#generation,
    }
  }

  /** Takes over lists of the inventory where no live one is known; gives the servers that have a list now. */
  async #fromInventory(servers: readonly (InventoryServer & { readonly entry: CatalogEntry })[]): Promise<readonly CatalogEntry[]> {
    const isOpen = ({ key }: CatalogEntry): boolean => !this.#listings.has(key) || this.#cached.has(key)
    for (const [{ entry }, cached] of await this.#inventory.read(servers.filter((server) => isOpen(server.entry)))) {
      // a live list may have come meanwhile, and the same entry may be known already
      if (!isOpen(entry) || this.#cached.get(entry.key)?.at === cached.at) continue
      const listing: ToolListing = { tools: cached.tools, generation: 0, diagnostics: [] }
      this.#cached.set(entry.key, cached)
      this.#listings.set(entry.key, listing)
      this.#resolver.directory.update(entry, listing)
      this.#generation++
    }
    return servers.filter(({ entry }) => this.#listings.has(entry.key)).map(({ entry }) => entry)
  }

  /** The offered tools of one server as it was listed last; what a model reads of them is redacted. */
  toolsOf(entry: CatalogEntry): readonly Tool[] {
    const { key } = entry
    const made = this.#made.get(key)
    // another server's list can take a name away, so tools are made anew with every change
    if (made !== undefined && made.generation === this.#generation) return made.tools
    const listing = this.#listings.get(key)
    if (listing === undefined) return []
    const { directory } = this.#resolver
    const { secrets } = this.#host
    const cached = this.#cached.get(key)
    const instructions = (cached === undefined ? this.#host.connections.peek(entry)?.info?.instructions : cached.instructions) ?? ''
    const description = secrets.redact(namespaceDescription(key, instructions))
    const tools = directory.of(key).map((named): Tool => {
      const record = listing.tools.get(named.tool) as ToolRecord
      return Object.freeze({
        name: named.name,
        namespace: named.namespace,
        nameInNamespace: named.nameInNamespace,
        namespaceDescription: description,
        owner: key,
        tool: named.tool,
        title: secrets.redact(record.title),
        description: secrets.redact(record.description),
        inputSchema: secrets.redactJson(record.inputSchema),
        ...(record.outputSchema !== null && { outputSchema: secrets.redactJson(record.outputSchema) }),
        annotations: record.annotations,
        approval: approvalModeOf(entry.registration.policy, named.tool),
        cached: cached !== undefined,
        raw: record.raw,
      })
    })
    this.#made.set(key, { generation: this.#generation, tools })
    return tools
  }
}

/** Of a list that was cut short nobody knows what it lacks. */
const isWhole = ({ diagnostics }: Pick<ToolListing, 'diagnostics'>): boolean => diagnostics.every(({ code }) => code !== 'list_cut_short')

/** Waits for all of it, for so many ms (undefined: no limit), or until the signal. */
async function within(all: Promise<unknown>, waitMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (waitMs === 0) return
  let timer: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  const enough = new Promise<void>((resolve) => {
    if (waitMs !== undefined) timer = setTimeout(resolve, waitMs)
    onAbort = resolve
    if (signal?.aborted) resolve()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
  await Promise.race([all, enough])
  clearTimeout(timer)
  if (onAbort) signal?.removeEventListener('abort', onAbort)
}
