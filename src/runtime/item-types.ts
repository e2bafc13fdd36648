/** What listings are made of. */
import type { JsonObject } from '../json.ts'
import type { ServerKey } from '../servers/key.ts'

/** A resource, and whose it is. */
export interface ResourceItem {
  readonly owner: ServerKey
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly raw: JsonObject
}

/** A resource template, and whose it is. */
export interface ResourceTemplateItem {
  readonly owner: ServerKey
  readonly uriTemplate: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly raw: JsonObject
}

/** A prompt, and whose it is. */
export interface PromptItem {
  readonly owner: ServerKey
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** every field as its server listed it, `arguments` among them */
  readonly raw: JsonObject
}
