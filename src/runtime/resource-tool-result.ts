/** What a tool for resources answers: JSON that says with every item which server it is of. */
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { ToolResult } from '../mcp.ts'
import type { ServerKey } from '../servers/key.ts'
import type { ResourceToolKind } from './resource-tools.ts'

/** The owner under the names of the parameters; without environments only the server. */
export type OwnerFields = (owner: ServerKey) => JsonObject

/** How owners are told. */
export const ownerFields =
  (takesEnvironment: boolean): OwnerFields =>
  ({ name, environmentId, installationId }) => ({
    server: name,
    ...(takesEnvironment && environmentId !== null && { environment_id: environmentId }),
    ...(takesEnvironment && installationId !== null && { installation_id: installationId }),
  })

/** What one server answered. */
export function oneResult(kind: ResourceToolKind, owner: ServerKey, result: JsonObject, fieldsOf: OwnerFields): ToolResult {
  const { _meta: meta, ...rest } = result
  const items = kind.field === null ? rest['contents'] : (rest[kind.field] ?? [])
  if (!Array.isArray(items))
    return { content: [{ type: 'text', text: `${owner} answered ${kind.method} without ${kind.field ?? 'contents'}` }], isError: true }
  // a field of the server's own must not say whose it is
  const answer = { ...withoutOwner(rest), ...(kind.field !== null && { [kind.field]: itemsOf(items as readonly Json[], owner, fieldsOf) }) }
  return toolResult({ ...fieldsOf(owner), ...answer }, meta)
}

/** What all servers answered, in the order of their keys. An error where none of them did. */
export function mergedResult(
  field: string,
  answers: readonly { readonly owner: ServerKey; readonly result: JsonObject }[],
  failures: readonly { readonly owner: ServerKey; readonly code: string; readonly message: string }[],
  fieldsOf: OwnerFields,
): ToolResult {
  const items = answers.flatMap(({ owner, result }) => itemsOf((result[field] ?? []) as readonly Json[], owner, fieldsOf))
  const errors = failures.map(({ owner, code, message }) => ({ ...fieldsOf(owner), code, message }))
  const merged = toolResult({ [field]: items, ...(errors.length > 0 && { errors }) })
  return answers.length === 0 && errors.length > 0 ? { ...merged, isError: true } : merged
}

function itemsOf(items: readonly Json[], owner: ServerKey, fieldsOf: OwnerFields): readonly JsonObject[] {
  return Array.isArray(items) ? items.filter(isJsonObject).map((item) => ({ ...fieldsOf(owner), ...withoutOwner(item) })) : []
}

function withoutOwner({ server: _server, environment_id: _environment, installation_id: _installation, ...rest }: JsonObject): JsonObject {
  return rest
}

function toolResult(answer: JsonObject, meta?: Json): ToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
    ...(meta !== undefined && { _meta: meta as JsonObject }),
  }
}
