/** Resources and their templates in JSON and for people. */
import type { JsonObject } from '../../json.ts'
import type { ReadResourceResult } from '../../mcp.ts'
import type { Listing, Owned, ResourceItem, ResourceTemplateItem } from '../../runtime/types.ts'
import type { ServerKey } from '../../servers/key.ts'
import type { Paint } from '../output.ts'
import { contentsText } from './content.ts'
import { cut, visibleLine } from './escape.ts'
import { failureJson } from './failure.ts'
import { ownerJson, ownerText } from './owner.ts'
import { table } from './table.ts'

interface ItemOfServer extends Owned {
  readonly raw: JsonObject
}

/** An item of a listing: every field as its server listed it, and whose it is in the words of the wire. */
export function itemJson({ owner, raw }: ItemOfServer): Readonly<Record<string, unknown>> {
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
  return { resources: items.map(itemJson), errors: errors.map(failureJson), nextCursor }
}

/** The document of `tapline resources templates`. */
export function templateListJson({ items, errors, nextCursor }: Listing<ResourceTemplateItem>): Readonly<Record<string, unknown>> {
  return { resourceTemplates: items.map(itemJson), errors: errors.map(failureJson), nextCursor }
}

/** A line for each resource. */
export function resourceListText(listing: Listing<ResourceItem>, paint: Paint): string {
  return listingText(listing, (item) => [item.uri, item.title ?? item.name, item.mimeType, item.description], paint)
}

/** A line for each template. */
export function templateListText(listing: Listing<ResourceTemplateItem>, paint: Paint): string {
  return listingText(listing, (item) => [item.uriTemplate, item.title ?? item.name, item.mimeType, item.description], paint)
}

/** A line for each item: whose it is, and the texts; the first one names it, the last one may be cut. */
export function listingText<T extends Owned>(
  { items, nextCursor }: Listing<T>,
  textsOf: (item: T) => readonly [string, ...(string | undefined)[]],
  paint: Paint,
): string {
  const rows = items.map((item) => {
    const [name, ...texts] = textsOf(item)
    return [
      { text: ownerText(item.owner), paint: paint.bold },
      { text: visibleLine(name), paint: paint.cyan },
      ...texts.map((text, at) => ({ text: cut(visibleLine(text ?? ''), 60), ...(at > 0 && { paint: paint.dim }) })),
    ]
  })
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
