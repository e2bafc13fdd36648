/** What a session offers to the client of the gateway, method by method. */
import type { LogLevel } from '../connections/lessees.ts'
import type { JsonObject } from '../json.ts'
import type { Progress } from '../mcp.ts'
import type { CallOptions, Session, SessionEvent } from '../runtime/types.ts'
import { callResult } from './call-result.ts'
import { ChangeNotice } from './change-notice.ts'
import { OfferedPrompts } from './offered-prompts.ts'
import { OfferedResources } from './offered-resources.ts'
import { OfferedTools } from './offered-tools.ts'
import { uniqueUri } from './resource-uri.ts'
import { invalidParams, methodNotFound } from './rpc-fault.ts'

type Notify = (method: string, params?: JsonObject) => void

/** One session and one client. */
export class OfferedSession {
  readonly #session: Session
  readonly #notify: Notify
  readonly #note: (line: string) => void
  readonly #subscription: Disposable
  readonly #tools: OfferedTools
  readonly #resources: OfferedResources
  readonly #prompts: OfferedPrompts
  readonly #changes: Readonly<Record<'tools' | 'resources' | 'prompts', ChangeNotice>>

  constructor(session: Session, notify: Notify, note: (line: string) => void) {
    this.#session = session
    this.#notify = notify
    this.#note = note
    const notice = (what: string): ChangeNotice => new ChangeNotice(() => notify(`notifications/${what}/list_changed`))
    this.#changes = { tools: notice('tools'), resources: notice('resources'), prompts: notice('prompts') }
    this.#tools = new OfferedTools(session, note)
    this.#resources = new OfferedResources(session)
    this.#prompts = new OfferedPrompts(session, note)
    this.#subscription = session.subscribe((event) => this.#heard(event))
  }

  /** Rejects with TaplineErrors and RpcFaults. */
  async answer(method: string, params: JsonObject, signal: AbortSignal): Promise<object> {
    switch (method) {
      case 'tools/list':
        return this.#changes.tools.during(() => this.#tools.list(signal))
      case 'tools/call':
        return this.#call(params, signal)
      case 'resources/list':
        return this.#changes.resources.during(() => this.#resources.list(signal))
      case 'resources/templates/list':
        return this.#changes.resources.during(() => this.#resources.templates(signal))
      case 'resources/read':
        return this.#resources.read(textAt(params, 'uri'), this.#options(params, signal))
      case 'prompts/list':
        return this.#changes.prompts.during(() => this.#prompts.list(signal))
      case 'prompts/get':
        return this.#prompts.get(textAt(params, 'name'), params['arguments'], this.#resources, this.#options(params, signal))
      case 'completion/complete':
        return this.#prompts.complete(params, this.#resources, this.#options(params, signal))
      case 'logging/setLevel':
        this.#session.setLogLevel(textAt(params, 'level') as LogLevel)
        return {}
      default:
        throw methodNotFound()
    }
  }

  rootsChanged(): void {
    this.#session.rootsChanged()
  }

  /** Stops telling. The session itself is closed by who opened it. */
  close(): void {
    this.#subscription[Symbol.dispose]()
    for (const change of Object.values(this.#changes)) change.close()
  }

  async #call(params: JsonObject, signal: AbortSignal): Promise<object> {
    const name = textAt(params, 'name')
    const refused = this.#tools.refusal(name)
    if (refused !== null) return { content: [{ type: 'text', text: refused }], isError: true }
    const outcome = await this.#session.callTool({ name, arguments: params['arguments'] }, this.#options(params, signal))
    const result = callResult(outcome)
    const { content } = result
    if (outcome.outcome !== 'completed' || outcome.owner === null || !Array.isArray(content)) return result
    return { ...result, content: this.#resources.linked(outcome.owner, content) }
  }

  /** The client's `_meta`, but for its progress token, which is mapped. */
  #options({ _meta: meta }: JsonObject, signal: AbortSignal): CallOptions {
    if (meta === undefined || meta === null || typeof meta !== 'object') return { signal }
    const { progressToken, ...rest } = meta as JsonObject
    return {
      signal,
      ...(Object.keys(rest).length > 0 && { meta: rest }),
      ...((typeof progressToken === 'string' || typeof progressToken === 'number') && {
        onProgress: (progress: Progress) => {
          if (!signal.aborted) this.#notify('notifications/progress', { ...(progress as unknown as JsonObject), progressToken })
        },
      }),
    }
  }

  #heard(event: SessionEvent): void {
    if (event.type === 'tools_changed') this.#changes.tools.changed()
    else if (event.type === 'resources_changed') this.#changes.resources.changed()
    else if (event.type === 'prompts_changed') this.#changes.prompts.changed()
    else if (event.type === 'server_changed') {
      if (event.runtimeStatus !== 'connected') return
      if (this.#resources.missed.delete(event.owner)) this.#changes.resources.changed()
      if (this.#prompts.missed.delete(event.owner)) this.#changes.prompts.changed()
    } else if (event.type === 'elicitation_complete')
      this.#notify('notifications/elicitation/complete', { elicitationId: uniqueUri(event.owner, event.elicitationId) })
    else if (event.type === 'log') {
      const logger = event.logger === null ? String(event.owner) : `${event.owner}: ${event.logger}`
      this.#notify('notifications/message', { level: event.level, logger, data: event.data })
    } else if (event.type === 'diagnostic' && event.diagnostic.severity !== 'info') this.#note(event.diagnostic.message)
  }
}

function textAt(params: JsonObject, key: string): string {
  const value = params[key]
  if (typeof value !== 'string' || value === '') throw invalidParams(`${key} must be text`)
  return value
}
