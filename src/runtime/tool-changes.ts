/** What a change of a connection means for the tools of a session. */
import type { Connection } from '../connections/connection.ts'
import { sameJson } from '../json.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { connectionStatus } from './auth-status.ts'
import type { ToolLister } from './tool-lister.ts'
import type { SessionEvent, Tool } from './types.ts'

/** Tools by the name that their server gives them. */
export interface ToolChanges {
  readonly added: readonly Tool[]
  readonly removed: readonly Tool[]
  /** as they are now: any field is another one, or the visible name */
  readonly changed: readonly Tool[]
}

/** Takes the list of a connection over and tells what changed; null: nobody listens. */
export function announce(
  tools: ToolLister,
  entry: CatalogEntry,
  connection: Connection,
  tell: ((event: SessionEvent) => void) | null,
): void {
  const before = tell === null ? [] : tools.toolsOf(entry)
  const isOther = connection.tools !== null && tools.update(entry, connection.tools)
  if (tell === null) return
  const owner = entry.key
  if (isOther) tell({ type: 'tools_changed', owner, generation: tools.generation, ...toolChanges(before, tools.toolsOf(entry)) })
  tell({ type: 'server_changed', owner, runtimeStatus: connectionStatus(connection) })
}

/** Compares two lists; the same definition listed again is no change. */
function toolChanges(before: readonly Tool[], after: readonly Tool[]): ToolChanges {
  const old = new Map(before.map((tool) => [tool.tool, tool]))
  const now = new Set(after.map(({ tool }) => tool))
  const isOther = (tool: Tool, earlier: Tool): boolean => tool.name !== earlier.name || !sameJson(tool.raw, earlier.raw)
  return {
    added: after.filter(({ tool }) => !old.has(tool)),
    removed: before.filter(({ tool }) => !now.has(tool)),
    changed: after.filter((tool) => old.has(tool.tool) && isOther(tool, old.get(tool.tool) as Tool)),
  }
}
