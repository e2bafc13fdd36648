import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/json.ts'
import { OWNERSHIP_KEYS } from '../../src/ownership-keys.ts'
import { isReservedKey, metaKeyProblem, stripReserved } from '../../src/hooks/reserved-metadata.ts'

test.each([
  'progressToken',
  'codex/sandbox-state',
  'codex/anything',
  'codex/',
  'mcp/x',
  'modelcontextprotocol/x',
  'io.modelcontextprotocol/related-task',
  'dev.mcp/x',
  'com.example.mcp/x',
  // MCP 2025-11-25: the second label
  'org.modelcontextprotocol.api/x',
  'com.mcp.tools/x',
  // MCP 2025-06-18: before the last label
  'modelcontextprotocol.io/x',
  'tools.mcp.com/x',
])('%s is reserved', (key) => {
  expect(isReservedKey(key)).toBe(true)
  expect(metaKeyProblem(key)).toBe('reserved')
})

test.each([
  'example.com/ticket',
  'x.test/own',
  'x/y',
  'com.mcp-tools/x',
  'example.com/mcp',
  'codexx/state',
  'com.codex/state',
  'a-1.b2/c_d.e-f',
  'traceparent',
  'tracestate',
  'baggage',
])('%s is free', (key) => {
  expect(isReservedKey(key)).toBe(false)
  expect(metaKeyProblem(key)).toBeNull()
})

test.each([
  'ticket',
  'Traceparent',
  'tracecontext',
  '',
  '/',
  '/x',
  'x/',
  'threadId',
  '1a.com/x',
  'a..b/x',
  'a-/x',
  'a b/x',
  'a/b/c',
  'a/-b',
  '__proto__',
  'a/b\n',
])('%j needs a prefix', (key) => {
  expect(metaKeyProblem(key)).toBe('needs_prefix')
})

test('every ownership word is ownership', () => {
  expect(OWNERSHIP_KEYS.size).toBe(15)
  for (const key of OWNERSHIP_KEYS) expect(metaKeyProblem(key)).toBe('ownership')
})

interface Spoof {
  readonly kind: string
  readonly id: string
  readonly callerMeta: JsonObject
  readonly ours: { readonly result: Readonly<Record<string, string>>; readonly trace: readonly string[] }
}
const vectors = JSON.parse(readFileSync(new URL('../vectors/sandbox-meta.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Spoof[]
}

test.each(vectors.cases.filter(({ kind }) => kind === 'spoof'))('what a caller forges is dropped: $id', ({ callerMeta, ours }) => {
  const { kept, dropped } = stripReserved(callerMeta)
  expect(dropped).toEqual(ours.trace)
  expect(Object.keys(kept)).toEqual(Object.keys(ours.result).filter((key) => ours.result[key] === 'passed on'))
})

test('a caller keeps every other key, the reserved ones of MCP and __proto__ included', () => {
  const meta = JSON.parse(
    '{"__proto__":{"a":1},"codex/x":1,"io.modelcontextprotocol/related-task":{"taskId":"1"},"traceparent":"00"}',
  ) as JsonObject
  const { kept, dropped } = stripReserved(meta)
  expect(dropped).toEqual(['codex/x'])
  expect(JSON.stringify(kept)).toBe('{"__proto__":{"a":1},"io.modelcontextprotocol/related-task":{"taskId":"1"},"traceparent":"00"}')
  expect(stripReserved(kept).kept).toBe(kept)
})
