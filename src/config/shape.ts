/** What one key may hold: the one description that both the readers and the JSON Schema for editors go by. */
import type { Bounds } from '../documents/bounds.ts'
import { LONGEST_SEC } from '../documents/bounds.ts'
import type { JsonObject } from '../json.ts'

/** A key of an object. */
export interface Shape {
  /** one line for the person who writes it */
  readonly says: string
  /** JSON Schema (draft-07) of its value */
  readonly schema: JsonObject
}
/** The keys of one kind of object. */
export type Shapes = Readonly<Record<string, Shape>>

export type { Bounds }

const TEXT: JsonObject = { type: 'string' }
const WORD: JsonObject = { type: 'string', minLength: 1 }

export const text = (says: string): Shape => ({ says, schema: TEXT })
/** text that is not empty */
export const word = (says: string, more: JsonObject = {}): Shape => ({ says, schema: { ...WORD, ...more } })
export const truth = (says: string): Shape => ({ says, schema: { type: 'boolean' } })
export const seconds = (says: string): Shape => ({ says, schema: { type: 'number', exclusiveMinimum: 0, maximum: LONGEST_SEC } })
export const texts = (says: string): Shape => ({ says, schema: { type: 'array', items: TEXT } })
/** name → text; `names` is what every name fits */
export const textMap = (says: string, names: RegExp): Shape => ({
  says,
  schema: { type: 'object', propertyNames: { pattern: names.source }, additionalProperties: TEXT },
})
export const whatever = (says: string, schema: JsonObject): Shape => ({ says, schema })

export const choice = (choices: readonly string[], says: string): Shape => ({ says, schema: { enum: choices } })
/** a whole number within the bounds */
export const whole = ({ least, most }: Bounds, says: string): Shape => ({
  says,
  schema: { type: 'integer', minimum: least, maximum: most },
})

/** The names of the keys. */
export const keysOf = (shapes: Shapes): readonly string[] => Object.keys(shapes)

/** `toolTimeoutSec` → `tool_timeout_sec`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schema of an object with these keys, in both spellings, and no others. */
export function objectSchema(shapes: Shapes, more: JsonObject = {}): JsonObject {
  const described = Object.entries(shapes).map(([name, { says, schema }]): [string, JsonObject] => [name, { description: says, ...schema }])
  // a pattern and no property: editors offer one spelling, and take both
  const snake = described.filter(([name]) => snakeCase(name) !== name).map(([name, schema]) => [`^${snakeCase(name)}$`, schema] as const)
  return {
    type: 'object',
    properties: Object.fromEntries(described),
    ...(snake.length > 0 && { patternProperties: Object.fromEntries(snake) }),
    additionalProperties: false,
    ...more,
  }
}
