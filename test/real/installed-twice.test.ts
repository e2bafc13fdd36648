/** One plugin package on two real `codex exec-server`, a second copy on one of them, and a thread-wide server of the same name. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execServer, openRuntime } from '../../src/index.ts'
import type { RuntimeOptions, Session } from '../../src/index.ts'
import { CodexExecutor } from './codex.ts'

const SERVER = fileURLToPath(new URL('where-server.mjs', import.meta.url))
const MARKET = ['codex', 'plugins', 'cache', 'market', 'found', '1.0.0']
let a: CodexExecutor
let b: CodexExecutor

/** A copy of the package, whose server says in which root it is. */
function install({ home }: { readonly home: string }, folder: readonly string[], name = 'probe'): string {
  const root = join(home, ...folder)
  mkdirSync(join(root, '.codex-plugin'), { recursive: true })
  copyFileSync(SERVER, join(root, 'where-server.mjs'))
  writeFileSync(join(root, '.codex-plugin', 'plugin.json'), JSON.stringify({ name, version: '1.0.0', mcpServers: './.mcp.json' }))
  const server = { command: 'node', args: ['./where-server.mjs', '${PLUGIN_ROOT}'] }
  writeFileSync(join(root, '.mcp.json'), JSON.stringify({ mcpServers: { [name]: server } }))
  return root
}
beforeAll(async () => {
  ;[a, b] = await Promise.all([CodexExecutor.start(), CodexExecutor.start()])
  install(a, ['plugins', 'probe'])
  install(b, ['plugins', 'probe'])
  install(b, ['plugins', 'second'])
})
afterAll(() => Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()]))

const approved = { mcpServers: { probe: { defaultToolsApprovalMode: 'approve' } } } as const
const options = (isOn: boolean, more: Partial<RuntimeOptions> = {}): RuntimeOptions => ({
  features: { multi_environment_mcp: isOn },
  resourceTools: true,
  environments: {
    'env-a': { executor: execServer({ url: a.url }), cwd: a.home },
    'env-b': { executor: execServer({ url: b.url }), cwd: b.home },
  },
  plugins: [
    { path: 'plugins/probe', environment: 'env-a', ...approved },
    { path: 'plugins/probe', environment: 'env-b', ...approved },
    { path: 'plugins/second', environment: 'env-b', installation: 'second', ...approved },
  ],
  mcpServers: { probe: { command: process.execPath, args: [SERVER, 'wide'], defaultToolsApprovalMode: 'approve' } },
  ...more,
})
/** Where each key must answer: the root of its copy, and the home of its machine. */
const sides = (): Map<string, object> =>
  new Map([
    ['probe', { label: 'wide', home: process.env['HOME'] }],
    ['probe (environment env-a)', { label: join(a.home, 'plugins', 'probe'), home: join(a.home, 'home') }],
    ['probe (environment env-b)', { label: join(b.home, 'plugins', 'probe'), home: join(b.home, 'home') }],
    ['probe (environment env-b, installation second)', { label: join(b.home, 'plugins', 'second'), home: join(b.home, 'home') }],
  ])
const call = async (session: Session, request: object): Promise<any> => {
  const outcome: any = await session.callTool({ arguments: {}, ...request } as never)
  return outcome.outcome === 'completed' ? JSON.parse(outcome.forModel.text) : outcome
}

test('flag on: four keys, four names; calls, resources and prompts are answered by the right copy on the right side', async () => {
  await using runtime = await openRuntime(options(true))
  await using session = await runtime.openSession()
  expect([runtime.diagnostics, session.diagnostics]).toEqual([[], []])
  const { tools, errors } = await session.listTools()
  expect([errors, tools.map(({ owner }) => String(owner))]).toEqual([[], [...sides().keys()]])
  expect(new Set(tools.map(({ name }) => name)).size).toBe(4)
  const pids = new Set<number>()
  for (const { name, owner } of tools) {
    const said = await call(session, { name })
    expect(said).toMatchObject(sides().get(String(owner))!)
    pids.add(said.pid)
    const exact = { server: 'probe', environmentId: owner.environmentId, installationId: owner.installationId }
    expect(await call(session, { ...exact, tool: 'where' })).toEqual(said)
    const { contents } = await session.readResource({ owner, uri: 'x://where' })
    expect(JSON.parse(contents[0]?.text as string)).toEqual(said)
    const { messages } = await session.getPrompt({ owner, prompt: 'where' })
    expect(JSON.parse((messages[0] as any).content.text)).toEqual(said)
    const read: any = await session.callTool({
      name: 'read_mcp_resource',
      arguments: {
        server: 'probe',
        uri: 'x://where',
        environment_id: owner.environmentId ?? 'thread-wide',
        ...(owner.environmentId === 'env-b' && { installation_id: owner.installationId ?? 'default' }),
      },
    })
    expect(JSON.parse(read.result.structuredContent.contents[0].text)).toEqual(said)
  }
  expect(pids.size).toBe(4)
  for (const open of [{}, { environmentId: 'env-b' }])
    expect(await call(session, { server: 'probe', tool: 'where', ...open })).toMatchObject({ code: 'AMBIGUOUS_SERVER', sent: 'no' })
})

test('flag off: one of the name, and the three others are told', async () => {
  await using runtime = await openRuntime(options(false))
  await using session = await runtime.openSession()
  const { tools } = await session.listTools()
  expect(tools.map(({ owner }) => String(owner))).toEqual(['probe'])
  expect(await call(session, { name: tools[0]!.name })).toMatchObject({ label: 'wide' })
  const told = session.diagnostics.filter(({ code }) => code === 'shadowed').map(({ message }) => message)
  expect(told).toHaveLength(3)
  for (const key of [...sides().keys()].slice(1)) expect(told.filter((message) => message.includes(key))).not.toEqual([])
})

test('scope prefixes in the scheme of Codex: of the environment id, and of both ids', async () => {
  await using runtime = await openRuntime(options(true, { naming: { scheme: 'codex' } }))
  await using session = await runtime.openSession()
  const prefix = (id: string): string => `mcp__${createHash('sha1').update(id).digest('hex').slice(0, 12)}__`
  const namespaces = new Map(session.servers.map(({ owner, namespace }) => [String(owner), namespace]))
  expect(namespaces.get('probe (environment env-a)')).toContain('mcp__74afdff5f493__')
  expect(namespaces.get('probe (environment env-b)')).toContain('mcp__14afef09931d__')
  expect(namespaces.get('probe (environment env-b, installation second)')).toContain(prefix('env-b\0second'))
})

test('discover: what is installed for the user of the executor is found, started and called', async () => {
  await using executor = await CodexExecutor.start({
    prepare: (home) => {
      install({ home }, MARKET, 'found')
      writeFileSync(join(home, 'codex', 'config.toml'), '[plugins."found@market"]\nenabled = true\n')
    },
  })
  const vm = { executor: execServer({ url: executor.url }), cwd: executor.home, discover: true }
  await using runtime = await openRuntime({ features: { multi_environment_mcp: true }, environments: { vm } })
  await using session = await runtime.openSession({ approver: async () => ({ action: 'accept' }) })
  expect((await runtime.packages()).map(({ id, source }) => [id, source])).toEqual([['found', 'discovered']])
  const side = { label: join(executor.home, ...MARKET), home: join(executor.home, 'home') }
  expect(await call(session, { server: 'found', tool: 'where' })).toMatchObject(side)
})
