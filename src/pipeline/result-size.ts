/** How large a result is: the bytes of its texts, names and numbers, about as many as its JSON has. */
import type { Json } from '../json.ts'

/** Deeper than this the quick look gives up; the exact one has no such limit. */
const QUICK_DEPTH = 100
/** Most bytes of UTF-8 for one unit of a text. */
const WIDEST = 3

/** The size in bytes where it is over the limit, else null. Costs a look at every value and copies nothing; texts are only read where it could matter. */
export function sizeOver(value: Json, limit: number): number | null {
  if (left(value, limit, 0) >= 0) return null
  const size = sizeOf(value)
  return size > limit ? size : null
}

/** The size in bytes. A loop, because results may be nested deeper than a stack goes. */
export function sizeOf(value: Json): number {
  const open: Json[] = [value]
  let size = 0
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string') size += Buffer.byteLength(one) + 2
    else if (typeof one !== 'object' || one === null) size += 8
    else if (Array.isArray(one)) {
      size += one.length + 2
      for (const item of one as readonly Json[]) open.push(item)
    } else {
      size += 2
      for (const [key, member] of Object.entries(one as object) as [string, Json][]) {
        size += Buffer.byteLength(key) + 4
        open.push(member)
      }
    }
  }
  return size
}

/** What is left of the room if every text is as wide as it can be; below 0 where that may be too little. */
function left(value: Json, room: number, depth: number): number {
  if (typeof value === 'string') return room - value.length * WIDEST - 2
  if (typeof value !== 'object' || value === null) return room - 8
  if (depth > QUICK_DEPTH) return -1
  let rest = room - 2
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && rest >= 0; at++) rest = left(value[at] as Json, rest - 1, depth + 1)
    return rest
  }
  const object = value as { readonly [key: string]: Json }
  for (const key in object) {
    if (rest < 0) break
    rest = left(object[key] as Json, rest - key.length * WIDEST - 4, depth + 1)
  }
  return rest
}

/** A size for people: `20.0 MiB`, `12 KiB`, `800 bytes`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / (1024 * 1024)).toFixed(1)} MiB`
}
