import fc from 'fast-check'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/json.ts'
import type { ConnectionPool } from '../../src/connections/pool.ts'
import { readList, readTools } from '../../src/connections/lists.ts'
import { TaplineError } from '../../src/errors.ts'
import type { Diagnostic } from '../../src/servers/diagnostic.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostPool, keys, lease, readLog, until } from './fixtures/pool.ts'

const key = keys.intern({ name: 'srv', environmentId: null, installationId: null })
const folder = mkdtempSync(join(tmpdir(), 'tapline-lists-'))
let pool: ConnectionPool | null = null
afterEach(async () => {
  await pool?.close()
  pool = null
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const codes = (diagnostics: readonly Diagnostic[]): string[] => diagnostics.map(({ code }) => code)

test.each([
  ['list-same', 2],
  ['list-cycle', 4],
  ['list-fresh', 64],
])('%s: the pages end after %i requests, with one diagnostic that names the server, and nothing twice', async (mode, requests) => {
  const log = join(folder, mode)
  pool = hostPool()
  const { connection } = lease(pool, mode, { log })
  const { tools, diagnostics } = await connection.ready()
  expect([...tools.keys()]).toEqual(['a', 'b'])
  expect(codes(diagnostics)).toEqual(['list_cut_short'])
  expect(diagnostics[0]?.message).toContain(mode)
  const { items, diagnostics: others } = await connection.list('resources')
  expect(items).toEqual([{ uri: 'x://1', name: 'one', extra: 1 }])
  expect(codes(others)).toEqual(['list_cut_short', 'bad_item'])
  const templates = await connection.list('resourceTemplates')
  expect([templates.items, codes(templates.diagnostics)]).toEqual([[{ uriTemplate: 'x://{a}', name: 'one' }], ['list_cut_short']])
  const prompts = await connection.list('prompts')
  expect([prompts.items, codes(prompts.diagnostics)]).toEqual([[{ name: 'ask' }], ['list_cut_short']])
  const methods = readLog(log).map((one) => one['event'])
  for (const list of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])
    expect([list, methods.filter((one) => one === list).length]).toEqual([list, requests])
})

test('an empty cursor is sent back once and ends the list quietly when it comes again', async () => {
  const log = join(folder, 'empty')
  pool = hostPool()
  const { tools, diagnostics } = await lease(pool, 'list-empty-cursor', { log }).connection.ready()
  expect([...tools.keys()]).toEqual(['a', 'b'])
  expect(diagnostics).toEqual([])
  expect(
    readLog(log)
      .filter((one) => one['event'] === 'tools/list')
      .map((one) => (one['params'] as JsonObject)['cursor']),
  ).toEqual([undefined, ''])
})

test('the start limit ends slow pages: what was read is kept', async () => {
  pool = hostPool()
  const { connection } = lease(pool, 'list-slow', { policy: { startupTimeoutMs: 4000 } })
  const { tools, diagnostics } = await connection.ready()
  expect([...tools.keys()]).toEqual(['a', 'b'])
  expect(codes(diagnostics)).toEqual(['list_cut_short'])
  expect(diagnostics[0]?.message).toMatch(/list-slow.*did not end within/)
  expect(connection.state).toBe('connected')
})

test('of two definitions of one tool the first stays; odd items are left out with a diagnostic', async () => {
  const seen: Diagnostic[] = []
  pool = hostPool({ diagnostics: seen })
  const { tools, diagnostics } = await lease(pool, 'list-odd').connection.ready()
  expect([...tools.keys()]).toEqual(['run', 'Run', '__proto__'])
  expect(tools.get('run')?.description).toBe('first')
  expect(tools.get('__proto__')?.inputSchema).toEqual({ type: 'object' })
  expect(codes(diagnostics)).toEqual(['list_cut_short', 'duplicate_tool', 'bad_item'])
  expect(diagnostics[0]?.message).toContain('its next cursor is no text')
  expect(diagnostics[1]?.message).toMatch(/^list-odd.*\brun\b/)
  expect(seen).toEqual(diagnostics)
})

test('a server without tools is asked for none; one without resources or templates has none', async () => {
  const log = join(folder, 'none')
  pool = hostPool()
  const { connection } = lease(pool, 'no-tools', { log })
  expect((await connection.ready()).tools.size).toBe(0)
  expect(await connection.list('resources')).toEqual({ items: [], diagnostics: [] })
  await until(() => readLog(log).length >= 3, 'the server has read everything')
  expect(readLog(log).map((one) => one['event'])).toEqual(['start', 'initialize', 'notifications/initialized'])
  const { connection: other } = lease(pool, 'plain')
  expect((await other.list('resourceTemplates')).items).toEqual([])
  expect((await other.list('prompts')).items).toEqual([])
})

test('a tool that is nested deeply enough to overflow a stack is left out', async () => {
  let schema: unknown = {}
  for (let i = 0; i < 100_000; i++) schema = { a: schema }
  const { tools, diagnostics } = await readTools(
    { key, page: () => Promise.resolve({ tools: [{ name: 'deep', inputSchema: schema }, { name: 'fine' }] } as JsonObject) },
    1000,
  )
  expect([...tools.keys()]).toEqual(['fine'])
  expect(codes(diagnostics)).toEqual(['bad_item'])
})

test('a schema of 900 levels is listed as it came, and has a digest', async () => {
  let schema: JsonObject = { type: 'object' }
  for (let i = 0; i < 900; i++) schema = { a: schema }
  const text = JSON.stringify(schema)
  const { tools, diagnostics } = await readTools(
    { key, page: () => Promise.resolve({ tools: [{ name: 'deep', inputSchema: schema }] } as JsonObject) },
    1000,
  )
  expect([JSON.stringify(tools.get('deep')?.inputSchema) === text, diagnostics]).toEqual([true, []])
  expect(tools.get('deep')?.digest).toMatch(/./)
})

test('a later page that fails cuts the list short; a server that ends fails it', async () => {
  const source = (code: 'SERVER_FAILED' | 'SERVER_EXITED') => ({
    key,
    page: (_method: string, { cursor }: JsonObject) =>
      cursor === undefined
        ? Promise.resolve({ prompts: [{ name: 'p' }], nextCursor: 'x' } as JsonObject)
        : Promise.reject(new TaplineError(code, 'no')),
  })
  const list = await readList(source('SERVER_FAILED'), 'prompts', 1000)
  expect(list.items).toEqual([{ name: 'p' }])
  expect(codes(list.diagnostics)).toEqual(['list_cut_short'])
  await expect(readList(source('SERVER_EXITED'), 'prompts', 1000)).rejects.toMatchObject({ code: 'SERVER_EXITED' })
})

test('whatever a server answers, a list ends within 64 requests and keeps each item once', async () => {
  const item = fc.oneof(
    fc.record({ uri: fc.constantFrom('a', 'b', 'c') }),
    fc.anything().map((value) => value as never),
  )
  const page = fc.record(
    {
      resources: fc.oneof(fc.array(item), fc.jsonValue()),
      nextCursor: fc.oneof(fc.constantFrom('', 'x', 'y', 'z'), fc.string(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 5 }), async (pages) => {
      let requests = 0
      const source = { key, page: () => Promise.resolve(pages[requests++ % pages.length] as unknown as JsonObject) }
      const { items } = await readList(source, 'resources', 10_000)
      expect(requests).toBeLessThanOrEqual(64)
      const uris = items.map((one) => one['uri']).filter((uri) => typeof uri === 'string')
      expect(new Set(uris).size).toBe(uris.length)
    }),
  )
})
