/** Blocks of a result in the three kinds that models take; what is none of them becomes text that names it. */
import type { ContentBlock } from '../mcp.ts'
import { isContent } from '../mcp.ts'
import { blockText } from '../pipeline/for-model.ts'

/** An image type that the models' APIs take. */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

/** A block; `data` is base64. */
export type ResultBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mimeType: ImageType; readonly data: string }
  | { readonly kind: 'file'; readonly mimeType: string; readonly data: string; readonly name: string }

const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** Reads one block, which a server made: members may be anything. */
export function resultBlock(block: ContentBlock): ResultBlock {
  if (isContent(block, 'image') && IMAGES.has(block.mimeType) && isBase64(block.data))
    return { kind: 'image', mimeType: block.mimeType as ImageType, data: block.data }
  if (isContent(block, 'resource')) {
    const { blob, mimeType = 'application/octet-stream', uri } = block.resource ?? {}
    if (isBase64(blob) && typeof mimeType === 'string') {
      if (IMAGES.has(mimeType)) return { kind: 'image', mimeType: mimeType as ImageType, data: blob }
      return { kind: 'file', mimeType, data: blob, name: nameOf(uri) }
    }
  }
  // what a server calls text may be anything
  const text: unknown = blockText(block)
  return { kind: 'text', text: typeof text === 'string' ? text : (JSON.stringify(text) ?? '') }
}

const isBase64 = (value: unknown): value is string => typeof value === 'string' && value !== '' && /^[A-Za-z0-9+/]+={0,2}$/.test(value)

/** The last part of the URI's path. */
function nameOf(uri: unknown): string {
  const [path = ''] = typeof uri === 'string' ? uri.split(/[?#]/) : []
  return path.split('/').findLast((part) => part !== '') ?? 'resource'
}
