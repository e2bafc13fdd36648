/** The tools that a session has of its own: which calls mean one of them. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Explanation } from '../hooks/trace.ts'
import type { CallOptions, PipelineRequest } from '../pipeline/request.ts'
import { callResourceTool, explainResourceTool } from './call-resource-tool.ts'
import type { LiveSession } from './live-session.ts'
import { resourceToolNamed, resourceTools } from './resource-tools.ts'
import type { ResourceTool, ResourceToolKind } from './resource-tools.ts'

/** None where the configuration does not ask for them. */
export class OwnTools {
  readonly offered: readonly ResourceTool[]
  readonly #session: LiveSession

  constructor(session: LiveSession, isAsked: boolean) {
    this.#session = session
    this.offered = isAsked ? resourceTools(session.resolver.takesEnvironment) : []
  }

  /** undefined for a call of any other tool. */
  call(request: PipelineRequest, options: CallOptions): Promise<CallOutcome> | undefined {
    const kind = this.#meant(request)
    return kind && callResourceTool(this.#session, kind, request.arguments, options)
  }

  /** The same for an explanation. */
  explain(request: PipelineRequest, options: CallOptions): Promise<Explanation> | undefined {
    const kind = this.#meant(request)
    return kind && explainResourceTool(this.#session, kind, request.arguments, options)
  }

  #meant({ target }: PipelineRequest): ResourceToolKind | undefined {
    return this.offered.length > 0 && target.by === 'name' && !target.namespace ? resourceToolNamed(target.name) : undefined
  }
}
