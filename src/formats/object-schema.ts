/** Input schemas as the APIs of models take them: one tool with another form would make them reject the whole request. */
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** An object schema with properties and nothing that combines at the top. */
export type ObjectSchema = { type: 'object'; properties: unknown; [key: string]: unknown }

const COMBINING = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'] as const

/** The schema itself where it fits; else a copy whose properties are those of all its branches. It asks for less then: Tapline still holds the arguments against the whole schema. */
export function objectSchema(schema: JsonObject): ObjectSchema {
  if (schema['type'] === 'object' && isJsonObject(schema['properties']) && !COMBINING.some((name) => Object.hasOwn(schema, name)))
    return schema as unknown as ObjectSchema
  const properties: [string, unknown][] = []
  const required = new Set(namesOf(schema['required']))
  const own = schema['properties']
  if (isJsonObject(own)) properties.push(...Object.entries(own))
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const branches = schema[name]
    for (const branch of Array.isArray(branches) ? (branches as readonly unknown[]) : []) {
      if (!isJsonObject(branch)) continue
      const more = branch['properties']
      if (isJsonObject(more)) properties.push(...Object.entries(more).filter(([key]) => !properties.some(([known]) => known === key)))
      // what every branch of allOf needs is needed; of the others only one holds
      if (name === 'allOf') for (const key of namesOf(branch['required'])) required.add(key)
    }
  }
  const kept = Object.entries(schema).filter(([name]) => !(COMBINING as readonly string[]).includes(name) && name !== 'required')
  return Object.fromEntries([
    ...kept,
    ['type', 'object'],
    ['properties', Object.fromEntries(properties)],
    ...(required.size > 0 ? [['required', [...required]] as const] : []),
  ]) as ObjectSchema
}

const namesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
