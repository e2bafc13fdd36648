/** A place for trace files, and what stands in them. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { CallRecord, KeyJson, SessionRecord, TapTrace, TraceRecord } from '../../src/index.ts'
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

/** The owner of every made-up call. */
export const OWNER: KeyJson = { name: 'db', environmentId: 'prod', installationId: null, display: 'db (environment prod)' }

/** A made-up session with the flag multi_environment_mcp at this value. */
export const session = (id: string, flag: boolean, plugins: SessionRecord['plugins'] = []): SessionRecord => ({
  v: 1,
  type: 'session',
  time: '2026-01-01T00:00:00.000Z',
  session: id,
  tapline: '1',
  node: 'v20',
  platform: 'linux',
  pid: 1,
  environments: [],
  flags: [
    { flagKey: 'multi_environment_mcp', value: flag, variant: flag ? 'on' : 'off', reason: 'SPLIT', source: 'provider' },
    { flagKey: 'same', value: 'x', reason: 'DEFAULT', source: 'default' },
  ],
  plugins,
})

/** A made-up tap, in shadow where nothing else is said. */
export const tap = (plugin: string, decision: TapTrace['decision'], more: Partial<TapTrace> = {}): TapTrace => ({
  hook: 'approve',
  tap: 't',
  plugin,
  mode: 'shadow',
  decision,
  inEffect: false,
  changedArguments: false,
  durationMs: 1,
  ...more,
})

/** A made-up call of a session, completed where nothing else is said. */
export const call = (of: string, id: string, trace: Partial<CallRecord['trace']>, more: Partial<CallRecord> = {}): CallRecord => ({
  v: 1,
  type: 'call',
  time: '2026-01-01T00:00:01.000Z',
  session: of,
  id,
  callId: id,
  method: 'tools/call',
  owner: OWNER,
  tool: 'drop',
  arguments: null,
  outcome: 'completed',
  code: 'OK',
  sent: 'yes',
  durationMs: 10,
  trace: { candidates: [], taps: [], shadow: [], approval: null, metaKeys: [], connection: null, timingsMs: {}, ...trace },
  ...more,
})
