/** What is decided about calls of one session. As long as nothing of it changes, all calls of a tool share one frozen decision: what differs between them is in their runs. */
import type { ToolListing, ToolRecord } from '../connections/connection.ts'
import { SealedCall, type Sealing } from '../hooks/sealed-call.ts'
import type { Method } from '../mcp.ts'
import { approvalModeOf } from '../servers/definition.ts'
import { needOf } from './approval-rule.ts'
import type { PipelineHost } from './host.ts'

type Session = Pick<PipelineHost, 'sessionId' | 'flags' | 'catalogGeneration' | 'resolver'>

/** What a resolver found for one call. */
type Found = Pick<Sealing, 'entry' | 'connection' | 'environment'>
/** How a tool is judged. */
type Judged = Pick<Sealing, 'listing' | 'tool' | 'mode' | 'need' | 'question'>

const NO_TOOL: Judged = Object.freeze({ listing: null, tool: null, mode: 'approve', need: 'run', question: null })

// taken early: a decision is shown to nobody
const { get, set } = WeakMap.prototype

/** The decisions of one session. */
export class SealedCalls {
  readonly #session: Session
  readonly #known = new WeakMap<ToolRecord, SealedCall>()

  constructor(session: Session) {
    this.#session = session
  }

  /** For a call of a tool, by the definition that it is judged by. */
  ofTool(found: Found, listing: ToolListing, tool: ToolRecord): SealedCall {
    const { entry, connection, environment } = found
    const { governance } = environment
    const known = get.call(this.#known, tool) as SealedCall | undefined
    if (
      // by its brand, whatever a module has made of WeakMap meanwhile
      SealedCall.is(known) &&
      known.tool === tool &&
      known.listing === listing &&
      known.entry === entry &&
      known.connection === connection &&
      known.environment === environment &&
      known.governance === governance &&
      known.wasReplaced === environment.replaced
    )
      return known
    const { policy } = entry.registration
    const mode = approvalModeOf(policy, tool.name)
    const need = needOf(mode, policy, tool, governance)
    const question = need === 'ask' ? Object.freeze({ mode, text: `Allow ${entry.key} to run ${tool.title}?` }) : null
    const call = this.#seal(found, 'tools/call', tool.name, { listing, tool, mode, need, question })
    set.call(this.#known, tool, call)
    return call
  }

  /** For a request of another method. `target`: uri or prompt; the empty string for lists. */
  of(found: Found, method: Method, target: string): SealedCall {
    return this.#seal(found, method, target, NO_TOOL)
  }

  /** Field by field: an object that others are spread into is slow to read ever after. */
  #seal({ entry, connection, environment }: Found, method: Method, target: string, judged: Judged): SealedCall {
    const { sessionId, flags, catalogGeneration, resolver: naming } = this.#session
    const { listing, tool, mode, need, question } = judged
    return new SealedCall({
      method,
      entry,
      connection,
      environment,
      target,
      listing,
      tool,
      mode,
      need,
      question,
      sessionId,
      flags,
      catalogGeneration,
      naming,
    })
  }
}
