/** Leaf room: MCP shapes in loose form. Unknown members are kept as they came, so every object has an open tail. */
import type { Json, JsonObject } from './json.ts'

interface Open {
  readonly _meta?: JsonObject
  readonly [other: string]: unknown
}

/** Hints of a tool (MCP `ToolAnnotations`); absent ones count as destructive and open-world. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** Text, blob or other contents of a resource. `blob` is base64. */
export interface ResourceContents extends Open {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
}

/** The block types of MCP 2025-11-25 by their `type`. */
export interface ContentByType {
  readonly text: { readonly type: 'text'; readonly text: string }
  readonly image: { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  readonly audio: { readonly type: 'audio'; readonly data: string; readonly mimeType: string }
  readonly resource_link: { readonly type: 'resource_link'; readonly uri: string; readonly name: string; readonly mimeType?: string }
  readonly resource: { readonly type: 'resource'; readonly resource: ResourceContents }
}

/** A block of a result. `type` is open: a block of a later revision arrives as it is. Narrow with `isContent`. */
export interface ContentBlock extends Open {
  readonly type: string
}

/** True for a block of this type; narrows it. */
export function isContent<T extends keyof ContentByType>(block: ContentBlock, type: T): block is ContentBlock & ContentByType[T] {
  return block.type === type
}

/** What a tool answered, with every unknown field. */
export interface ToolResult extends Open {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: JsonObject
  /** the tool's own failure; the call as such is `completed` */
  readonly isError?: boolean
}

export interface ReadResourceResult extends Open {
  readonly contents: readonly ResourceContents[]
}
export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlock
}
export interface GetPromptResult extends Open {
  readonly description?: string
  readonly messages: readonly PromptMessage[]
}
export interface CompleteResult extends Open {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }
}
/** One merged list: the pages of a server are followed before it is given. */
export interface ListResult extends Open {
  readonly nextCursor?: string
}

/** What each method that goes through the pipeline answers. */
export interface ResultByMethod {
  readonly 'tools/call': ToolResult
  readonly 'resources/list': ListResult
  readonly 'resources/templates/list': ListResult
  readonly 'resources/read': ReadResourceResult
  readonly 'prompts/list': ListResult
  readonly 'prompts/get': GetPromptResult
  readonly 'completion/complete': CompleteResult
}
/** MCP methods that go through the pipeline. */
export type Method = keyof ResultByMethod
export type ResultOf<M extends Method> = ResultByMethod[M]

/** A `notifications/progress` as the caller sees it. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Restricted JSON Schema of an elicitation form: a flat object of primitives. */
export interface FormSchema {
  readonly type: 'object'
  readonly properties: JsonObject
  readonly required?: readonly string[]
}
/** What a server asks of a model. */
export interface SamplingRequest extends Open {
  readonly messages: readonly PromptMessage[]
  readonly maxTokens: number
  readonly systemPrompt?: string
}
/** What the model said. */
export interface SamplingResult extends Open {
  readonly role: 'assistant'
  readonly model: string
  readonly content: Json
  readonly stopReason?: string
}
/** A folder that a server may work in. */
export interface Root extends Open {
  readonly uri: string
  readonly name?: string
}
