/** The tools by which a name or a call is judged. */
import type { Connection, ToolListing } from '../connections/connection.ts'

/** The list of a server, started where that is needed. A notice that came during the start made that list stale at once, so it is asked for once more; one that is stale again is compared before the write. Rejects like `ready`. */
export async function currentList(connection: Connection, signal: AbortSignal): Promise<ToolListing> {
  await connection.ready({ signal })
  return connection.tools ?? connection.ready({ signal })
}
