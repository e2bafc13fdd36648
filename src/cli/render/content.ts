/** What a server answered, for people. */
import { isContent } from '../../mcp.ts'
import type { ContentBlock, ResourceContents, ToolResult } from '../../mcp.ts'
import { visible, visibleLine } from './escape.ts'

/** The blocks of a result one after the other; where there are none, the structured content. */
export function resultText(result: ToolResult): string {
  const content = Array.isArray(result.content) ? (result.content as readonly ContentBlock[]) : []
  if (content.length === 0) return result.structuredContent === undefined ? '' : visible(JSON.stringify(result.structuredContent, null, 2))
  return content.map(blockText).join('\n')
}

/** One block: text as it is, anything else as one line in brackets. */
export function blockText(block: ContentBlock): string {
  if (isContent(block, 'text') && typeof block.text === 'string') return visible(block.text)
  if (isContent(block, 'resource') && typeof block.resource === 'object' && block.resource !== null) return contentsText(block.resource)
  if (isContent(block, 'resource_link')) return visibleLine(`[${block.name} ${block.uri}]`)
  if (isContent(block, 'image') || isContent(block, 'audio')) return visibleLine(`[${block.type} ${block.mimeType}, ${bytes(block.data)}]`)
  return visible(JSON.stringify(block))
}

/** The contents of one resource: text as it is, a blob as one line in brackets. */
export function contentsText(contents: ResourceContents): string {
  if (typeof contents.text === 'string') return visible(contents.text)
  return visibleLine(`[${contents.uri}${contents.mimeType === undefined ? '' : ` ${contents.mimeType}`}, ${bytes(contents.blob)}]`)
}

/** Size of what base64 text stands for. */
function bytes(base64: unknown): string {
  if (typeof base64 !== 'string') return 'no data'
  const padding = /=*$/.exec(base64.slice(-2))?.[0].length ?? 0
  return `${Math.max(0, Math.floor((base64.length * 3) / 4) - padding)} bytes`
}
