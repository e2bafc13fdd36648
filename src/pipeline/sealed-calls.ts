/** What is decided about calls of one session. As long as nothing of it changes, all calls of a tool share one frozen decision: what differs between them is in their runs. */
import type { Connection, ToolListing, ToolRecord } from '../connections/connection.ts'
import { SealedCall, type Sealing } from '../hooks/sealed-call.ts'
import type { Method } from '../mcp.ts'
import type { CatalogEntry } from '../servers/catalog.ts'
import { approvalModeOf } from '../servers/definition.ts'
import type { Environment } from '../servers/environment.ts'
import { needOf } from './approval-rule.ts'
import type { PipelineHost } from './host.ts'

type Session = Pick<PipelineHost, 'sessionId' | 'flags' | 'catalogGeneration' | 'resolver'>
type Facts = Pick<Sealing, 'sessionId' | 'flags' | 'catalogGeneration' | 'naming'>

/** What a resolver found for one call. */
interface Found {
  readonly entry: CatalogEntry
  readonly connection: Connection
  readonly environment: Environment
}

/** The decisions of one session. */
export class SealedCalls {
  readonly #facts: Facts
  readonly #known = new WeakMap<ToolRecord, SealedCall>()

  constructor({ sessionId, flags, catalogGeneration, resolver }: Session) {
    this.#facts = { sessionId, flags, catalogGeneration, naming: resolver }
  }

  /** For a call of a tool, by the definition that it is judged by. */
  ofTool(found: Found, listing: ToolListing, tool: ToolRecord): SealedCall {
    const { entry, connection, environment } = found
    const known = this.#known.get(tool)
    if (
      known !== undefined &&
      known.listing === listing &&
      known.entry === entry &&
      known.connection === connection &&
      known.environment === environment &&
      known.governance === environment.governance &&
      known.wasReplaced === environment.replaced
    )
      return known
    const { governance } = environment
    const { policy } = entry.registration
    const mode = approvalModeOf(policy, tool.name)
    const need = needOf(mode, policy, tool, governance)
    const question = need === 'ask' ? Object.freeze({ mode, text: `Allow ${entry.key} to run ${tool.title}?` }) : null
    const call = new SealedCall({ ...this.#facts, ...found, method: 'tools/call', target: tool.name, listing, tool, mode, need, question })
    this.#known.set(tool, call)
    return call
  }

  /** For a request of another method. `target`: uri or prompt; the empty string for lists. */
  of(found: Found, method: Method, target: string): SealedCall {
    return new SealedCall({
      ...this.#facts,
      ...found,
      method,
      target,
      listing: null,
      tool: null,
      mode: 'approve',
      need: 'run',
      question: null,
    })
  }
}
