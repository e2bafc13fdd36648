/** Servers of one name on two real `codex exec-server` and without an environment: each request reaches the right process on the right side. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execServer, memoryStore, openRuntime } from '../../src/index.ts'
import type { ApprovalQuestion, Runtime, RuntimeOptions, ServerKey, Session } from '../../src/index.ts'
import { ALL_METHODS, deny } from '../../src/plugin.ts'
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

/** A plugin package on that machine: one server as it is, one whose tool its host takes away. */
function installPackage({ home }: CodexExecutor): void {
  const root = join(home, 'plugins', 'packed')
  mkdirSync(join(root, '.codex-plugin'), { recursive: true })
  const server = (name: string): object => ({ command: 'node', args: [SERVER, name] })
  const mcpServers = { packed: server('packed'), taken: server('taken') }
  writeFileSync(join(root, '.codex-plugin', 'plugin.json'), JSON.stringify({ name: 'packed', version: '1.0.0', mcpServers }))
}

/** What the three runs of one set-up have in common, whatever the flag says. */
interface Seen {
  /** owner → how its two calls, its read and its prompt ended */
  readonly ends: Record<string, readonly string[]>
  /** who was asked about, and what for */
  readonly asked: readonly string[]
  /** who came by the hooks */
  readonly guarded: readonly string[]
  readonly observed: readonly string[]
}

test('the flag off, on and off again: packages, filters, deny lists, denying hooks and remembered approvals hold alike', async () => {
  for (const one of [a, b]) installPackage(one)
  const store: Store = memoryStore()
  const run = async (isOn: boolean): Promise<Seen> => {
    const asked: string[] = []
    const guarded: string[] = []
    const observed: string[] = []
    const wall = plugin(({ hooks }) => {
      const named = { methods: ALL_METHODS, servers: ['walled', 'packed'] }
      hooks.approve.tap({ name: 'wall', ...named }, (one: { owner: ServerKey; method: string }) => {
        guarded.push(`${String(one.owner)} ${one.method}`)
        return one.owner.name === 'walled' ? deny('the wall says no') : undefined
      })
    }, 'wall')
    const watch = plugin(({ hooks }) => {
      hooks.settled.tap('watch', ({ owner, outcome }: any) => void observed.push(`${String(owner)} ${outcome.code}`))
    }, 'watch')
    const base = options(isOn, { store, hooks: [wall, { plugin: watch, servers: ['probe', 'walled'] }] }, {})
    const { probe: _wide, ...rest } = base.mcpServers!
    const packed = (environment: string): object => ({
      path: 'plugins/packed',
      environment,
      mcpServers: { taken: { disabledTools: ['where'] } },
    })
    await using runtime = await openRuntime({
      ...base,
      environments: {
        ...base.environments,
        'env-a': {
          ...base.environments!['env-a']!,
          mcpServers: { probe: where('a'), forbidden: where('f', { defaultToolsApprovalMode: 'deny' }) },
        },
      },
      mcpServers: { ...rest, walled: where('walled', { environment: 'env-a' }), filtered: where('filtered', { enabledTools: ['other'] }) },
      plugins: [packed('env-a'), packed('env-b')] as never,
    })
    // the one of env-a and the one of a package are allowed for good, everything else for its session
    const approver = async ({ owner, tool }: ApprovalQuestion) => {
      asked.push(`${String(owner)} ${tool}`)
      const remember = owner.environmentId === 'env-a' ? ('always' as const) : ('session' as const)
      return { action: 'accept', remember } as const
    }
    await using session = await runtime.openSession({ approver, environments: ['env-a', 'env-b'] })
    await session.listTools()
    const ends: Record<string, string[]> = {}
    for (const { owner } of session.servers) {
      const of = (ends[String(owner)] = [] as string[])
      for (let time = 0; time < 2; time++) {
        const outcome: any = await session.callTool({ owner, tool: 'where', arguments: {} })
        const side = outcome.outcome === 'completed' ? (JSON.parse(outcome.forModel.text) as { home: string }).home : outcome.message
        of.push(`${outcome.code} ${side}`)
      }
      const code = (request: Promise<unknown>): Promise<string> =>
        request.then(
          () => 'OK',
          (error: unknown) => (error as { code: string }).code,
        )
      of.push(await code(session.readResource({ owner, uri: 'x://where' })), await code(session.getPrompt({ owner, prompt: 'where' })))
    }
    return { ends, asked, guarded, observed }
  }
  const first = await run(false)
  const ofTool = (text: string, rest = 'OK'): unknown[] => [...Array<unknown>(2).fill(expect.stringContaining(text)), rest, rest]
  const open = ({ home }: CodexExecutor): unknown[] => ofTool(`OK ${join(home, 'home')}`)
  expect(first).toEqual({
    ends: {
      far: open(b),
      filtered: ofTool('CALL_TOOL_DISABLED'),
      'forbidden (environment env-a)': ofTool('has the approval mode "deny"'),
      'packed (environment env-a)': open(a),
      'probe (environment env-a)': open(a),
      'taken (environment env-a)': ofTool('CALL_TOOL_DISABLED'),
      walled: ofTool('the wall says no', 'CALL_REFUSED'),
    },
    asked: ['far where', 'packed (environment env-a) where', 'probe (environment env-a) where'],
    guarded: ['packed (environment env-a)', 'walled'].flatMap((owner) =>
      ['tools/call', 'tools/call', 'resources/read', 'prompts/get'].map((method) => `${owner} ${method}`),
    ),
    observed: [...Array<string>(4).fill('probe (environment env-a) OK'), ...Array<string>(4).fill('walled CALL_REFUSED')],
  })
  // what was allowed for good is not asked for again, what was allowed for a session is
  const remembered = { ...first, asked: ['far where'] }
  const on = await run(true)
  const isNew = (text: string): boolean => text.includes('(environment env-b)')
  const without = (texts: readonly string[]): readonly string[] => texts.filter((text) => !isNew(text))
  expect({
    ends: Object.fromEntries(Object.entries(on.ends).filter(([owner]) => !isNew(owner))),
    asked: without(on.asked),
    guarded: without(on.guarded),
    observed: without(on.observed),
  }).toEqual(remembered)
  // those of the other environment are there now, guarded by the same, and nothing that was allowed elsewhere holds for them
  expect(Object.fromEntries(Object.entries(on.ends).filter(([owner]) => isNew(owner)))).toEqual({
    'packed (environment env-b)': open(b),
    'probe (environment env-b)': open(b),
    'taken (environment env-b)': ofTool('CALL_TOOL_DISABLED'),
  })
  expect([on.asked.filter(isNew), on.guarded.filter(isNew), on.observed.filter(isNew)].map((texts) => texts.length)).toEqual([2, 4, 4])
  expect(await run(false)).toEqual(remembered)
})
