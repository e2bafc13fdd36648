/** Resources of all servers under unique URIs, and the servers that own them. */
import { TaplineError } from '../errors.ts'
import type { Json } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { CallOptions, Session } from '../runtime/types.ts'
import type { ServerKey } from '../servers/key.ts'
import { withinListTime } from './list-limit.ts'
import { isUnique, prefixOf, splitUri, uniqueUri } from './resource-uri.ts'

/** How many URIs of servers are known; the oldest are forgotten. */
const MOST_KNOWN = 10_000

/** Lists and reads; finds the owner of a URI. */
export class OfferedResources {
  /** servers that were not there yet when their resources were asked for */
  readonly missed: Set<ServerKey> = new Set()
  readonly #session: Session
  /** the server's own URI → servers that have listed it or answered with it */
  readonly #known = new Map<string, Set<ServerKey>>()
  #wasListed = false

  constructor(session: Session) {
    this.#session = session
  }

  async list(signal: AbortSignal | undefined): Promise<{ readonly resources: readonly object[] }> {
    const { items, errors } = await withinListTime(signal, (limit) => this.#session.listResources({ signal: limit }))
    for (const { owner, error } of errors) if (error.code === 'CALL_CANCELLED') this.missed.add(owner)
    for (const { owner, uri } of items) this.#learn(owner, uri)
    this.#wasListed = true
    return { resources: items.map(({ owner, uri, raw }) => ({ ...raw, uri: uniqueUri(owner, uri) })) }
  }

  async templates(signal: AbortSignal): Promise<{ readonly resourceTemplates: readonly object[] }> {
    const { items, errors } = await withinListTime(signal, (limit) => this.#session.listResourceTemplates({ signal: limit }))
    for (const { owner, error } of errors) if (error.code === 'CALL_CANCELLED') this.missed.add(owner)
    return {
      resourceTemplates: items.map(({ owner, uriTemplate, raw }) => ({ ...raw, uriTemplate: uniqueUri(owner, uriTemplate) })),
    }
  }

  /** By its unique URI, or by the server's own where only one server can be meant (a link in a result is left as it is). */
  async read(text: string, options: CallOptions): Promise<object> {
    const { owner: key, uri } = await this.find(text, options.signal)
    const { owner, contents, ...rest } = await this.#session.readResource({ owner: key, uri }, options)
    return {
      ...rest,
      contents: contents.map((one) => (typeof one.uri === 'string' ? { ...one, uri: uniqueUri(owner, one.uri) } : one)),
    }
  }

  /** Rejects with UNKNOWN_SERVER, AMBIGUOUS_SERVER. */
  async find(text: string, signal: AbortSignal | undefined): Promise<{ readonly owner: ServerKey; readonly uri: string }> {
    const split = splitUri(text)
    if (split !== null) {
      const server = this.#session.servers.find(({ owner }) => prefixOf(owner) === split.owner)
      if (server !== undefined) return { owner: server.owner, uri: split.uri }
      throw new TaplineError('UNKNOWN_SERVER', `no server has the resource ${shown(text)}`)
    }
    // a server that links it may not be the only one that has it
    if (!this.#wasListed || !this.#known.has(text)) await this.list(signal)
    const owners = [...(this.#known.get(text) ?? [])]
    if (owners.length === 1) return { owner: owners[0]!, uri: text }
    if (owners.length === 0) throw new TaplineError('UNKNOWN_SERVER', `no server has the resource ${shown(text)}`)
    throw new TaplineError('AMBIGUOUS_SERVER', `the resource ${shown(text)} is there in ${owners.join(', ')}`, {
      remedy: 'Read it by the URI that resources/list gives.',
    })
  }

  /** Remembers whose the links of a result are. They stay as they are, but for one that reads like a unique URI: that would be the one of another server. */
  linked(owner: ServerKey, content: readonly Json[]): readonly Json[] {
    const own = (uri: string): string => {
      if (isUnique(uri)) return uniqueUri(owner, uri)
      this.#learn(owner, uri)
      return uri
    }
    return content.map((block) => {
      if (!isJsonObject(block)) return block
      const { type, uri, resource } = block
      if (type === 'resource_link' && typeof uri === 'string') return { ...block, uri: own(uri) }
      if (type !== 'resource' || !isJsonObject(resource) || typeof resource['uri'] !== 'string') return block
      return { ...block, resource: { ...resource, uri: own(resource['uri']) } }
    })
  }

  #learn(owner: ServerKey, uri: string): void {
    const owners = this.#known.get(uri)
    if (owners !== undefined) {
      owners.add(owner)
      return
    }
    this.#known.set(uri, new Set([owner]))
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value as string)
  }
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 200))
