/** `tapline/openai`: tools, calls and outputs of the Responses API. Plain data that fits the types of `openai`; the package is not imported. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { ResourceTool, Tool, ToolCallRequest } from '../runtime/types.ts'
import { objectSchema } from './object-schema.ts'
import { resultBlock } from './result-block.ts'

/** A function tool. `strict` is false: schemas of MCP servers seldom meet the strict mode. */
export interface FunctionTool {
  type: 'function'
  name: string
  description: string
  parameters: { [key: string]: unknown }
  strict: false
}
/** The tools of one server under one name. */
export interface NamespaceTool {
  type: 'namespace'
  name: string
  description: string
  tools: FunctionTool[]
}
/** One part of an output. */
export type OutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string }
/** The output of one call. */
export interface FunctionCallOutput {
  type: 'function_call_output'
  call_id: string
  output: string | OutputPart[]
}

/** Tools with their flat names. */
export function toTools(tools: readonly (Tool | ResourceTool)[]): FunctionTool[] {
  return tools.map((tool) => functionTool(tool, tool.name))
}

/** One namespace a server, in the order of the tools; the model answers with `namespace` and `name`. */
export function toNamespaces(tools: readonly Tool[]): NamespaceTool[] {
  const found = new Map<string, NamespaceTool>()
  for (const tool of tools) {
    let namespace = found.get(tool.namespace)
    if (namespace === undefined) {
      namespace = { type: 'namespace', name: tool.namespace, description: tool.namespaceDescription || String(tool.owner), tools: [] }
      found.set(tool.namespace, namespace)
    }
    namespace.tools.push(functionTool(tool, tool.nameInNamespace))
  }
  return [...found.values()]
}

function functionTool({ description, title, inputSchema }: Tool | ResourceTool, name: string): FunctionTool {
  return { type: 'function', name, description: description || title, parameters: objectSchema(inputSchema), strict: false }
}

/** The request of a `function_call` item. Never throws: arguments that are no JSON are handed on as the text that they are, and end as `invalid_request`. */
export function toRequest(item: { readonly name: string; readonly namespace?: string; readonly arguments: string }): ToolCallRequest {
  const { name, namespace } = item
  return { name, ...(namespace != null && { namespace }), arguments: parsed(item.arguments) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What the model is told about the end of its call: text, or parts where there are images or files. */
export function toOutput(item: { readonly call_id: string }, outcome: CallOutcome): FunctionCallOutput {
  const blocks = outcome.forModel.content.map(resultBlock)
  const output = blocks.every(({ kind }) => kind === 'text')
    ? outcome.forModel.text
    : blocks.map((block): OutputPart => {
        if (block.kind === 'text') return { type: 'input_text', text: block.text }
        const data = `data:${block.mimeType};base64,${block.data}`
        return block.kind === 'image'
          ? { type: 'input_image', image_url: data, detail: 'auto' }
          : { type: 'input_file', filename: block.name, file_data: data }
      })
  return { type: 'function_call_output', call_id: item.call_id, output }
}
