/** A tool as its server listed it. */
import type { JsonObject } from '../json.ts'
import { deepFreeze, digest, isJsonObject } from '../json.ts'
import type { ToolAnnotations } from '../mcp.ts'
import type { ToolRecord } from './connection.ts'

/** Deepest nesting of a listed tool: canonical form, digest and redaction are recursive. */
const DEEPEST = 1000
const ANY_OBJECT: JsonObject = Object.freeze({ type: 'object' })
const NOTHING: JsonObject = Object.freeze({})

class ListedTool implements ToolRecord {
  readonly name: string
  readonly raw: JsonObject
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | null
  #digest: string | null = null

  constructor(name: string, raw: JsonObject) {
    const { title, description, annotations, inputSchema, outputSchema } = raw
    const hints = isJsonObject(annotations) ? annotations : NOTHING
    this.name = name
    this.raw = raw
    this.title = text(title) ?? text(hints['title']) ?? name
    this.description = text(description) ?? ''
    this.annotations = hints
    this.inputSchema = isJsonObject(inputSchema) ? inputSchema : ANY_OBJECT
    this.outputSchema = isJsonObject(outputSchema) ? outputSchema : null
    Object.freeze(this)
  }

  get digest(): string {
    return (this.#digest ??= digest(this.raw))
  }
}

/** The frozen record of one listed item; null for what has no name or is nested deeper than 1,000 levels. */
export function toolRecord(item: JsonObject): ToolRecord | null {
  const { name } = item
  return typeof name === 'string' && name !== '' && isShallow(item, DEEPEST) ? new ListedTool(name, deepFreeze(item)) : null
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1))
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
