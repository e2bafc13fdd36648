/** Reads a trace file line by line, however long it is; what cannot be read is told with its line. */
import type { ValidateFunction } from 'ajv'
import { describeErrors } from '../pipeline/schema-errors.ts'
import type { TraceRecord } from './records.ts'
import { TRACE_VERSION } from './records.ts'
import { TRACE_SCHEMA } from './schema.ts'

/** A line of the file, from 1: a record, or why there is none. */
export type TraceLine =
  | { readonly line: number; readonly record: TraceRecord; readonly problem?: never }
  | { readonly line: number; readonly problem: string; readonly record?: never }

/** bytes; no record of ours comes near it */
const LONGEST_LINE = 16 * 1024 * 1024
const LINE_END = 0x0a
const UTF8 = new TextDecoder('utf-8', { fatal: true })

let compiled: Promise<ValidateFunction> | null = null

async function compile(): Promise<ValidateFunction> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return new Ajv2020({ strict: false }).compile(TRACE_SCHEMA)
}

/** Lines without a record or a problem (empty ones) are left out. Rejects with what the source rejects with. */
export async function* readTrace(source: AsyncIterable<Uint8Array>): AsyncGenerator<TraceLine> {
  const fits = await (compiled ??= compile())
  let line = 0
  for await (const { bytes, isWhole } of linesOf(source)) {
    line++
    const found = bytes === null ? `is longer than ${LONGEST_LINE} bytes` : recordOf(bytes, fits)
    if (found === null) continue
    if (typeof found !== 'string') yield { line, record: found }
    else
      yield { line, problem: isWhole ? found : `${found}; it is the last line, and has no end: its process was ended, or is still writing` }
  }
}

/** Lines without their end; `bytes: null` in the place of one that is too long. Only the last one may lack an end. */
async function* linesOf(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly bytes: Uint8Array | null; readonly isWhole: boolean }> {
  let parts: Uint8Array[] = []
  let length = 0
  const take = (): Uint8Array | null => {
    const bytes = length > LONGEST_LINE ? null : Buffer.concat(parts)
    parts = []
    length = 0
    return bytes
  }
  const add = (part: Uint8Array): void => {
    length += part.length
    if (length <= LONGEST_LINE) parts.push(part)
    else parts = []
  }
  for await (const chunk of source) {
    let from = 0
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      add(chunk.subarray(from, end))
      yield { bytes: take(), isWhole: true }
      from = end + 1
    }
    add(chunk.subarray(from))
  }
  if (length > 0) yield { bytes: take(), isWhole: false }
}

/** The record, or what is wrong; null for an empty line. */
function recordOf(bytes: Uint8Array, fits: ValidateFunction): TraceRecord | string | null {
  let value: unknown
  try {
    const text = UTF8.decode(bytes)
    if (text.trim() === '') return null
    value = JSON.parse(text)
  } catch (error) {
    return error instanceof SyntaxError ? 'is not JSON' : 'is not UTF-8'
  }
  const version: unknown = (value as { readonly v?: unknown } | null)?.v
  if (typeof version === 'number' && version !== TRACE_VERSION)
    return `has version ${version} of the format; this tapline reads ${TRACE_VERSION}`
  return fits(value)
    ? (value as TraceRecord)
    : `is no record of a trace: ${describeErrors(
        (fits.errors ?? []).filter(({ keyword }) => keyword !== 'if'),
        'it',
      )}`
}
