/** A tool of the session as a client lists it. */
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { ResourceTool, Tool } from '../runtime/types.ts'

/** True for a tool that only runs as a task, which the gateway does not offer. */
export function needsTask({ raw }: Tool): boolean {
  const execution = raw['execution']
  return isJsonObject(execution) && execution['taskSupport'] === 'required'
}

/** Every field as the server listed it, under the visible name; texts and schemas redacted. */
export function toolEntry(tool: Tool): JsonObject {
  const { name, title, description, inputSchema, outputSchema, raw } = tool
  const said = needsTask(tool) ? `[Not callable here: it needs task execution.] ${description}` : description
  return {
    ...raw,
    name,
    ...(typeof raw['title'] === 'string' && { title }),
    ...((raw['description'] !== undefined || said !== '') && { description: said }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
  }
}

/** A tool of the session itself. */
export function resourceToolEntry({ name, title, description, inputSchema, annotations }: ResourceTool): JsonObject {
  return { name, title, description, inputSchema, annotations: { ...annotations } }
}
