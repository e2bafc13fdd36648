/** A place for trace files, and what stands in them. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { CallRecord, TraceRecord } from '../../src/index.ts'
import { TRACE_SCHEMA } from '../../src/trace/schema.ts'

/** A folder of one test. */
export class Folder implements Disposable {
  readonly path: string = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-trace-'))

  file(name = 't.jsonl'): string {
    return path.join(this.path, name)
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.path, { recursive: true, force: true })
  }
}

/** Every record of the file; throws for a line that is none. */
export function recordsIn(file: string): TraceRecord[] {
  const text = fs.readFileSync(file, 'utf8')
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as TraceRecord)
}

export const callsIn = (records: readonly TraceRecord[]): CallRecord[] => records.filter((one) => one.type === 'call')

const fits = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true }).compile(TRACE_SCHEMA)

/** What is wrong with the record, by the schema; null where nothing is. */
export function misfit(record: unknown): string | null {
  return fits(record) ? null : JSON.stringify(fits.errors)
}
