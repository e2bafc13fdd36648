/** The JSON Schema of a line of a trace file: what is written fits it, and what does not fit it is not shown. */
import type { JsonObject } from '../json.ts'
import { TRACE_VERSION } from './records.ts'

const TEXT: JsonObject = { type: 'string' }
const TRUTH: JsonObject = { type: 'boolean' }
const MS: JsonObject = { type: 'number', minimum: 0 }
const COUNT: JsonObject = { type: 'integer', minimum: 0 }
const HOOK: JsonObject = { enum: ['resolve', 'approve', 'attachMetadata', 'dispatch'] }

/** An object with these keys; those whose name ends in `?` may be missing, others that are not named here may be there. */
function object(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  const named = Object.entries(properties).map(([key, schema]): [string, JsonObject] => [key.replace(/\?$/, ''), schema])
  return {
    type: 'object',
    required: Object.keys(properties).filter((key) => !key.endsWith('?')),
    properties: Object.fromEntries(named),
  }
}
const list = (items: JsonObject): JsonObject => ({ type: 'array', items })
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] })
const line = (type: string, properties: Readonly<Record<string, JsonObject>>): JsonObject =>
  object({ v: { const: TRACE_VERSION }, type: { const: type }, time: TEXT, ...properties })

const KEY = object({ name: TEXT, environmentId: orNull(TEXT), installationId: orNull(TEXT), display: TEXT })

const TAP = object({
  hook: HOOK,
  tap: TEXT,
  plugin: TEXT,
  mode: { enum: ['shadow', 'enforce'] },
  decision: TEXT,
  inEffect: TRUTH,
  'reason?': TEXT,
  changedArguments: TRUTH,
  durationMs: MS,
  'nextCalls?': COUNT,
  'changedResult?': TRUTH,
})

const TRACE = object({
  candidates: list(KEY),
  taps: list(TAP),
  shadow: list(object({ plugin: TEXT, wouldHave: list(TEXT) })),
  'notes?': list(object({ hook: TEXT, tap: TEXT, plugin: TEXT, text: TEXT })),
  approval: orNull(object({ source: TEXT, waitedMs: MS })),
  metaKeys: list(object({ key: TEXT, by: TEXT })),
  connection: orNull(object({ id: TEXT, reused: TRUTH })),
  timingsMs: { type: 'object', additionalProperties: MS },
})

const SESSION = line('session', {
  session: TEXT,
  tapline: TEXT,
  node: TEXT,
  platform: TEXT,
  pid: COUNT,
  environments: list(object({ id: TEXT, executor: TEXT, cwd: TEXT })),
  flags: list(
    object({
      flagKey: TEXT,
      value: { type: ['boolean', 'string', 'number'] },
      'variant?': TEXT,
      reason: TEXT,
      'errorCode?': TEXT,
      'errorMessage?': TEXT,
      source: TEXT,
    }),
  ),
  plugins: list(object({ name: TEXT, mode: { enum: ['off', 'shadow', 'enforce'] }, 'flag?': TEXT })),
})

const CALL = line('call', {
  session: TEXT,
  id: TEXT,
  callId: TEXT,
  method: TEXT,
  owner: orNull(KEY),
  tool: orNull(TEXT),
  arguments: orNull(object({ bytes: COUNT, digest: TEXT, 'value?': { type: 'object' } })),
  outcome: TEXT,
  code: TEXT,
  sent: { enum: ['no', 'yes', 'unknown'] },
  durationMs: MS,
  'isError?': TRUTH,
  ...Object.fromEntries(['message', 'by', 'reason', 'phase', 'hook', 'tap', 'plugin', 'key', 'what'].map((key) => [`${key}?`, TEXT])),
  'limitMs?': MS,
  trace: TRACE,
})

const GAP = line('gap', { records: COUNT })

/** Draft 2020-12. Words of outcomes, codes and decisions are left open: a later version may have more of them. */
export const TRACE_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A line of a trace file of tapline',
  type: 'object',
  required: ['v', 'type'],
  properties: { v: { const: TRACE_VERSION }, type: { enum: ['session', 'call', 'gap'] } },
  allOf: [SESSION, CALL, GAP].map((schema) => ({
    if: { properties: { type: (schema['properties'] as JsonObject)['type'] as JsonObject } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: schema,
  })),
}
