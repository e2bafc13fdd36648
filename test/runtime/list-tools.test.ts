import { expect, test } from 'vitest'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { MemoryServer } from '../../src/connections/executors/memory.ts'
import { assembleRuntime } from '../../src/runtime/open-runtime.ts'
import type { LiveRuntime } from '../../src/runtime/live-runtime.ts'
import type { SessionEvent, Tool, ToolList } from '../../src/runtime/types.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import { oneToolServer } from '../one-tool-server.ts'
import { initialized, open, sleep } from '../pipeline/kit.ts'

/** Lists its tool and answers no call. */
const idle = oneToolServer(() => {})

const after =
  (ms: number): MemoryServer =>
  async (duplex) => {
    await sleep(ms)
    await idle(duplex)
  }
const hanging: MemoryServer = ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
const runtimeWith = (servers: Readonly<Record<string, MemoryServer>>, more: object = {}): Promise<LiveRuntime> =>
  assembleRuntime(
    { mcpServers: Object.fromEntries(Object.keys(servers).map((name) => [name, { command: name, ...more }])) },
    new Map([['local', memoryExecutor(servers)]]),
  )
const shape = ({ tools, pending, errors }: ToolList): object => ({
  tools: tools.map(({ owner }) => owner.name),
  pending: pending.map(String),
  errors: errors.map(({ owner, error }) => [owner.name, error.code]),
})

test('waitMs: 0 is what is there, some is up to that, none is up to the start limit of each', async () => {
  await using runtime = await runtimeWith({ fast: after(0), hangs: hanging, fails: async () => {} }, { startupTimeoutSec: 8 })
  const session = await runtime.openSession()
  expect(shape(await session.listTools({ waitMs: 0 }))).toEqual({ tools: [], pending: ['fails', 'fast', 'hangs'], errors: [] })
  await expect
    .poll(async () => shape(await session.listTools({ waitMs: 100 })), { timeout: 7000 })
    .toEqual({ tools: ['fast'], pending: ['hangs'], errors: [['fails', 'SERVER_START_FAILED']] })
  expect(shape(await session.listTools())).toEqual({
    tools: ['fast'],
    pending: [],
    errors: [
      ['fails', 'SERVER_START_FAILED'],
      ['hangs', 'SERVER_START_TIMED_OUT'],
    ],
  })
})

test('a signal ends the waiting, not the starts', async () => {
  await using runtime = await runtimeWith({ slow: after(1500) })
  const session = await runtime.openSession()
  expect(shape(await session.listTools({ signal: AbortSignal.timeout(20) }))).toEqual({ tools: [], pending: ['slow'], errors: [] })
  expect(shape(await session.listTools({ signal: AbortSignal.abort() }))).toEqual({ tools: [], pending: ['slow'], errors: [] })
  expect(shape(await session.listTools())).toEqual({ tools: ['slow'], pending: [], errors: [] })
})

test('the generation changes when the list does, and only then', async () => {
  const server = scriptedServer({ tools: { run: {} } })
  await using t = await openTestRuntime({ threadWide: { s: server, other: { tools: { x: {} } } } })
  const events: number[] = []
  t.session.subscribe((event) => event.type === 'tools_changed' && events.push(event.generation))
  const first = await t.session.listTools()
  const same = await t.session.listTools()
  expect(same.generation).toBe(first.generation)
  expect(same.tools[0]).toBe(first.tools[0])
  server.replaceTools({ run: {} })
  await sleep(60)
  expect((await t.session.listTools()).generation).toBe(first.generation)
  server.replaceTools({ run: {}, more: {} })
  for (let turn = 0; turn < 100 && (await t.session.listTools()).generation === first.generation; turn++) await sleep(10)
  const changed = await t.session.listTools()
  expect(changed.generation).toBeGreaterThan(first.generation)
  expect(changed.tools.map(({ tool }) => tool)).toEqual(['x', 'run', 'more'])
  expect(events.at(-1)).toBe(changed.generation)
})

test('only the servers that are meant are started', async () => {
  await using t = await openTestRuntime({
    features: { multi_environment_mcp: true },
    environments: { a: { x: { tools: { run: {} } } }, b: { x: { tools: { run: {} } } } },
    threadWide: { x: { tools: { run: {} } }, y: { tools: { run: {} } } },
  })
  const owners = async (query: Parameters<typeof t.session.listTools>[0]): Promise<string[]> =>
    (await t.session.listTools(query)).tools.map(({ owner }) => String(owner))
  expect(await owners({ server: 'nope' })).toEqual([])
  expect(initialized(t)).toEqual([])
  expect(await owners({ environmentId: 'b' })).toEqual(['x (environment b)'])
  expect(initialized(t)).toEqual(['x (environment b)'])
  expect(await owners({ environmentId: null })).toEqual(['x', 'y'])
  expect(await owners({ server: 'x' })).toEqual(['x', 'x (environment a)', 'x (environment b)'])
})

test('a tool has its owner, its names, and everything that its server said of it', async () => {
  await using t = await open(
    [],
    { policies: { s: { tools: { run: { approvalMode: 'prompt' } }, disabledTools: ['off'] } } },
    {
      run: {
        description: 'runs',
        annotations: { title: 'Run', readOnlyHint: true },
        inputSchema: { type: 'object', properties: { a: {} } },
      },
      off: {},
    },
  )
  const { tools } = await t.session.listTools()
  expect(tools).toHaveLength(1)
  expect(tools[0]).toMatchObject({
    owner: { name: 's' },
    tool: 'run',
    title: 'Run',
    description: 'runs',
    annotations: { readOnlyHint: true },
    approval: 'prompt',
    raw: { name: 'run' },
    inputSchema: { properties: { a: {} } },
  })
  expect(Object.isFrozen(tools[0])).toBe(true)
  const { name, namespace, nameInNamespace, owner, tool } = tools[0]!
  for (const request of [{ name }, { name: nameInNamespace, namespace }, { owner, tool }, { server: 's', tool }]) {
    expect(await t.callTool({ ...request, arguments: {} })).toMatchObject({ outcome: 'completed', owner, tool: 'run' })
  }
})

test('a visible name starts only the servers that it could mean', async () => {
  await using t = await openTestRuntime({
    threadWide: { alpha: { tools: { run: {} } }, beta: { tools: { run: {} } } },
    policies: { alpha: { defaultToolsApprovalMode: 'approve' } },
  })
  const namer = await t.openSession()
  const { tools } = await namer.listTools({ server: 'alpha' })
  expect(initialized(t)).toEqual(['alpha'])
  expect(await t.callTool({ name: tools[0]!.name })).toMatchObject({ outcome: 'completed', owner: { name: 'alpha' } })
  expect(initialized(t)).toEqual(['alpha'])
})

test('the owner of another runtime is no owner here', async () => {
  await using t = await open()
  await using u = await open()
  const { tools } = await u.session.listTools()
  expect(await t.callTool({ owner: tools[0]!.owner, tool: 'run' })).toMatchObject({
    outcome: 'invalid_request',
    code: 'UNKNOWN_SERVER',
    sent: 'no',
  })
})

test('tools_changed says what was added, removed and changed', async () => {
  const server = scriptedServer({ tools: { stays: {}, goes: {}, other: { description: 'a' } } })
  await using t = await openTestRuntime({ threadWide: { s: server } })
  const events: SessionEvent[] = []
  t.session.subscribe((event) => event.type === 'tools_changed' && events.push(event))
  await t.session.listTools()
  server.replaceTools({ stays: {}, comes: {}, other: { description: 'b' } })
  await expect.poll(() => events.length, { timeout: 20_000 }).toBe(2)
  const names = (tools: readonly Tool[]): readonly string[] => tools.map(({ tool }) => tool)
  const seen = events.map((event) =>
    event.type === 'tools_changed' ? [String(event.owner), names(event.added), names(event.removed), names(event.changed)] : [],
  )
  expect(seen).toEqual([
    ['s', ['stays', 'goes', 'other'], [], []],
    ['s', ['comes'], ['goes'], ['other']],
  ])
  expect(events[1]).toMatchObject({ changed: [{ description: 'b' }] })
})

test('a tool that is gone is refused before it is sent', async () => {
  const server = scriptedServer({ tools: { old: {} } })
  await using t = await openTestRuntime({ threadWide: { s: server } })
  const { tools } = await t.session.listTools()
  server.replaceTools({ new: {} })
  // before the notice or after it
  expect(await t.callTool({ owner: tools[0]!.owner, tool: 'old' })).toMatchObject({ sent: 'no' })
  await expect.poll(async () => (await t.session.listTools()).tools[0]?.tool, { timeout: 20_000 }).toBe('new')
  for (const request of [
    { owner: tools[0]!.owner, tool: 'old' },
    { server: 's', tool: 'old' },
  ] as const)
    expect(await t.callTool(request)).toMatchObject({ outcome: 'invalid_request', code: 'UNKNOWN_TOOL', sent: 'no' })
  expect(t.sent.map(({ method }) => method)).not.toContain('tools/call')
})

test.each(['stable', 'codex'] as const)(
  'a disabled tool that is called by its visible name is said to be disabled (%s)',
  async (scheme) => {
    const all = { tools: { read: {}, drop: {}, 'odd name': {} } }
    const options = {
      naming: { scheme },
      features: { multi_environment_mcp: true },
      environments: { a: { db: all } },
      threadWide: { db: all },
    }
    await using open = await openTestRuntime(options)
    const names = (await open.session.listTools()).tools
    for (const filter of [{ disabledTools: ['drop', 'odd name'] }, { enabledTools: ['read'] }]) {
      await using t = await openTestRuntime({ ...options, policies: { db: filter } })
      for (const { name, namespace, nameInNamespace, owner, tool } of names.filter((one) => one.tool !== 'read')) {
        const bySelector = await t.callTool({ server: owner.name, environmentId: owner.environmentId, tool })
        const words = {
          outcome: 'refused',
          code: 'CALL_TOOL_DISABLED',
          sent: 'no',
          tool,
          message: (bySelector as { message: string }).message,
        }
        expect(bySelector).toMatchObject(words)
        expect(String((await t.callTool({ name })).owner)).toBe(String(owner))
        expect(await t.callTool({ name })).toMatchObject(words)
        expect(await t.callTool({ name: nameInNamespace, namespace })).toMatchObject(words)
      }
      expect((await t.session.listTools()).tools.map(({ tool }) => tool)).toEqual(['read', 'read'])
    }
    // what is in no list and no filter is unknown
    expect(await open.callTool({ name: `${names[0]!.namespace}__nope` })).toMatchObject({ code: 'UNKNOWN_TOOL' })
  },
)

test('a tool that the configuration takes away by name is refused without a start of its server', async () => {
  await using t = await openTestRuntime({ threadWide: { db: { tools: { drop: {} } } }, policies: { db: { disabledTools: ['drop'] } } })
  expect(await t.callTool({ name: 'mcp__db__drop' })).toMatchObject({ code: 'CALL_TOOL_DISABLED', owner: { name: 'db' } })
  expect(t.sent).toEqual([])
})
