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

/** The names of one session. A change of one server costs only that server; a name that two tools would have is given to neither. */
export class NameTable {
  readonly #naming: NamingScheme
  /** raw tool names in list order */
  readonly #byOwner = new Map<ServerKey, readonly NamedTool[]>()
  readonly #byName = new Map<string, NamedTool[]>()
  readonly #collisions = new Set<string>()

  constructor(naming: NamingScheme, lists: Iterable<readonly [ServerKey, Iterable<string>]> = []) {
    this.#naming = naming
    for (const [owner, tools] of lists) this.set(owner, tools)
  }

  /** The tools that a server has now, raw, instead of those that it had; a name listed twice counts once. */
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

  /** Takes the tools of a server out. */
  delete(owner: ServerKey): void {
    for (const { name } of this.#byOwner.get(owner) ?? []) {
      const left = (this.#byName.get(name) ?? []).filter((claim) => claim.owner !== owner)
      if (left.length === 0) this.#byName.delete(name)
      else this.#byName.set(name, left)
      if (left.length < 2) this.#collisions.delete(name)
    }
    this.#byOwner.delete(owner)
  }

  /** What a flat name stands for; for any text. */
  find(name: string): NamedTool | undefined {
    const claims = this.#byName.get(name)
    return claims?.length === 1 ? claims[0] : undefined
  }

  /** What a name within a namespace stands for. */
  findIn(namespace: string, nameInNamespace: string): NamedTool | undefined {
    const found = this.find(`${namespace}__${nameInNamespace}`)
    return found?.namespace === namespace ? found : undefined
  }

  /** The offered tools of a server, in the order of its list. */
  of(owner: ServerKey): readonly NamedTool[] {
    return (this.#byOwner.get(owner) ?? []).filter(({ name }) => !this.#collisions.has(name))
  }

  /** The name of a tool, offered or not. */
  nameOf(owner: ServerKey, tool: string): ToolName {
    return this.#naming.tool(owner, tool)
  }

  /** Every offered name. */
  *names(): IterableIterator<string> {
    for (const name of this.#byName.keys()) if (!this.#collisions.has(name)) yield name
  }

  /** `name_collision` for each name that is offered to nobody, with all its parties. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.#collisions].sort().map((name): Diagnostic => {
      const parties = (this.#byName.get(name) ?? []).map(
        ({ owner, tool }) => `${JSON.stringify(tool.slice(0, 140))} of ${displayKey(owner)}`,
      )
      return {
        code: 'name_collision',
        severity: 'warning',
        message: `${parties.sort().join(' and ')} would both be shown as ${name}: none of them is offered`,
      }
    })
  }
}
