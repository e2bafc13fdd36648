/** Prompts of all servers under names made like those of tools, and completions for prompts and templates. */
import { TaplineError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { CallOptions, CompletionRequest, PromptRequest, Session } from '../runtime/types.ts'
import type { ServerKey } from '../servers/key.ts'
import { withinListTime } from './list-limit.ts'
import type { OfferedResources } from './offered-resources.ts'
import { invalidParams } from './rpc-fault.ts'

interface Located {
  readonly owner: ServerKey
  /** as its server calls it */
  readonly prompt: string
}

/** Lists, gets, completes; finds the owner of a name. */
export class OfferedPrompts {
  /** servers that were not there yet when their prompts were asked for */
  readonly missed: Set<ServerKey> = new Set()
  readonly #session: Session
  readonly #note: (line: string) => void
  #named: ReadonlyMap<string, Located> = new Map()

  constructor(session: Session, note: (line: string) => void) {
    this.#session = session
    this.#note = note
  }

  async list(signal: AbortSignal | undefined): Promise<{ readonly prompts: readonly object[] }> {
    const { items, errors } = await withinListTime(signal, (limit) => this.#session.listPrompts({ signal: limit }))
    for (const { owner, error } of errors) if (error.code === 'CALL_CANCELLED') this.missed.add(owner)
    const servers = new Map(this.#session.servers.map((server) => [server.owner, server]))
    const named = new Map<string, Located>()
    const twice = new Set<string>()
    const entries = items.map(({ owner, name: prompt, raw }) => {
      const name = `${servers.get(owner)?.namespace}__${prompt}`
      if (named.has(name)) twice.add(name)
      named.set(name, { owner, prompt })
      return { ...raw, name }
    })
    // neither of two is offered, as with tools
    for (const name of twice) {
      named.delete(name)
      this.#note(`two prompts would have the name ${name}: neither is offered`)
    }
    this.#named = named
    return { prompts: entries.filter(({ name }) => named.has(name)) }
  }

  async get(name: string, args: unknown, resources: OfferedResources, options: CallOptions): Promise<object> {
    const { owner: key, prompt } = await this.#find(name, options.signal)
    if (args !== undefined && !isJsonObject(args)) throw invalidParams('arguments must be an object')
    const request = { owner: key, prompt, ...(args !== undefined && { arguments: args }) } as PromptRequest
    const { owner, messages, ...rest } = await this.#session.getPrompt(request, options)
    return {
      ...rest,
      messages: messages.map((message) => withLinks(message as unknown as Json, (block) => resources.linked(owner, [block])[0]!)),
    }
  }

  async complete({ ref, argument, context }: JsonObject, resources: OfferedResources, options: CallOptions): Promise<object> {
    if (!isJsonObject(ref)) throw invalidParams('ref must be an object')
    const { type, name, uri } = ref
    let meant: { readonly owner: ServerKey; readonly ref: CompletionRequest['ref'] }
    if (type === 'ref/prompt' && typeof name === 'string') {
      const { owner, prompt } = await this.#find(name, options.signal)
      meant = { owner, ref: { prompt } }
    } else if (type === 'ref/resource' && typeof uri === 'string') {
      const found = await resources.find(uri, options.signal)
      meant = { owner: found.owner, ref: { uriTemplate: found.uri } }
    } else throw invalidParams('ref must be a ref/prompt with a name or a ref/resource with a uri')
    const request = { ...meant, argument, ...(context !== undefined && { context }) } as unknown as CompletionRequest
    const { owner: _owner, ...result } = await this.#session.complete(request, options)
    return result
  }

  async #find(name: string, signal: AbortSignal | undefined): Promise<Located> {
    if (!this.#named.has(name)) await this.list(signal)
    const found = this.#named.get(name)
    if (found !== undefined) return found
    throw new TaplineError('CALL_INVALID_REQUEST', `no prompt is named ${JSON.stringify(name.slice(0, 140))}`)
  }
}

/** The message with its one block, or each of its list, handed through. */
function withLinks(message: Json, through: (block: Json) => Json): Json {
  if (!isJsonObject(message)) return message
  const { content } = message
  if (content === undefined) return message
  return { ...message, content: Array.isArray(content) ? (content as readonly Json[]).map(through) : through(content) }
}
