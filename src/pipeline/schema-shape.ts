/** What a foreign JSON Schema is like: how large, how deep, whether it says anything at all. */
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** bytes of JSON text */
const LARGEST = 256 * 1024
const DEEPEST = 64

/** Keywords that say nothing about which values are valid. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'format',
])
const WITH_SCHEMA: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const WITH_SCHEMAS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
const WITH_NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
/** `$id` could clash or lead elsewhere, `$async` would make the check asynchronous, the dialect is chosen by us. */
const REMOVED: ReadonlySet<string> = new Set(['$id', 'id', '$async', '$schema'])

/** Bytes of JSON text and every key at any depth; or why the schema is too much to be looked at (one phrase). */
export function measureSchema(schema: JsonObject): { readonly bytes: number; readonly keys: ReadonlySet<string> } | string {
  const keys = new Set<string>()
  if (!collectKeys(schema, keys, DEEPEST)) return `is nested more than ${DEEPEST} levels deep`
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  return bytes > LARGEST ? `is larger than ${LARGEST / 1024} KiB` : { bytes, keys }
}

/** True where `items` is a list somewhere: the tuple of draft-07 and older, which 2020-12 does not have. */
export function hasTuple(schema: Json): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  if (Array.isArray(schema)) return schema.some(hasTuple)
  return Object.entries(schema as JsonObject).some(([key, member]) => (key === 'items' && Array.isArray(member)) || hasTuple(member))
}

function collectKeys(value: Json, keys: Set<string>, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depthLeft === 0) return false
  if (Array.isArray(value)) return value.every((item: Json) => collectKeys(item, keys, depthLeft - 1))
  return Object.entries(value as JsonObject).every(([key, member]) => {
    keys.add(key)
    return collectKeys(member, keys, depthLeft - 1)
  })
}

/** True where the schema accepts every object. */
export function acceptsAnyObject(schema: JsonObject): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    switch (keyword) {
      case 'type':
        return value === 'object'
      case 'properties':
        return isJsonObject(value) && Object.values(value).every(acceptsAnything)
      case 'required':
        return Array.isArray(value) && value.length === 0
      case 'additionalProperties':
        return acceptsAnything(value)
      default:
        return ANNOTATIONS.has(keyword)
    }
  })
}

function acceptsAnything(schema: Json): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).every((keyword) => ANNOTATIONS.has(keyword)))
}

/** A copy without identifiers, dialect and `$async`, in every place where a schema can stand; values of `const`, `enum` and properties of those names stay. */
export function plainSchema(schema: Json): Json {
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !REMOVED.has(keyword))
      .map(([keyword, value]): [string, Json] => {
        if (WITH_NAMED_SCHEMAS.has(keyword) && isJsonObject(value))
          return [keyword, Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainSchema(member)]))]
        if (WITH_SCHEMAS.has(keyword) && Array.isArray(value)) return [keyword, value.map((item: Json) => plainSchema(item))]
        return [keyword, WITH_SCHEMA.has(keyword) ? plainSchema(value) : value]
      }),
  )
}
