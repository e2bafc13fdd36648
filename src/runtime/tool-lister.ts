/** The tools of a session: what is listed, what is still starting, what failed. */
import type { ToolListing, ToolRecord } from '../connections/connection.ts'
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
import type { ListToolsOptions, Tool, ToolList } from './types.ts'
import { matchesQuery } from './server-query.ts'

interface ListerHost extends Pick<PipelineHost, 'connection' | 'secrets'> {
  readonly connections: Pick<SessionConnections, 'peek'>
}

/** Keeps the lists that were seen last, and makes the session's tools of them. */
export class ToolLister {
  readonly #host: ListerHost
  readonly #resolver: Resolver
  readonly #listings = new Map<ServerKey, ToolListing>()
  readonly #made = new Map<ServerKey, { readonly generation: number; readonly tools: readonly Tool[] }>()
  #generation = 0

  constructor(host: ListerHost, resolver: Resolver) {
    this.#host = host
    this.#resolver = resolver
  }

  /** changes when, and only when, the list does */
  get generation(): number {
    return this.#generation
  }

  get diagnostics(): readonly Diagnostic[] {
    const { secrets } = this.#host
    const lists = [...this.#listings].flatMap(([key, { tools, diagnostics }]) => {
      const policy = this.#resolver.view.get(key)?.registration.policy
      // of a list that was cut short nobody knows what it lacks
      const isWhole = diagnostics.every(({ code }) => code !== 'list_cut_short')
      const unmatched = policy && isWhole ? unmatchedNames(key, policy, tools) : null
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
    this.#listings.set(entry.key, listing)
    this.#resolver.directory.update(entry, listing)
    this.#generation++
    return true
  }

  /** Starts every server that matches and is not running, waits as long as it may, and gives what is there. Never rejects because of a server. */
  async list({ waitMs, signal, ...query }: ListToolsOptions): Promise<ToolList> {
    const errors = new Map<ServerKey, TaplineError>()
    const pending = new Set<ServerKey>()
    const entries = this.#resolver.view.servers.filter((entry) => entry.registration.policy.enabled && matchesQuery(entry, query))
    const starts: Promise<void>[] = []
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
    await within(Promise.all(starts), waitMs, signal)
    return {
      tools: entries.filter(({ key }) => !pending.has(key) && !errors.has(key)).flatMap((entry) => this.toolsOf(entry)),
      pending: entries.filter(({ key }) => pending.has(key)).map(({ key }) => key),
      errors: [...errors].map(([owner, error]) => ({ owner, error })),
      generation: this.#generation,
    }
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
    const instructions = this.#host.connections.peek(entry)?.info?.instructions ?? ''
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
        raw: record.raw,
      })
    })
    this.#made.set(key, { generation: this.#generation, tools })
    return tools
  }
}

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
