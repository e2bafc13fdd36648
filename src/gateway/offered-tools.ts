/** The tools of all servers as the client lists them. */
import type { ServerKey } from '../servers/key.ts'
import type { Session, Tool } from '../runtime/types.ts'
import { LIST_MS } from './list-limit.ts'
import { needsTask, resourceToolEntry, toolEntry } from './tool-entry.ts'

/** Lists tools, and remembers what may not be called. */
export class OfferedTools {
  readonly #session: Session
  readonly #note: (line: string) => void
  readonly #last = new Map<ServerKey, readonly Tool[]>()
  readonly #told = new Set<string>()
  /** names of tools that only run as tasks */
  #tasks: ReadonlySet<string> = new Set()

  constructor(session: Session, note: (line: string) => void) {
    this.#session = session
    this.#note = note
  }

  /** What is there after at most 5 s: the tools of servers that are still starting come with `list_changed`. */
  async list(signal: AbortSignal): Promise<{ readonly tools: readonly object[] }> {
    const { tools, resourceTools, pending, errors } = await this.#session.listTools({ waitMs: LIST_MS, signal })
    for (const { owner, error } of errors) {
      this.#last.delete(owner)
      if (this.#told.has(error.message)) continue
      this.#told.add(error.message)
      this.#note(`${owner}: ${error.message}`)
    }
    const byOwner = grouped(tools)
    for (const owner of this.#last.keys()) if (!byOwner.has(owner) && !pending.includes(owner)) this.#last.delete(owner)
    for (const [owner, own] of byOwner) this.#last.set(owner, own)
    // one that is being listed anew keeps what it had until that is known
    const listed = [...this.#last.values()].flat()
    this.#tasks = new Set(listed.filter(needsTask).map(({ name }) => name))
    return { tools: [...listed.map(toolEntry), ...resourceTools.map(resourceToolEntry)] }
  }

  /** Why a listed tool cannot be called, or null. */
  refusal(name: string): string | null {
    return this.#tasks.has(name) ? `the tool ${name} needs task execution, which is not supported here` : null
  }
}

function grouped(tools: readonly Tool[]): ReadonlyMap<ServerKey, readonly Tool[]> {
  const byOwner = new Map<ServerKey, Tool[]>()
  for (const tool of tools) {
    const own = byOwner.get(tool.owner)
    if (own) own.push(tool)
    else byOwner.set(tool.owner, [tool])
  }
  return byOwner
}
