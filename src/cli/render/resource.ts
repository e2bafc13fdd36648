/** Resources in JSON and for people. */
import type { ReadResourceResult } from '../../mcp.ts'
import type { Listing, ResourceItem } from '../../runtime/types.ts'
import type { ServerKey } from '../../servers/key.ts'
import type { Paint } from '../output.ts'
import { contentsText } from './content.ts'
import { cut, visibleLine } from './escape.ts'
import { failureJson } from './failure.ts'
import { ownerJson, ownerText } from './owner.ts'
import { table } from './table.ts'

/** An item of `resources`: every field as its server listed it, and whose it is in the words of the wire. */
export function resourceJson({ owner, raw }: ResourceItem): Readonly<Record<string, unknown>> {
  const { server: _server, environment_id: _environment, installation_id: _installation, ...own } = raw
  return {
    server: owner.name,
    ...(owner.environmentId === null ? {} : { environment_id: owner.environmentId }),
    ...(owner.installationId === null ? {} : { installation_id: owner.installationId }),
    ...own,
  }
}

/** The document of `tapline resources list`. */
export function resourceListJson({ items, errors, nextCursor }: Listing<ResourceItem>): Readonly<Record<string, unknown>> {
  return { resources: items.map(resourceJson), errors: errors.map(failureJson), nextCursor }
}

/** A line for each resource. */
export function resourceListText({ items, nextCursor }: Listing<ResourceItem>, paint: Paint): string {
  const rows = items.map((item) => [
    { text: ownerText(item.owner), paint: paint.bold },
    { text: visibleLine(item.uri), paint: paint.cyan },
    { text: visibleLine(item.title ?? item.name) },
    { text: visibleLine(item.mimeType ?? ''), paint: paint.dim },
    { text: cut(visibleLine(item.description ?? ''), 60), paint: paint.dim },
  ])
  const lines = rows.length === 0 ? [] : [table(rows)]
  if (nextCursor !== null) lines.push(paint.dim(`next page: --cursor ${visibleLine(nextCursor)}`))
  return lines.join('\n')
}

/** The document of `tapline resources read`. */
export function contentsJson({ owner, ...result }: ReadResourceResult & { readonly owner: ServerKey }): Readonly<Record<string, unknown>> {
  return { ...result, owner: ownerJson(owner) }
}

/** The contents one after the other. */
export function contentsListText({ contents }: ReadResourceResult): string {
  return contents.map(contentsText).join('\n')
}
