/** Prompts in JSON and for people. */
import type { ContentBlock, GetPromptResult } from '../../mcp.ts'
import { isJsonObject } from '../../json.ts'
import type { Json } from '../../json.ts'
import type { Listing, Owned, PromptItem } from '../../runtime/types.ts'
import type { Paint } from '../output.ts'
import { blockText } from './content.ts'
import { visibleLine } from './escape.ts'
import { failureJson } from './failure.ts'
import { ownerJson } from './owner.ts'
import { itemJson, listingText } from './resource.ts'

/** The document of `tapline prompts list`. */
export function promptListJson({ items, errors, nextCursor }: Listing<PromptItem>): Readonly<Record<string, unknown>> {
  return { prompts: items.map(itemJson), errors: errors.map(failureJson), nextCursor }
}

/** A line for each prompt: its name, its arguments (those that may be left out in brackets), what it is. */
export function promptListText(listing: Listing<PromptItem>, paint: Paint): string {
  return listingText(listing, (item) => [item.name, argumentsText(item.raw['arguments']), item.description ?? item.title], paint)
}

/** The document of `tapline prompts get`. */
export function promptJson({ owner, ...result }: GetPromptResult & Owned): Readonly<Record<string, unknown>> {
  return { ...result, owner: ownerJson(owner) }
}

/** The messages one after the other, each after the role of who speaks. */
export function promptText({ messages }: GetPromptResult, paint: Paint): string {
  // a server's word: a message may be anything
  const sound = (messages as readonly unknown[]).filter(isJsonObject)
  return sound
    .map(({ role, content }) => `${paint.bold(`${typeof role === 'string' ? visibleLine(role) : '?'}:`)}\n${contentText(content)}`)
    .join('\n\n')
}

function contentText(content: Json | undefined): string {
  // some servers give a list of blocks
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
  return blocks.map((block) => (isJsonObject(block) ? blockText(block as object as ContentBlock) : '')).join('\n')
}

function argumentsText(given: Json | undefined): string {
  if (!Array.isArray(given)) return ''
  return given
    .filter(isJsonObject)
    .flatMap(({ name, required }) => (typeof name !== 'string' ? [] : [required === true ? name : `[${name}]`]))
    .join(' ')
}
