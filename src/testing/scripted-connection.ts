/** One connection to a scripted server: JSON-RPC, line by line. */
import type { MemoryDuplex } from '../connections/executors/memory.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { ToolResult } from '../mcp.ts'
import type { ScriptedServerSpec, ScriptedTool } from './types.ts'

const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const RESOURCE_NOT_FOUND = -32002

/** An answer that is a JSON-RPC error. */
class Refusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Told of every message that arrives, before it is answered. */
export type OnMessage = (method: string, params: JsonObject) => void

/** The server's side of one connection. */
export class ScriptedConnection {
  readonly #server: ScriptedServerSpec
  readonly #duplex: MemoryDuplex
  readonly #onMessage: OnMessage
  readonly #ended = new AbortController()
  readonly #running = new Map<Json, AbortController>()

  constructor(server: ScriptedServerSpec, duplex: MemoryDuplex, onMessage: OnMessage) {
    this.#server = server
    this.#duplex = duplex
    this.#onMessage = onMessage
  }

  /** Answers until the host closes the pipes. */
  async run(): Promise<void> {
    try {
      for await (const line of this.#duplex.lines) this.#receive(JSON.parse(line) as JsonObject)
    } finally {
      this.#end('the connection has ended')
    }
  }

  toolsChanged(): void {
    this.#duplex.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }

  crash(): void {
    this.#duplex.log('crashed by the test\n')
    this.#duplex.exit(1)
    this.#end('the server has crashed')
  }

  #end(why: string): void {
    this.#ended.abort(new Error(why))
  }

  #receive({ id, method, params }: JsonObject): void {
    if (typeof method !== 'string') return
    const given = isJsonObject(params) ? params : {}
    this.#onMessage(method, given)
    if (id !== undefined) void this.#answer(id, method, given)
    else if (method === 'notifications/cancelled') this.#running.get(given['requestId'] ?? null)?.abort(new Error('the call was cancelled'))
  }

  async #answer(id: Json, method: string, params: JsonObject): Promise<void> {
    const cancelled = new AbortController()
    this.#running.set(id, cancelled)
    try {
      const result = await this.#result(method, params, AbortSignal.any([cancelled.signal, this.#ended.signal]))
      this.#duplex.send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      const code = error instanceof Refusal ? error.code : INVALID_PARAMS
      this.#duplex.send({ jsonrpc: '2.0', id, error: { code, message: textOf(error) } })
    } finally {
      this.#running.delete(id)
    }
  }

  #result(method: string, params: JsonObject, signal: AbortSignal): object | Promise<object> {
    const { tools = {}, resources = {}, resourceTemplates = [], prompts = {}, complete } = this.#server
    switch (method) {
      case 'initialize':
        return this.#introduction(params)
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: Object.entries(tools).map(listed) }
      case 'tools/call':
        return call(tools, params, signal)
      case 'resources/list':
        return { resources: Object.keys(resources).map((uri) => ({ uri, name: uri, mimeType: 'text/plain' })) }
      case 'resources/templates/list':
        return { resourceTemplates: resourceTemplates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })) }
      case 'resources/read':
        return read(resources, params['uri'])
      case 'prompts/list':
        return { prompts: Object.keys(prompts).map((name) => ({ name })) }
      case 'prompts/get':
        return prompt(prompts, params)
      case 'completion/complete':
        if (complete !== undefined) return { completion: { values: complete(params) } }
        throw new Refusal(METHOD_NOT_FOUND, 'this scripted server completes nothing')
      default:
        throw new Refusal(METHOD_NOT_FOUND, `a scripted server does not know ${method}`)
    }
  }

  #introduction({ protocolVersion }: JsonObject): object {
    const { resources, resourceTemplates, prompts, complete, experimental, instructions } = this.#server
    return {
      protocolVersion,
      capabilities: {
        tools: { listChanged: true },
        ...((resources ?? resourceTemplates) && { resources: {} }),
        ...(prompts && { prompts: {} }),
        ...(complete && { completions: {} }),
        ...(experimental && { experimental }),
      },
      serverInfo: { name: 'scripted', version: '1.0.0' },
      ...(instructions !== undefined && { instructions }),
    }
  }
}

function listed([name, { description, inputSchema, outputSchema, annotations }]: [string, ScriptedTool]): object {
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: inputSchema ?? { type: 'object' },
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  }
}

async function call(tools: Readonly<Record<string, ScriptedTool>>, params: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const { name, arguments: args, _meta: meta } = params
  const tool = typeof name === 'string' && Object.hasOwn(tools, name) ? tools[name] : undefined
  if (tool === undefined) throw new Refusal(INVALID_PARAMS, `there is no tool ${JSON.stringify(name)}`)
  const given = isJsonObject(args) ? args : {}
  try {
    const result: unknown = tool.run ? await tool.run(given, { meta: isJsonObject(meta) ? meta : {}, signal }) : JSON.stringify(given)
    if (typeof result === 'string') return { content: [{ type: 'text', text: result }] }
    if (isJsonObject(result)) return result as object as ToolResult
    // without a result there would be no answer, and the call would hang
    throw new TypeError(`the scripted tool ${JSON.stringify(name)} returned neither text nor a result`)
  } catch (error) {
    return { content: [{ type: 'text', text: textOf(error) }], isError: true }
  }
}

function read(resources: Readonly<Record<string, string>>, uri: Json | undefined): object {
  if (typeof uri !== 'string' || !Object.hasOwn(resources, uri)) {
    throw new Refusal(RESOURCE_NOT_FOUND, `there is no resource ${JSON.stringify(uri)}`)
  }
  return { contents: [{ uri, mimeType: 'text/plain', text: resources[uri] }] }
}

function prompt(prompts: NonNullable<ScriptedServerSpec['prompts']>, { name, arguments: args }: JsonObject): object {
  const make = typeof name === 'string' && Object.hasOwn(prompts, name) ? prompts[name] : undefined
  if (make === undefined) throw new Refusal(INVALID_PARAMS, `there is no prompt ${JSON.stringify(name)}`)
  const text = make((isJsonObject(args) ? args : {}) as Readonly<Record<string, string>>)
  return { messages: [{ role: 'user', content: { type: 'text', text } }] }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
