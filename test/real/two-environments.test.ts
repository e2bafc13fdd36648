/** Servers of one name on two real `codex exec-server` and without an environment: each request reaches the right process on the right side. */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execServer, memoryStore, openRuntime } from '../../src/index.ts'
import type { ApprovalQuestion, Runtime, RuntimeOptions, Session } from '../../src/index.ts'
import { ALL_METHODS } from '../../src/plugin.ts'
import type { Store } from '../../src/storage/store.ts'
import { plugin } from '../pipeline/kit.ts'
import { CodexExecutor } from './codex.ts'

const SERVER = fileURLToPath(new URL('where-server.mjs', import.meta.url))
let a: CodexExecutor
let b: CodexExecutor
beforeAll(async () => {
  ;[a, b] = await Promise.all([CodexExecutor.start(), CodexExecutor.start()])
})
afterAll(() => Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()]))

const where = (label: string, more: object = {}): NonNullable<RuntimeOptions['mcpServers']>[string] => ({
  command: process.execPath,
  args: [SERVER, label],
  ...more,
})
function options(
  isOn: boolean,
  more: Partial<RuntimeOptions> = {},
  policy: object = { defaultToolsApprovalMode: 'approve' },
): RuntimeOptions {
  return {
    features: { multi_environment_mcp: isOn },
    resourceTools: true,
    environments: {
      'env-a': { executor: execServer({ url: a.url }), cwd: a.home, mcpServers: { probe: where('a', policy) } },
      'env-b': { executor: execServer({ url: b.url }), cwd: b.home, mcpServers: { probe: where('b', policy) } },
    },
    mcpServers: { probe: where('wide', policy), far: where('far', { ...policy, environment: 'env-b' }) },
    ...more,
  }
}
const open = async (isOn: boolean, more?: Partial<RuntimeOptions>): Promise<Runtime> => openRuntime(options(isOn, more))
const label = (text: string): string => (JSON.parse(text) as { label: string }).label
const call = async (session: Session, name: string): Promise<any> => {
  const outcome = await session.callTool({ name, arguments: {} })
  return outcome.outcome === 'completed' ? JSON.parse(outcome.forModel.text) : outcome
}

test('with the flag on: distinct names, and every call, resource and prompt is answered on its side', async () => {
  await using runtime = await open(true)
  await using session = await runtime.openSession()
  const { tools, errors } = await session.listTools()
  expect([errors, tools.map(({ owner }) => String(owner))]).toEqual([
    [],
    ['far', 'probe', 'probe (environment env-a)', 'probe (environment env-b)'],
  ])
  expect(new Set(tools.map(({ name }) => name)).size).toBe(4)
  const sides = new Map([
    ['far', { label: 'far', home: join(b.home, 'home') }],
    ['probe', { label: 'wide', home: process.env['HOME'] }],
    ['probe (environment env-a)', { label: 'a', home: join(a.home, 'home') }],
    ['probe (environment env-b)', { label: 'b', home: join(b.home, 'home') }],
  ])
  const pids = new Set<number>()
  for (const { name, owner } of tools) {
    const said = await call(session, name)
    expect(said).toMatchObject(sides.get(String(owner))!)
    pids.add(said.pid)
    const { contents } = await session.readResource({ owner, uri: 'x://where' })
    expect(JSON.parse(contents[0]?.text as string)).toEqual(said)
    const { messages } = await session.getPrompt({ owner, prompt: 'where' })
    expect(JSON.parse((messages[0] as any).content.text)).toEqual(said)
    const environment = owner.environmentId ?? (owner.name === 'probe' ? 'thread-wide' : undefined)
    const read: any = await session.callTool({
      name: 'read_mcp_resource',
      arguments: { server: owner.name, uri: 'x://where', ...(environment && { environment_id: environment }) },
    })
    expect(JSON.parse(read.result.structuredContent.contents[0].text)).toEqual(said)
  }
  expect(pids.size).toBe(4)
  // a bare name that fits three is nobody's
  expect(await session.callTool({ server: 'probe', tool: 'where' })).toMatchObject({ code: 'AMBIGUOUS_SERVER', sent: 'no' })
})

test('a session has the servers of its environments only, and starts no others', async () => {
  await using runtime = await open(true)
  await using session = await runtime.openSession({ environments: ['env-b'] })
  const { tools } = await session.listTools()
  expect(tools.map(({ owner }) => String(owner))).toEqual(['far', 'probe', 'probe (environment env-b)'])
  expect([runtime.environments.get('env-a')?.status.state, runtime.environments.get('env-b')?.status.state]).toEqual(['idle', 'ready'])
  expect(await session.callTool({ server: 'probe', environmentId: 'env-a', tool: 'where' })).toMatchObject({ code: 'UNKNOWN_SERVER' })
  await using primary = await runtime.openSession({ environments: ['env-b', 'env-a'] })
  expect(primary.environments.map(({ id }) => id)).toEqual(['env-b', 'env-a'])
})

test('with the flag off: one of the name, the others are diagnosed', async () => {
  await using runtime = await open(false)
  await using session = await runtime.openSession()
  const { tools } = await session.listTools()
  expect(tools.map(({ owner }) => String(owner))).toHaveLength(2)
  const mine = tools.find(({ owner }) => owner.name === 'probe')!
  const said = await call(session, mine.name)
  const others = session.diagnostics.filter(({ code }) => code === 'shadowed')
  expect(others).toHaveLength(2)
  for (const { message } of others) expect(message).toContain(`${String(mine.owner)} (`)
  const { contents } = await session.readResource({ server: 'probe', uri: 'x://where' })
  expect(label(contents[0]?.text as string)).toBe(said.label)
})

test('scope prefixes are those of Codex for the same environment ids', async () => {
  await using runtime = await open(true, { naming: { scheme: 'codex' } })
  await using session = await runtime.openSession()
  const prefix = (id: string): string => createHash('sha1').update(id).digest('hex').slice(0, 12)
  for (const { owner, namespace } of session.servers.filter((server) => server.owner.environmentId !== null))
    expect(namespace).toContain(prefix(owner.environmentId!))
})

test('the flag off, on and off again, with hooks, filters, deny lists and remembered approvals: the same is guarded', async () => {
  const store: Store = memoryStore()
  const run = async (isOn: boolean): Promise<unknown> => {
    const asked: string[] = []
    const guarded: string[] = []
    const guard = plugin(({ hooks }) =>
      hooks.approve.tap({ name: 'guard', methods: ALL_METHODS, servers: ['far'] }, (one: any) => {
        guarded.push(`${String(one.owner)} ${one.method}`)
      }),
    )
    const base = options(isOn, { store, hooks: [guard] }, {})
    const { probe: _probe, ...rest } = base.mcpServers!
    const filtered = { ...rest, filtered: where('filtered', { disabledTools: ['where'] }) }
    await using runtime = await openRuntime({ ...base, mcpServers: filtered })
    const approver = async (question: ApprovalQuestion) => {
      asked.push(String(question.owner))
      return { action: 'accept', remember: 'always' } as const
    }
    await using session = await runtime.openSession({ approver, environments: ['env-a'] })
    const { tools } = await session.listTools()
    const ends = await Promise.all(
      [
        { server: 'probe', tool: 'where' },
        { server: 'far', tool: 'where' },
        { server: 'filtered', tool: 'where' },
      ].map((request) => session.callTool(request)),
    )
    await session.readResource({ server: 'far', uri: 'x://where' })
    return { asked: asked.sort(), guarded, owners: tools.map(({ owner }) => String(owner)), ends: ends.map(({ code }) => code) }
  }
  const first = await run(false)
  expect(first).toEqual({
    asked: ['far', 'probe (environment env-a)'],
    guarded: ['far tools/call', 'far resources/read'],
    owners: ['far', 'probe (environment env-a)'],
    ends: ['OK', 'OK', 'CALL_TOOL_DISABLED'],
  })
  const remembered = { ...(first as object), asked: [] }
  expect(await run(true)).toEqual(remembered)
  expect(await run(false)).toEqual(remembered)
})
