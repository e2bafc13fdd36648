/** `tapline trace show`: the calls of a trace file, one after the other. */
import { TaplineError } from '../../errors.ts'
import type { SessionRecord, TraceRecord } from '../../trace/records.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { recordText } from '../render/trace-file.ts'
import { TraceSource } from '../trace-source.ts'

/** sessions whose headings are kept for a call that may still come */
const KEPT_SESSIONS = 1000

/** Options of `trace show`. */
export interface TraceShowOptions {
  /** id of a call: ours, or the one that its caller gave */
  readonly call?: string
}

/** Exit status 0; lines that cannot be read are warnings. Throws TRACE_UNREADABLE, and CLI_USAGE where the file has no such call. */
export async function show(context: CliContext, file: string, { call }: TraceShowOptions): Promise<number> {
  const { out } = context
  const source = new TraceSource(context)
  const records = call === undefined ? source.records(file) : callsWith(call, source.records(file), file)
  if (out.json) {
    await out.documentOf('records', records, () => ({ problems: source.problems, problemCount: source.problemCount }))
    return EXIT_DONE
  }
  let count = 0
  for await (const record of records) {
    const text = recordText(record, out.paint)
    await out.text(count++ === 0 ? text : `\n${text}`)
    if (!out.isRead) return EXIT_DONE
  }
  source.tell()
  if (count === 0) out.note('no calls')
  return EXIT_DONE
}

/** Prints the JSON Schema of a record. Exit status 0. */
export async function schema({ out }: CliContext): Promise<number> {
  const { TRACE_SCHEMA } = await import('../../trace/schema.ts')
  await out.result({ json: () => TRACE_SCHEMA, text: () => JSON.stringify(TRACE_SCHEMA, null, 2) })
  return EXIT_DONE
}

/** The calls with this id, each behind the heading of its session. Throws CLI_USAGE where there is none. */
async function* callsWith(id: string, records: AsyncIterable<TraceRecord>, file: string): AsyncGenerator<TraceRecord> {
  const headings = new Map<string, SessionRecord>()
  let isFound = false
  for await (const record of records) {
    if (record.type === 'session') {
      if (headings.size >= KEPT_SESSIONS) headings.delete(headings.keys().next().value as string)
      headings.set(record.session, record)
    } else if (record.type === 'call' && (record.id === id || record.callId === id)) {
      isFound = true
      const heading = headings.get(record.session)
      headings.delete(record.session)
      if (heading !== undefined) yield heading
      yield record
    }
  }
  if (!isFound)
    throw new TaplineError('CLI_USAGE', `the trace file ${file} has no call ${JSON.stringify(id)}`, {
      remedy: `Look for its id with \`tapline trace show ${file}\`.`,
    })
}
