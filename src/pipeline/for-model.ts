/** What the model is told about the end of its call: short, never a stack, never a secret. */
import type { ForModel } from '../hooks/outcome.ts'
import type { ContentBlock } from '../mcp.ts'
import { isContent } from '../mcp.ts'

/** The result's own blocks, and their text joined. Results without blocks (lists, reads) are given as JSON text. */
export function modelResult(result: { readonly [key: string]: unknown }): ForModel {
  const { content } = result as { readonly content?: readonly ContentBlock[] }
  if (!Array.isArray(content)) return modelText(JSON.stringify(result), false)
  // frozen, because observers see it before the host does
  return Object.freeze({
    text: content.map(blockText).filter(Boolean).join('\n'),
    isError: result['isError'] === true,
    content: content as readonly ContentBlock[],
  })
}

/** One text block. */
export function modelText(text: string, isError = true): ForModel {
  return Object.freeze({ text, isError, content: Object.freeze([Object.freeze({ type: 'text', text })]) })
}

/** A block as text: its own, else what it is in brackets. */
export function blockText(block: ContentBlock): string {
  if (isContent(block, 'text')) return block.text
  if (isContent(block, 'resource')) return block.resource?.text ?? `[resource ${block.resource?.uri}]`
  if (isContent(block, 'resource_link')) return `[resource ${block.uri}]`
  const type: unknown = block?.type
  return `[${String(type)}]`
}
