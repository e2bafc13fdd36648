/** `tapline/anthropic`: tools, calls and results of the Messages API. Plain data that fits the types of `@anthropic-ai/sdk`; the package is not imported. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { ResourceTool, Tool, ToolCallRequest } from '../runtime/types.ts'
import { objectSchema } from './object-schema.ts'
import type { ImageType } from './result-block.ts'
import { resultBlock } from './result-block.ts'

/** A tool of the model. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: 'object'; [key: string]: unknown }
}
/** One part of a result. */
export type ResultPart = { type: 'text'; text: string } | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
/** The result of one `tool_use` block. */
export interface ToolResultBlock {
  type: 'tool_result'
  tool_use_id: string
  is_error: boolean
  content: ResultPart[]
}

/** Tools with their flat names. */
export function toTools(tools: readonly (Tool | ResourceTool)[]): AnthropicTool[] {
  return tools.map(({ name, description, title, inputSchema }) => ({
    name,
    description: description || title,
    input_schema: objectSchema(inputSchema),
  }))
}

/** The request of a `tool_use` block. Never throws: an input that is no object ends as `invalid_request`. */
export function toRequest(block: { readonly name: string; readonly input: unknown }): ToolCallRequest {
  return { name: block.name, arguments: block.input }
}

/** What the model is told about the end of its call. Empty texts are left out, and an error is never without one: the API takes neither. */
export function toOutput(block: { readonly id: string }, outcome: CallOutcome): ToolResultBlock {
  const { forModel } = outcome
  const content = forModel.content.map(partOf).filter((part) => part.type !== 'text' || part.text.trim() !== '')
  if (content.length === 0 && forModel.isError) content.push({ type: 'text', text: 'the tool failed and said nothing' })
  return { type: 'tool_result', tool_use_id: block.id, is_error: forModel.isError, content }
}

function partOf(block: Parameters<typeof resultBlock>[0]): ResultPart {
  const read = resultBlock(block)
  if (read.kind === 'image') return { type: 'image', source: { type: 'base64', media_type: read.mimeType, data: read.data } }
  return { type: 'text', text: read.kind === 'text' ? read.text : `[file ${read.name}, ${read.mimeType}]` }
}
