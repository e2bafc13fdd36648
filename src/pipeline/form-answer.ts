/** Holds the answer to a form against the schema of the form. */
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { CompiledSchema } from './tool-schema.ts'

/** The content that is sent, defaults filled in; or a line that says why it cannot be. */
export function checkFormAnswer(
  schema: JsonObject,
  compiled: CompiledSchema,
  given: JsonObject | undefined,
): { readonly content: JsonObject } | { readonly problem: string } {
  const { properties } = schema
  const defaults = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, property]) =>
    isJsonObject(property) && property['default'] !== undefined ? [[name, property['default']] as const] : [],
  )
  const content: JsonObject = { ...Object.fromEntries(defaults), ...given }
  const problem = compiled.check(content)
  return problem === null ? { content } : { problem: problem.replaceAll('arguments', 'content') }
}
