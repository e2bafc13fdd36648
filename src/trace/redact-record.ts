/** Takes secrets out of a record, and leaves what is ours in it: a configured value may be one of our own words. */
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Secrets } from '../secrets.ts'
import type { TraceRecord } from './records.ts'

/** what stands under these keys is a word of ours, or lists of them; keys that are not named here are redacted */
const OURS: ReadonlySet<string> = new Set([
  'type',
  'time',
  'tapline',
  'node',
  'platform',
  'method',
  'digest',
  'outcome',
  'code',
  'sent',
  'phase',
  'hook',
  'what',
  'mode',
  'decision',
  'wouldHave',
  'source',
])
/** under `by` is a word of ours, or the name of a plugin */
const BY: ReadonlySet<unknown> = new Set(['tap', 'tap_failure', 'policy', 'person', 'reviewer', 'host', 'tapline', 'dropped'])

/** The record with every text from outside redacted; of the keys only those of arguments. */
export function redactRecord(record: TraceRecord, secrets: Secrets): TraceRecord {
  return secrets.isEmpty ? record : (redacted(record as unknown as JsonObject, secrets) as unknown as TraceRecord)
}

function redacted(value: Json, secrets: Secrets): Json {
  if (typeof value === 'string') return secrets.redact(value)
  if (Array.isArray(value)) return value.map((one: Json) => redacted(one, secrets))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    if (OURS.has(key) || (key === 'by' && BY.has(member))) return [key, member]
    if (key !== 'arguments' || !isJsonObject(member) || member['value'] === undefined) return [key, redacted(member, secrets)]
    // the only place where keys come from outside
    return [key, { ...member, value: secrets.redactJson(member['value']) }]
  })
  return Object.fromEntries(entries)
}
