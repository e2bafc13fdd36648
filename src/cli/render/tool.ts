/** Tools in JSON (spec 95) and as a list for people. */
import type { ListToolsOptions, ResourceTool, Tool, ToolList } from '../../runtime/types.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'
import { compareKeys } from '../../servers/key.ts'
import type { ServerKey } from '../../servers/key.ts'
import type { Paint } from '../output.ts'
import { diagnosticJson } from './diagnostic.ts'
import { cut, visibleLine } from './escape.ts'
import { failureJson } from './failure.ts'
import { ownerJson, ownerText } from './owner.ts'
import { table } from './table.ts'
import type { Cell } from './table.ts'

const DESCRIPTION = 72

/** A row of `tools`. */
export function toolJson(tool: Tool): Readonly<Record<string, unknown>> {
  return {
    name: tool.name,
    namespace: tool.namespace,
    nameInNamespace: tool.nameInNamespace,
    tool: tool.tool,
    owner: ownerJson(tool.owner),
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    annotations: tool.annotations,
    approval: tool.approval,
    ...(tool.cached && { cached: true }),
  }
}

/** The document of `tapline tools`. */
export function toolListJson(
  list: Pick<ToolList, 'tools' | 'resourceTools' | 'errors'>,
  diagnostics: readonly Diagnostic[],
): Readonly<Record<string, unknown>> {
  return {
    tools: list.tools.map(toolJson),
    ...(list.resourceTools.length > 0 && { resourceTools: list.resourceTools }),
    errors: list.errors.map(failureJson),
    diagnostics: diagnostics.map(diagnosticJson),
  }
}

/** The tools under a heading for each server: raw name, visible name, first line of the description; then those of the session itself. */
export function toolListText({ tools, resourceTools }: Pick<ToolList, 'tools' | 'resourceTools'>, paint: Paint): string {
  const groups = new Map<ServerKey, Tool[]>()
  for (const tool of tools) groups.set(tool.owner, [...(groups.get(tool.owner) ?? []), tool])
  const sorted = [...groups].sort(([a], [b]) => compareKeys(a, b))
  const parts = sorted.map(([owner, own]) => `${paint.bold(ownerText(owner))}\n${table(own.map((tool) => row(tool, paint)))}`)
  if (resourceTools.length > 0)
    parts.push(`${paint.bold('resources of all servers')}\n${table(resourceTools.map((tool) => ownRow(tool, paint)))}`)
  return parts.join('\n\n')
}

function ownRow({ name, description }: ResourceTool, paint: Paint): Cell[] {
  return [{ text: '' }, { text: name, paint: paint.cyan }, { text: cut(description, DESCRIPTION), paint: paint.dim }]
}

function row(tool: Tool, paint: Paint): Cell[] {
  const first = tool.description.trim().split('\n')[0] ?? ''
  return [
    { text: '' },
    { text: visibleLine(tool.tool), paint: paint.cyan },
    { text: visibleLine(tool.name) },
    { text: tool.approval === 'auto' ? '' : visibleLine(tool.approval), paint: paint.yellow },
    { text: cut(visibleLine(first), DESCRIPTION), paint: paint.dim },
  ]
}

/** Which servers a listing was limited to, for people: `server a in environment b`. */
export function limitedTo({
  server,
  environmentId,
  installationId,
}: Pick<ListToolsOptions, 'server' | 'environmentId' | 'installationId'>): string {
  const place = environmentId === undefined ? '' : environmentId === null ? 'thread-wide' : `in environment ${environmentId}`
  return visibleLine(
    [server === undefined ? '' : `server ${server}`, place, installationId == null ? '' : `installation ${installationId}`]
      .filter(Boolean)
      .join(' '),
  )
}
