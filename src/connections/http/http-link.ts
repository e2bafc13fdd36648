/** What the parts of an HTTP transport share: requests with the server's own headers, and where messages and failures go. */
import type { JsonObject } from '../../json.ts'
import { isJsonObject } from '../../json.ts'
import type { TaplineError } from '../../errors.ts'
import type { HttpAnswer, HttpRequest } from './http-client.ts'
import type { HttpErrors } from './http-errors.ts'
import type { SseHandler } from './sse-reader.ts'
import { SseReader } from './sse-reader.ts'

/** Most of a body that is read for an error message. */
const TOLD_BYTES = 4096

export interface HttpLink {
  readonly url: URL
  readonly errors: HttpErrors
  /** bytes of one message */
  readonly frameLimit: number
  /** With the headers of the configuration, within the origin. Rejects with TaplineError. */
  request(request: Omit<HttpRequest, 'url'> & { readonly url?: URL }): Promise<HttpAnswer>
  deliver(message: JsonObject): void
  fail(id: number, error: TaplineError): void
  tooLong(id: number | null): void
  /** everything is over, with the error for what still waits */
  end(error: TaplineError): void
}

/** The type of a body without its parameters. */
export function mediaType(answer: HttpAnswer): string {
  return (answer.header('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
}

/** A whole body; null where it is larger than the limit (bytes). */
export async function readText(answer: HttpAnswer, limit: number): Promise<string | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body) {
    size += part.length
    if (size > limit) {
      answer.discard()
      return null
    }
    parts.push(part)
  }
  return (parts.length === 1 ? Buffer.from(parts[0]!.buffer, parts[0]!.byteOffset, size) : Buffer.concat(parts, size)).toString('utf8')
}

/** The start of a body, for an error; never throws. */
export async function readStart(answer: HttpAnswer): Promise<string> {
  let text = ''
  try {
    for await (const part of answer.body) {
      text += Buffer.from(part).toString('utf8')
      if (text.length > TOLD_BYTES) break
    }
  } catch {
    // what came is enough
  }
  answer.discard()
  return text.slice(0, TOLD_BYTES)
}

/** Reads a stream of events to its end. Rejects where it breaks. */
export async function readEvents(answer: HttpAnswer, handler: SseHandler, limit: number): Promise<void> {
  const reader = new SseReader(handler, limit)
  for await (const chunk of answer.body) reader.push(chunk)
}

/** The messages of a body or of the data of an event: one, or a batch of the revision 2025-03-26. */
export function messagesIn(text: string): readonly JsonObject[] | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return (Array.isArray(value) ? value : [value]).filter((one): one is JsonObject => isJsonObject(one) && one['jsonrpc'] === '2.0')
}

/** The id of an answer, which some servers give back as text; NaN where it is none of ours. */
export function idOf({ id }: JsonObject): number {
  return typeof id === 'number' ? id : typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : Number.NaN
}

/** Resolves after so many ms, or as soon as the signal aborts. */
export function pause(ms: number, signal: AbortSignal, background = false): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    if (background) timer.unref()
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
  })
}
