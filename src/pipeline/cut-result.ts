/** Makes a result that is too large fit: whole parts as long as there is room, a text up to where the room ends, and a last block that says so. */
import type { Overflow } from '../hooks/outcome.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { sizeOf, sizeText } from './result-size.ts'

/** Bytes kept free for the block that tells what was left out. */
const FOR_THE_MARK = 640
/** Bytes for the line in a text that says that something is missing there. */
const FOR_THE_GAP = 48

/**
 * The result within the limit. Fields that are small come first: they say what the rest means (`isError`, `_meta`). Then the blocks of the
 * content in their order; of a text that is too long the beginning and the end stay, anything else (half a picture is none) is kept or left out as a whole. Then all other fields, each
 * as a whole.
 */
export function cutResult(result: JsonObject, { bytes, limitBytes, file }: Overflow): JsonObject {
  const cut = new Cut(limitBytes - FOR_THE_MARK)
  const fields = Object.entries(result)
    .filter(([name, value]) => name !== 'content' || !Array.isArray(value))
    .map(([name, value]) => ({ name, value, size: sizeOf(value) + 3 * name.length + 4 }))
    .sort((a, b) => a.size - b.size)
  const small = fields.filter(({ size }) => size <= limitBytes / 16 && cut.takes(size))
  const { content } = result
  const blocks = cut.blocks(Array.isArray(content) ? (content as readonly Json[]) : [])
  const large = fields.filter((field) => {
    if (small.includes(field)) return false
    if (cut.takes(field.size)) return true
    cut.leaveOut(field.name === 'structuredContent' ? field.name : `the field ${JSON.stringify(field.name.slice(0, 40))}`)
    return false
  })
  const whole = file === null ? '' : ` The whole result is in ${file.slice(0, 200)}`
  const mark = `[tapline: this result was too large (${sizeText(bytes)}, the limit is ${sizeText(limitBytes)}). Left out: ${cut.leftOut()}.${whole}]`
  const kept = Object.fromEntries([...small, ...large].map(({ name, value }) => [name, value]))
  return { ...kept, content: [...blocks, { type: 'text', text: mark }] }
}

class Cut {
  #room: number
  #textBytes = 0
  #blocks = 0
  readonly #parts: string[] = []

  constructor(room: number) {
    this.#room = room
  }

  /** True where there is room for so many bytes, which are then taken. */
  takes(bytes: number): boolean {
    if (bytes > this.#room) return false
    this.#room -= bytes
    return true
  }

  blocks(content: readonly Json[]): Json[] {
    const kept: Json[] = []
    for (const block of content) {
      if (this.takes(sizeOf(block) + 1)) kept.push(block)
      else if (isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string') this.#text(block, block['text'], kept)
      else {
        this.#blocks++
        if (this.#parts.length < 3) this.leaveOut(nameOf(block))
      }
    }
    return kept
  }

  leaveOut(part: string): void {
    this.#parts.push(part)
  }

  leftOut(): string {
    const parts = this.#parts.slice(0, 3)
    if (this.#blocks > 3) parts.push(`${this.#blocks} blocks in all`)
    if (this.#textBytes > 0) parts.unshift(`${sizeText(this.#textBytes)} of text`)
    return parts.join(', ')
  }

  /** As much of its beginning and of its end as there is room for, which is then used up. */
  #text(block: JsonObject, text: string, kept: Json[]): void {
    const { text: _whole, ...rest } = block
    const room = this.#room - sizeOf(rest) - 16
    const all = Buffer.byteLength(text)
    if (room < 1) {
      this.#textBytes += all
      return
    }
    const half = Math.floor((room - FOR_THE_GAP) / 2)
    const [start, end] = half < 1 ? [startOf(text, room), ''] : [startOf(text, half), endOf(text, half)]
    const missing = all - Buffer.byteLength(start) - Buffer.byteLength(end)
    kept.push({ ...block, text: end === '' ? start : `${start}\n[tapline: ${sizeText(missing)} left out here]\n${end}` })
    this.#textBytes += missing
    this.#room = 0
  }
}

// Both are copies: a slice would keep the whole text alive. No character is cut in two.

function startOf(text: string, room: number): string {
  const bytes = Buffer.allocUnsafe(room)
  const { written } = new TextEncoder().encodeInto(text, bytes)
  return bytes.toString('utf8', 0, written)
}

function endOf(text: string, room: number): string {
  const bytes = Buffer.from(text.slice(-room))
  let at = bytes.length - Math.min(room, bytes.length)
  // not the second half of a pair, nor the middle of a character
  if (at === 0 && /^[\udc00-\udfff]/.test(text.slice(-room))) at = 3
  while (at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at++
  return bytes.toString('utf8', at)
}

function nameOf(block: Json): string {
  if (!isJsonObject(block)) return 'a block'
  const { type, mimeType } = block
  const kind = typeof type === 'string' ? type.slice(0, 20) : 'block'
  return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}${typeof mimeType === 'string' ? ` (${mimeType.slice(0, 30)})` : ''} of ${sizeText(sizeOf(block))}`
}
