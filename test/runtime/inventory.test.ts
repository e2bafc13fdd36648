import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/json.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Runtime, RuntimeOptions } from '../../src/runtime/types.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'

const TINY = join(import.meta.dirname, '..', 'cases', 'servers', 'tiny.sh')
let folder: string
let ledger: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapline-inventory-'))
  ledger = join(folder, 'ledger')
})
afterEach(() => rm(folder, { recursive: true }))

const tiny = (name: string, env: Readonly<Record<string, string>> = {}) => ({
  command: 'sh',
  args: [TINY, name],
  env: { CASE_LEDGER: ledger, ...env },
})
const open = (
  mcpServers: RuntimeOptions['mcpServers'] & object,
  store: RuntimeOptions['store'] = { file: join(folder, 'store') },
): Promise<Runtime> => openRuntime({ mcpServers, store })
const started = async (): Promise<number> =>
  existsSync(ledger) ? (await readFile(ledger, 'utf8')).split('\n').filter((line) => line.includes('"initialize"')).length : 0
async function list(runtime: Runtime, options: object = {}): Promise<string[]> {
  const session = await runtime.openSession()
  const { tools, pending, errors } = await session.listTools(options)
  expect(errors).toEqual([])
  return [...tools.map((tool) => `${tool.name}${tool.cached ? ' cached' : ''}`), ...pending.map((key) => `${key} pending`)]
}
async function learn(servers: RuntimeOptions['mcpServers'] & object, store?: RuntimeOptions['store']): Promise<void> {
  await using runtime = await open(servers, store)
  await list(runtime)
}

test('the tools of 50 servers, and no process is started', async () => {
  const servers = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`s${i}`, tiny(`s${i}`)]))
  await learn(servers)
  expect(await started()).toBe(50)
  await using runtime = await open(servers)
  const names = await list(runtime, { cached: true })
  expect(names).toHaveLength(50)
  expect(new Set(names)).toEqual(new Set(Array.from({ length: 50 }, (_, i) => `mcp__s${i}__s${i} cached`)))
  expect(await started()).toBe(50)
})

test('a server that was never listed is pending; only its own definition counts, not its policy', async () => {
  await learn({ a: tiny('a'), b: tiny('b') })
  await using runtime = await open({ a: { ...tiny('a'), toolTimeoutSec: 7 }, b: tiny('b', { MORE: '1' }), c: tiny('c') })
  expect(await list(runtime, { cached: true })).toEqual(['mcp__a__a cached', 'b pending', 'c pending'])
})

test('what is connected is shown live, and a live list takes the place of the cached one', async () => {
  await learn({ a: tiny('a') })
  await using runtime = await open({ a: tiny('a') })
  const session = await runtime.openSession()
  const cached = await session.listTools({ cached: true })
  expect((await session.listTools({ cached: true })).generation).toBe(cached.generation)
  const live = await session.listTools()
  expect([cached.tools[0]?.cached, live.tools[0]?.cached]).toEqual([true, false])
  expect(live.generation).toBeGreaterThan(cached.generation)
  expect((await session.listTools({ cached: true })).tools[0]?.cached).toBe(false)
})

/** Changes what the inventory says, as somebody who can write the file could. */
async function tamper(store: Store, change: (entry: JsonObject) => Json): Promise<void> {
  for await (const { key, value } of store.list('inventory'))
    await store.put('inventory', key, JSON.stringify(change(JSON.parse(value) as JsonObject)))
}

test('no call is judged by it: what it says of annotations and tools counts for nothing', async () => {
  const server = scriptedServer({ tools: { write: { annotations: { readOnlyHint: false } } } })
  const store = memoryStore()
  const openOne = () => openTestRuntime({ threadWide: { s: server }, store, session: { approver: null } })
  {
    await using first = await openOne()
    await first.session.listTools()
  }
  await tamper(store, (entry) => ({
    ...entry,
    tools: [
      { name: 'write', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } },
      { name: 'gone', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } },
    ],
  }))
  await using t = await openOne()
  const { tools } = await t.session.listTools({ cached: true })
  expect(tools.map(({ tool, cached, annotations }) => [tool, cached, annotations.readOnlyHint])).toEqual([
    ['write', true, true],
    ['gone', true, true],
  ])
  expect(t.sent).toEqual([])
  expect(await t.callTool({ name: tools[0]!.name })).toMatchObject({ outcome: 'no_approver', sent: 'no' })
  expect(await t.callTool({ name: tools[1]!.name })).toMatchObject({ outcome: 'invalid_request', code: 'UNKNOWN_TOOL', sent: 'no' })
  expect(t.sent.map(({ method }) => method)).not.toContain('tools/call')
})

test.each<[string, (entry: JsonObject) => Json]>([
  ['of another format', (entry) => ({ ...entry, version: 2 })],
  ['from the future', (entry) => ({ ...entry, at: Date.now() + 1e9 })],
  ['with a tool that is none', (entry) => ({ ...entry, tools: [{ name: 7 }] })],
  ['that is a list', () => []],
  ['that is nothing', () => null],
])('an entry %s is not there, and that is told', async (_what, change) => {
  const store = memoryStore()
  await learn({ a: tiny('a') }, store)
  await tamper(store, change)
  await using runtime = await open({ a: tiny('a') }, store)
  expect(await list(runtime, { cached: true })).toEqual(['a pending'])
  expect(runtime.diagnostics).toContainEqual(expect.objectContaining({ code: 'inventory_unreadable', severity: 'info' }))
})

test('a damaged file, a key of somebody else and a store that fails cost the inventory and nothing else', async () => {
  const at = join(folder, 'store')
  await learn({ a: tiny('a') })
  const file = join(at, 'inventory.json')
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20))
  {
    await using damaged = await open({ a: tiny('a') })
    expect(await list(damaged, { cached: true })).toEqual(['a pending'])
    expect(damaged.diagnostics).toContainEqual(expect.objectContaining({ code: 'inventory_failed' }))
    expect(await list(damaged)).toEqual(['mcp__a__a'])
  }
  {
    await using again = await open({ a: tiny('a') })
    expect(await list(again, { cached: true })).toEqual(['mcp__a__a cached'])
  }
  await rm(join(at, 'tokens.json'))
  {
    await using other = await open({ a: tiny('a') })
    expect(await list(other, { cached: true })).toEqual(['a pending'])
  }
  const blocked = join(folder, 'blocked')
  await writeFile(blocked, '')
  await using failing = await open({ a: tiny('a') }, { file: join(blocked, 'store') })
  expect(await list(failing)).toEqual(['mcp__a__a'])
})

test('no secret is in the store in the clear, and another secret is another entry', async () => {
  const secret = 'a-secret-of-this-test'
  const server = { ...tiny(secret), env: { CASE_LEDGER: ledger, TOKEN: '${INVENTORY_TOKEN}' } }
  process.env['INVENTORY_TOKEN'] = secret
  try {
    await learn({ a: server })
    for (const area of ['inventory', 'tokens']) {
      const file = join(folder, 'store', `${area}.json`)
      // the server answers its own name, which is the secret
      expect(await readFile(file, 'utf8')).not.toContain(secret)
      expect((await stat(file)).mode & 0o777).toBe(0o600)
    }
    {
      await using runtime = await open({ a: server })
      expect(await list(runtime, { cached: true })).toHaveLength(1)
    }
    process.env['INVENTORY_TOKEN'] = 'another-secret-value'
    await using runtime = await open({ a: server })
    expect(await list(runtime, { cached: true })).toEqual(['a pending'])
  } finally {
    delete process.env['INVENTORY_TOKEN']
  }
})

test('nothing is written where nothing is new', async () => {
  await learn({ a: tiny('a') })
  const file = join(folder, 'store', 'inventory.json')
  const { ino, mtimeMs } = await stat(file)
  await learn({ a: tiny('a') })
  expect(await stat(file)).toMatchObject({ ino, mtimeMs })
  await learn({ a: tiny('a'), b: tiny('b') })
  expect((await stat(file)).ino).not.toBe(ino)
})

test('several runtimes at once: every list is there afterwards', async () => {
  const groups = Array.from({ length: 4 }, (_, group) =>
    Object.fromEntries(Array.from({ length: 5 }, (_one, i) => [`g${group}s${i}`, tiny(`g${group}s${i}`)])),
  )
  await Promise.all(groups.map((servers) => learn(servers)))
  await using runtime = await open(Object.assign({}, ...groups) as object as RuntimeOptions['mcpServers'] & object)
  expect((await list(runtime, { cached: true })).filter((line) => line.endsWith(' cached'))).toHaveLength(20)
})

test('a list that was cut short is not kept', async () => {
  const store = memoryStore()
  const server = join(folder, 'endless.mjs')
  await mkdir(folder, { recursive: true })
  await writeFile(
    server,
    `import { createInterface } from 'node:readline'
     createInterface({ input: process.stdin }).on('line', (line) => {
       const { id, method, params } = JSON.parse(line)
       const result = method === 'initialize'
         ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'e', version: '1' } }
         : { tools: [{ name: 't', inputSchema: { type: 'object' } }], nextCursor: 'again' }
       if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
     })`,
  )
  const endless = { e: { command: process.execPath, args: [server] } }
  await learn(endless, store)
  await using runtime = await open(endless, store)
  expect(await list(runtime, { cached: true })).toEqual(['e pending'])
})
