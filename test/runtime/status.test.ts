// The rows of the vectors say what is expected, and each kind of end has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
// vectors/status-paging.json, and the rules of spec 40. Rows with the server `h1` need a transport over HTTP, which comes with its own issue:
// there it is one more server over stdio, which changes none of the numbers of `ours`.
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { MemoryServer } from '../../src/connections/executors/memory.ts'
import type { LiveRuntime } from '../../src/runtime/live-runtime.ts'
import { assembleRuntime } from '../../src/runtime/open-runtime.ts'
import { cursorAfter } from '../../src/runtime/status-cursor.ts'
import type { RuntimeOptions, ServerStatus, Session, StatusQuery } from '../../src/runtime/types.ts'
import { CatalogBuilder } from '../../src/servers/catalog-builder.ts'
import { compareKeys, displayKey } from '../../src/servers/key.ts'
import type { KeyParts } from '../../src/servers/key.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { open, sleep } from '../pipeline/kit.ts'

interface Expected {
  readonly names?: readonly string[]
  readonly rows?: readonly (readonly [string, string | null])[]
  readonly nextCursor?: string | null
  readonly initialised?: readonly string[]
  readonly startedIn?: Readonly<Record<string, readonly string[]>>
  readonly error?: { readonly code: string }
}
interface Request {
  readonly limit?: number
  readonly cursor?: string
  readonly serverName?: string
  readonly environmentId?: string
  readonly detail?: 'toolsAndAuthOnly'
}
interface Row {
  readonly id: string
  readonly setup: string
  readonly flag?: boolean
  readonly request: Request
  readonly expect: Expected
  readonly runtimeStatus?: readonly string[]
  readonly ours:
    | 'same'
    | {
        readonly request?: Request
        readonly expect?: Expected
        readonly rows?: readonly { readonly name: string; readonly runtimeStatus: string; readonly error: readonly string[] }[]
      }
}
interface Setup {
  readonly flag?: boolean
  readonly servers?: readonly string[]
  readonly disabled?: readonly string[]
  readonly broken?: readonly string[]
  readonly threadWide?: readonly string[]
  readonly plugins?: Readonly<Record<string, readonly string[]>>
  readonly thread?: unknown
}
const { setups, cases } = JSON.parse(readFileSync(new URL('../vectors/status-paging.json', import.meta.url), 'utf8')) as {
  readonly setups: Readonly<Record<string, Setup>>
  readonly cases: readonly Row[]
}

const echo: MemoryServer = async ({ lines, send }) => {
  for await (const line of lines) {
    const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: { protocolVersion: string } }
    if (id === undefined) continue
    const result =
      method === 'initialize'
        ? {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {}, resources: {}, prompts: {} },
            serverInfo: { name: 'echo', version: '1' },
          }
        : {
            tools: [{ name: 'run', inputSchema: { type: 'object' } }],
            resources: [{ uri: 'a:b', name: 'b' }],
            resourceTemplates: [],
            prompts: [],
          }
    send({ jsonrpc: '2.0', id, result })
  }
}

interface Counted {
  readonly runtime: LiveRuntime
  /** display keys of the servers that were started */
  readonly started: string[]
}

async function counted(
  options: Pick<RuntimeOptions, 'environments' | 'mcpServers' | 'features' | 'selectedEnvironments'>,
): Promise<Counted> {
  const started: string[] = []
  const executor = memoryExecutor({
    good: (duplex) => (started.push(duplex.request.label), echo(duplex)),
    broken: async ({ request }) => void started.push(`broken ${request.label}`),
  })
  return { runtime: await assembleRuntime(options, new Map([['local', executor]])), started }
}

async function setUp(name: string, flag: boolean | undefined): Promise<Counted> {
  const setup = setups[name]!
  const define = (server: string): object => ({
    command: server.endsWith('-nocwd') || setup.broken?.includes(server) ? 'broken' : 'good',
    enabled: !setup.disabled?.includes(server),
  })
  const all = (servers: readonly string[] = []): Record<string, never> =>
    Object.fromEntries(servers.map((server) => [server, define(server) as never]))
  const environments = Object.fromEntries(Object.entries(setup.plugins ?? {}).map(([id, servers]) => [id, { mcpServers: all(servers) }]))
  return counted({
    features: { multi_environment_mcp: flag ?? setup.flag ?? false },
    environments,
    ...(setup.plugins && { selectedEnvironments: Object.keys(setup.plugins) }),
    mcpServers: all(setup.threadWide ?? setup.servers),
  })
}

/** `{after probe (environment env-b)}` → the cursor of a page that ends with that row. */
async function cursorFor(session: Session, word: string): Promise<string> {
  const display = /^\{after (.*)\}$/.exec(word)?.[1]
  if (display === undefined) return word
  const entry = (session as unknown as { resolver: { view: { servers: { key: KeyParts }[] } } }).resolver.view.servers.find(
    ({ key }) => displayKey(key) === display,
  )
  return cursorAfter(entry!.key)
}

const labelOf = (started: string): string => started.replace(/^broken /, '')

describe('status-paging.json', () => {
  test.each(cases)('$id', async (row) => {
    const setup = setups[row.setup]!
    const { runtime, started } = await setUp(row.setup, row.flag)
    await using _ = runtime
    const session = await runtime.openSession()
    // a thread of Codex is a session whose servers are connected
    if (setup.thread && !row.id.includes('before-first-turn')) await session.listTools()
    await sleep(0)
    const before = started.length
    const ours = row.ours === 'same' ? {} : row.ours
    const { limit, cursor, serverName, environmentId, detail } = ours.request ?? row.request
    const want = ours.expect ?? row.expect
    const query: StatusQuery = {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor: await cursorFor(session, cursor) }),
      ...(serverName !== undefined && { server: serverName }),
      ...(environmentId !== undefined && { environmentId }),
      ...(detail !== undefined && { detail: 'tools_and_auth' }),
    }
    const page = await session.status(query).catch((error: { code: string }) => ({ error }))
    const now = started.slice(before)
    if (want.error !== undefined) {
      expect(page).toMatchObject({ error: { code: want.error.code } })
    } else {
      const { data, nextCursor } = page as { data: readonly ServerStatus[]; nextCursor: string | null }
      if (want.names) expect(data.map(({ owner }) => owner.name)).toEqual(want.names)
      if (want.rows) expect(data.map(({ owner }) => [owner.name, owner.environmentId])).toEqual(want.rows)
      expect(nextCursor).toBe(want.nextCursor == null ? null : await cursorFor(session, want.nextCursor))
      if (row.runtimeStatus) expect(data.map(({ runtimeStatus }) => runtimeStatus)).toEqual(row.runtimeStatus)
      for (const { name, runtimeStatus, error } of ours.rows ?? []) {
        const found = data.find(({ owner }) => owner.name === name)
        expect(found).toMatchObject({ runtimeStatus })
        expect(Object.keys(found!.error!)).toEqual(error)
      }
    }
    if (want.initialised)
      expect(
        now
          .filter((label) => !label.startsWith('broken'))
          .map(labelOf)
          .toSorted(),
      ).toEqual(want.initialised.toSorted())
    // Codex starts a broken server for every page; ours waits a little after a failure, and starts nothing outside of the page either way
    if (want.startedIn) expect(now.filter((label) => !label.startsWith('broken'))).toEqual([])
  })
})

test('no row asks for what is outside of its page, and asking again starts nothing', async () => {
  const { runtime, started } = await counted({
    mcpServers: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`s${n}`, { command: 'good' }])),
  })
  await using _ = runtime
  const session = await runtime.openSession()
  const first = await session.status({ limit: 5 })
  expect(first.data).toHaveLength(5)
  expect(started.toSorted()).toEqual(first.data.map(({ owner }) => String(owner)).toSorted())
  const other = await runtime.openSession()
  expect((await other.status({ limit: 5 })).data.map(({ runtimeStatus }) => runtimeStatus)).toEqual(
    Array.from({ length: 5 }, () => 'connected'),
  )
  await session.status({ limit: 5 })
  expect(started).toHaveLength(5)
})

test('statusPages discovers a page when it is asked for', async () => {
  const { runtime, started } = await counted({ mcpServers: { a: { command: 'good' }, b: { command: 'good' }, c: { command: 'good' } } })
  await using _ = runtime
  const session = await runtime.openSession()
  const names: string[][] = []
  const counts: number[] = []
  for await (const { data } of session.statusPages({ limit: 1 })) {
    names.push(data.map(({ owner }) => owner.name))
    counts.push(started.length)
    if (names.length === 2) break
  }
  expect([names, counts, started]).toEqual([
    [['a'], ['b']],
    [1, 2],
    ['a', 'b'],
  ])
})

test('a server that hangs costs its own row an error after its own limit; the other rows of the page come back', async () => {
  const executor = memoryExecutor({
    good: echo,
    hangs: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  })
  await using runtime = await assembleRuntime(
    { mcpServers: { a: { command: 'good' }, b: { command: 'hangs', startupTimeoutSec: 0.1 }, c: { command: 'good' } } },
    new Map([['local', executor]]),
  )
  const session = await runtime.openSession()
  const { data } = await session.status()
  expect(data).toMatchObject([
    { runtimeStatus: 'connected', error: null },
    {
      runtimeStatus: 'failed',
      error: { code: 'SERVER_START_TIMED_OUT', message: expect.any(String), remedy: expect.any(String) },
      tools: [],
      serverInfo: null,
    },
    { runtimeStatus: 'connected', error: null },
  ])
})

test('a row has what spec 40 names; tools_and_auth asks for tools only', async () => {
  await using t = await open([], { threadWide: { s: { tools: { run: {} }, resources: { 'note://1': 'milk' } } } })
  const { data } = await t.session.status({ detail: 'tools_and_auth' })
  expect(t.sent.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/list'])
  expect(data).toMatchObject([{ resources: null, resourceTemplates: null, prompts: null, tools: [{ tool: 'run' }] }])
  const full = await t.session.status()
  expect(full.data).toMatchObject([
    {
      owner: { name: 's', environmentId: null, installationId: null },
      runtimeStatus: 'connected',
      authStatus: 'unsupported',
      pluginId: null,
      provenance: [expect.any(String)],
      httpOrigin: null,
      protocolVersion: expect.stringMatching(/^20\d\d-/),
      serverInfo: { name: 'scripted' },
      capabilities: { tools: {} },
      resources: [{ uri: 'note://1' }],
      resourceTemplates: [],
      prompts: [],
      error: null,
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      startMs: expect.any(Number),
    },
  ])
})

test.each<[StatusQuery, string]>([
  [{ limit: -1 }, 'CALL_INVALID_REQUEST'],
  [{ limit: 1.5 }, 'CALL_INVALID_REQUEST'],
  [{ limit: Number.NaN }, 'CALL_INVALID_REQUEST'],
  [{ limit: '2' as never }, 'CALL_INVALID_REQUEST'],
  [{ detail: 'all' as never }, 'CALL_INVALID_REQUEST'],
  [{ cursor: null as never }, 'INVALID_CURSOR'],
  [{ cursor: 7 as never }, 'INVALID_CURSOR'],
  [{ cursor: 's1.' }, 'INVALID_CURSOR'],
  [{ cursor: `s1.${Buffer.from('["a"]').toString('base64url')}` }, 'INVALID_CURSOR'],
  [{ cursor: `s1.${Buffer.from('["a",1,null]').toString('base64url')}` }, 'INVALID_CURSOR'],
  [{ cursor: `${cursorAfter({ name: 'a', environmentId: null, installationId: null })}=` }, 'INVALID_CURSOR'],
  [{ cursor: `x1.${cursorAfter({ name: 'a', environmentId: null, installationId: null }).slice(3)}` }, 'INVALID_CURSOR'],
])('%j is %s, and contacts nobody', async (query, code) => {
  const { runtime, started } = await counted({ mcpServers: { a: { command: 'good' } } })
  await using _ = runtime
  const session = await runtime.openSession()
  await expect(session.status(query)).rejects.toMatchObject({ code })
  expect(started).toEqual([])
})

test('null and the empty text as an environment, with and without the flag', async () => {
  for (const isOn of [true, false]) {
    const { runtime } = await counted({
      features: { multi_environment_mcp: isOn },
      environments: { e: { mcpServers: { a: { command: 'good' } } } },
      selectedEnvironments: ['e'],
      mcpServers: { w: { command: 'good' } },
    })
    await using _ = runtime
    const session = await runtime.openSession()
    const names = async (query: StatusQuery): Promise<string[]> => (await session.status(query)).data.map(({ owner }) => String(owner))
    if (isOn) {
      expect(await names({ environmentId: 'e' })).toEqual(['a (environment e)'])
      expect(await names({ environmentId: null })).toEqual(['w'])
      expect(await names({ environmentId: 'thread-wide' })).toEqual(['w'])
    } else await expect(names({ environmentId: 'e' })).rejects.toMatchObject({ code: 'UNKNOWN_ARGUMENT' })
  }
})

const part = fc.constantFrom('a', 'A', 'b', 'ab', 'a-b', 'Z', 'z', 'z9')
const key = fc.record({ name: part, environmentId: fc.option(fc.constantFrom('dev', 'Prod', 'x'), { nil: null }) })

test('pages while servers come and go: nothing twice, nothing left out that was there all along', async () => {
  const runtimeOf = (keys: readonly { name: string; environmentId: string | null }[]): Promise<Counted> => {
    const environments: Record<string, { mcpServers: Record<string, never> }> = {
      dev: { mcpServers: {} },
      Prod: { mcpServers: {} },
      x: { mcpServers: {} },
    }
    const mcpServers: Record<string, never> = {}
    // disabled: this is about rows, not about processes
    for (const { name, environmentId } of keys)
      (environmentId === null ? mcpServers : environments[environmentId]!.mcpServers)[name] = { command: 'good', enabled: false } as never
    return counted({ features: { multi_environment_mcp: true }, environments, selectedEnvironments: ['dev', 'Prod', 'x'], mcpServers })
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(key, { selector: ({ name, environmentId }) => `${name} ${environmentId}`, maxLength: 12 }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.nat(4),
      async (versions, limit) => {
        const seen: string[] = []
        const ordered: KeyParts[] = []
        let cursor: string | undefined
        let pages = 0
        for (let page = 0; page < 200; page++) {
          pages++
          // each page is of another catalog, the last one stays
          const { runtime } = await runtimeOf(versions[Math.min(page, versions.length - 1)]!)
          await using _ = runtime
          const session = await runtime.openSession()
          const { data, nextCursor } = await session.status({ limit, ...(cursor !== undefined && { cursor }) })
          expect(data.length).toBeLessThanOrEqual(Math.max(1, limit))
          for (const { owner } of data) {
            seen.push(String(owner))
            ordered.push(owner)
          }
          if (nextCursor === null) break
          cursor = nextCursor
        }
        expect(new Set(seen).size).toBe(seen.length)
        expect(ordered).toEqual(ordered.toSorted(compareKeys))
        const lived = versions
          .slice(0, pages)
          .reduce((all, next) =>
            all.filter((one) => next.some((other) => other.name === one.name && other.environmentId === one.environmentId)),
          )
        for (const { name, environmentId } of lived) expect(seen).toContain(displayKey({ name, environmentId, installationId: null }))
      },
    ),
    { numRuns: 40 },
  )
})

test('shadowed registrations are diagnostics, not rows', async () => {
  await using t = await openTestRuntime({
    environments: { a: { x: { tools: {} } }, b: { x: { tools: {} } } },
    session: { environments: ['a', 'b'] },
  })
  expect((await t.session.status()).data.map(({ owner }) => String(owner))).toEqual(['x (environment a)'])
  expect(t.session.diagnostics).toMatchObject([{ code: 'shadowed', owner: { name: 'x', environmentId: 'b' } }])
})

test('without discover: what is known, nothing is started, and what starts is shown as that', async () => {
  let letGo = (): void => {}
  const go = new Promise<void>((resolve) => (letGo = resolve))
  const executor = memoryExecutor({
    good: echo,
    slow: async (duplex) => (await go, echo(duplex)),
    broken: async () => {},
  })
  await using runtime = await assembleRuntime(
    {
      mcpServers: {
        a: { command: 'good' },
        b: { command: 'slow' },
        c: { command: 'broken' },
        d: { command: 'good' },
        e: { command: 'good', enabled: false },
      },
    },
    new Map([['local', executor]]),
  )
  const [session, other] = [await runtime.openSession(), await runtime.openSession()]
  const states = async (of: Session | LiveRuntime): Promise<string[]> =>
    (await of.status({ discover: false })).data.map(({ runtimeStatus }) => runtimeStatus)
  expect(await states(session)).toEqual(['idle', 'idle', 'idle', 'idle', 'disabled'])
  await session.listTools({ server: 'a' })
  await session.listTools({ server: 'c' })
  const starting = session.listTools({ server: 'b' })
  // whoever asks sees the same, though it is one session that has them
  for (const of of [session, other, runtime]) expect(await states(of)).toEqual(['connected', 'starting', 'failed', 'idle', 'disabled'])
  const { data } = await other.status({ discover: false })
  expect(data).toMatchObject([
    { tools: [{ tool: 'run' }], resources: null, error: null },
    { tools: [], error: null, pid: null },
    { error: { code: 'SERVER_START_FAILED', remedy: expect.stringMatching(/./) } },
    { tools: [], error: null },
    { tools: [], error: null },
  ])
  letGo()
  await starting
  expect(await states(session)).toEqual(['connected', 'connected', 'failed', 'idle', 'disabled'])
  await expect(session.status({ discover: 'no' as never })).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST' })
})

test('a server that has left the catalog keeps its row in the session where it is alive, and nowhere else', async () => {
  const { runtime, started } = await counted({ mcpServers: { a: { command: 'good' }, b: { command: 'good' }, c: { command: 'good' } } })
  const { runtime: later } = await counted({ mcpServers: { b: { command: 'good' } } })
  await using _ = runtime
  await using __ = later
  const [session, other] = [await runtime.openSession(), await runtime.openSession()]
  await session.listTools({ server: 'a' })
  const names = async (of: Session | LiveRuntime): Promise<string[]> => (await of.status()).data.map(({ owner }) => owner.name)
  const builder = new CatalogBuilder()
  builder.add(later.catalog.entries[0]!.registration)
  runtime.catalog = builder.build(runtime.parts.keys, 2)
  expect(await names(session)).toEqual(['a', 'b'])
  expect(await names(other)).toEqual(['b'])
  expect(await names(runtime)).toEqual(['b'])
  expect(await names(await runtime.openSession())).toEqual(['b'])
  expect(await session.callTool({ server: 'a', tool: 'run' })).toMatchObject({ outcome: 'no_approver', owner: { name: 'a' } })
  expect(started.toSorted()).toEqual(['a', 'b'])
})

test('an empty name or environment counts as left out', async () => {
  const { runtime } = await counted({ mcpServers: { a: { command: 'good' }, b: { command: 'good' } } })
  await using _ = runtime
  const session = await runtime.openSession()
  for (const query of [{ server: '' }, { environmentId: '' }, { server: '', environmentId: '' }, { server: null as never }])
    expect((await session.status(query)).data).toHaveLength(2)
  expect((await session.listTools({ server: '', environmentId: '' })).tools).toHaveLength(2)
})
