/** From visible names to owners: nobody splits a name, everybody looks it up here. */
import type { Diagnostic } from './diagnostic.ts'
import { displayKey } from './key.ts'
import type { ServerKey } from './key.ts'
import type { NamingScheme, ToolName } from './naming-scheme.ts'

/** A visible name and what it stands for. */
export interface NamedTool extends ToolName {
  readonly owner: ServerKey
  /** raw name, as the server calls it */
  readonly tool: string
}

/** The names of one session, under whatever scheme. */
export interface Names {
  /** The tools that a server has now, raw, instead of those that it had; a name listed twice counts once. */
  set(owner: ServerKey, tools: Iterable<string>): void
  /** Takes the tools of a server out. */
  delete(owner: ServerKey): void
  /** What a flat name stands for; for any text. */
  find(name: string): NamedTool | undefined
  /** What a name within a namespace stands for. */
  findIn(namespace: string, nameInNamespace: string): NamedTool | undefined
  /** The offered tools of a server. */
  of(owner: ServerKey): readonly NamedTool[]
  namespace(owner: ServerKey): string
  /** The name that a tool has, or would have as the only one of its server. */
  nameOf(owner: ServerKey, tool: string): ToolName
  /** False where no tool of the server can have this flat name. */
  mayName(owner: ServerKey, name: string): boolean
  /** Every offered name. */
  names(): Iterable<string>
  /** `name_collision` for each name that is offered to nobody, with all its parties. */
  readonly diagnostics: readonly Diagnostic[]
}

/** The names of one session. A change of one server costs only that server; a name that two tools would have is given to neither. */
export class NameTable implements Names {
  readonly #naming: NamingScheme
  /** raw tool names in list order */
  readonly #byOwner = new Map<ServerKey, readonly NamedTool[]>()
  readonly #byName = new Map<string, NamedTool[]>()
  readonly #collisions = new Set<string>()

  constructor(naming: NamingScheme, lists: Iterable<readonly [ServerKey, Iterable<string>]> = []) {
    this.#naming = naming
    for (const [owner, tools] of lists) this.set(owner, tools)
  }

  set(owner: ServerKey, tools: Iterable<string>): void {
    this.delete(owner)
    const named = [...new Set(tools)].map((tool): NamedTool => Object.freeze({ ...this.#naming.tool(owner, tool), owner, tool }))
    this.#byOwner.set(owner, named)
    for (const one of named) {
      const claims = this.#byName.get(one.name)
      if (claims === undefined) this.#byName.set(one.name, [one])
      else if (claims.push(one) > 1) this.#collisions.add(one.name)
    }
  }

  delete(owner: ServerKey): void {
    for (const { name } of this.#byOwner.get(owner) ?? []) {
      const left = (this.#byName.get(name) ?? []).filter((claim) => claim.owner !== owner)
      if (left.length === 0) this.#byName.delete(name)
      else this.#byName.set(name, left)
      if (left.length < 2) this.#collisions.delete(name)
    }
    this.#byOwner.delete(owner)
  }

  find(name: string): NamedTool | undefined {
    const claims = this.#byName.get(name)
    return claims?.length === 1 ? claims[0] : undefined
  }

  findIn(namespace: string, nameInNamespace: string): NamedTool | undefined {
    const found = this.find(`${namespace}__${nameInNamespace}`)
    return found?.namespace === namespace ? found : undefined
  }

  /** In the order of its list. */
  of(owner: ServerKey): readonly NamedTool[] {
    return (this.#byOwner.get(owner) ?? []).filter(({ name }) => !this.#collisions.has(name))
  }

  nameOf(owner: ServerKey, tool: string): ToolName {
    return this.#naming.tool(owner, tool)
  }

  namespace(owner: ServerKey): string {
    return this.#naming.namespace(owner)
  }

  mayName(owner: ServerKey, name: string): boolean {
    return name.startsWith(`${this.#naming.namespace(owner)}__`)
  }

  *names(): IterableIterator<string> {
    for (const name of this.#byName.keys()) if (!this.#collisions.has(name)) yield name
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#collisions].sort().map((name) => nameCollision(name, this.#byName.get(name) ?? []))
  }
}

/** `name_collision`: a name that several tools would have. */
export function nameCollision(name: string, claims: readonly NamedTool[]): Diagnostic {
  const parties = claims.map(({ owner, tool }) => `${JSON.stringify(tool.slice(0, 140))} of ${displayKey(owner)}`)
  return {
    code: 'name_collision',
    severity: 'warning',
    message: `${parties.sort().join(' and ')} would both be shown as ${name}: none of them is offered`,
  }
}
