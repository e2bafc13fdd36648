/** The names of one session under the scheme `codex`: whoever comes or goes may change the names of others. */
import type { CodexNamingOptions } from './codex-naming.ts'
import { codexNames, codexNamespace } from './codex-naming.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { ServerKey } from './key.ts'
import type { ToolName } from './naming-scheme.ts'
import { nameCollision, type NamedTool, type Names } from './name-table.ts'

interface Current {
  readonly byOwner: ReadonlyMap<ServerKey, readonly NamedTool[]>
  readonly byPair: ReadonlyMap<string, NamedTool>
  readonly byName: ReadonlyMap<string, readonly NamedTool[]>
}

/** Made anew after a change, when somebody asks. */
export class CodexNameTable implements Names {
  readonly #options: CodexNamingOptions
  readonly #lists = new Map<ServerKey, readonly string[]>()
  #current: Current | null = null

  constructor(options: CodexNamingOptions) {
    this.#options = options
  }

  set(owner: ServerKey, tools: Iterable<string>): void {
    this.#lists.set(owner, [...tools])
    this.#current = null
  }

  delete(owner: ServerKey): void {
    if (this.#lists.delete(owner)) this.#current = null
  }

  find(name: string): NamedTool | undefined {
    const claims = this.#names().byName.get(name)
    return claims?.length === 1 ? claims[0] : undefined
  }

  findIn(namespace: string, nameInNamespace: string): NamedTool | undefined {
    return this.#names().byPair.get(`${namespace}\0${nameInNamespace}`)
  }

  /** Those whose flat name is theirs alone: within their namespaces all of them have names of their own. */
  of(owner: ServerKey): readonly NamedTool[] {
    return (this.#names().byOwner.get(owner) ?? []).filter(({ name }) => this.find(name) !== undefined)
  }

  /** The one that its tools have, or would have. */
  namespace(owner: ServerKey): string {
    return this.#names().byOwner.get(owner)?.[0]?.namespace ?? codexNamespace(owner, this.#options)
  }

  nameOf(owner: ServerKey, tool: string): ToolName {
    return codexNames([{ owner, tool }], this.#options)[0] as NamedTool
  }

  /** Every server may be the one: its namespace may be cut, or have a hash once the others are known. */
  mayName(): boolean {
    return true
  }

  *names(): IterableIterator<string> {
    for (const [name, claims] of this.#names().byName) if (claims.length === 1) yield name
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#names().byName]
      .filter(([, claims]) => claims.length > 1)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, claims]) => nameCollision(name, claims))
  }

  #names(): Current {
    this.#current ??= read(this.#lists, this.#options)
    return this.#current
  }
}

function read(lists: ReadonlyMap<ServerKey, readonly string[]>, options: CodexNamingOptions): Current {
  const byOwner = new Map<ServerKey, NamedTool[]>()
  const byPair = new Map<string, NamedTool>()
  const byName = new Map<string, NamedTool[]>()
  const tools = [...lists].flatMap(([owner, names]) => names.map((tool) => ({ owner, tool })))
  for (const named of codexNames(tools, options)) {
    Object.freeze(named)
    byPair.set(`${named.namespace}\0${named.nameInNamespace}`, named)
    for (const [map, key] of [
      [byOwner, named.owner],
      [byName, named.name],
    ] as readonly [Map<unknown, NamedTool[]>, unknown][]) {
      const known = map.get(key)
      if (known) known.push(named)
      else map.set(key, [named])
    }
  }
  return { byOwner, byPair, byName }
}
