// What a session says about its environments: as they are, governed otherwise, or its own alone.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { ExecutorDefinition } from '../../src/connections/executor.ts'
import { localExecutor } from '../../src/connections/executors/local.ts'
import { openRuntime } from '../../src/index.ts'
import type { RuntimeEnvironment, RuntimeOptions, Session } from '../../src/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { alive, until } from '../connections/fixtures/pool.ts'
import { echo, newFolder, writePackage } from './package-kit.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-session-environments-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const SERVER = fileURLToPath(new URL('../connections/executors/fixtures/echo.mjs', import.meta.url))
const ON = { features: { multi_environment_mcp: true } }
const place = (who: string): RuntimeEnvironment => ({
  cwd: folder,
  mcpServers: { echo: { command: process.execPath, args: [SERVER], env: { WHO: who }, defaultToolsApprovalMode: 'approve' } },
})
const info = async (session: Session, environmentId: string): Promise<any> => {
  const outcome: any = await session.callTool({ server: 'echo', environmentId, tool: 'info', arguments: {} })
  return outcome.outcome === 'completed' ? JSON.parse(outcome.result.content[0].text) : outcome
}
const options: RuntimeOptions = { ...ON, environments: { a: place('a'), b: place('b') } }

test('governed otherwise in one session: its calls are judged by that, on the same connection; what it leaves out stays live', async () => {
  await using t = await openTestRuntime({
    ...ON,
    environments: { a: { db: { tools: { write: { annotations: { destructiveHint: true } } } } } },
  })
  const call = { server: 'db', environmentId: 'a', tool: 'write', arguments: {} }
  await using tight = await t.openSession({ environments: [{ id: 'a', approvalPolicy: 'never', permissions: 'read-only' }] })
  const [mine] = tight.environments
  const base = t.environments.get('a')!
  expect([mine?.permissions, mine?.approvalPolicy, base.permissions, base.approvalPolicy]).toEqual([
    'read-only',
    'never',
    null,
    'on-request',
  ])
  expect(await tight.callTool(call)).toMatchObject({ outcome: 'refused', code: 'APPROVAL_POLICY_NEVER', sent: 'no' })
  expect((await t.session.callTool(call)).outcome).toBe('completed')
  expect(t.asked).toHaveLength(1)
  expect(t.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1)
  mine?.update({ approvalPolicy: 'on-request' })
  expect([(await tight.callTool(call)).outcome, t.asked.at(-1)?.permissions]).toEqual(['completed', 'read-only'])
  await using half = await t.openSession({ environments: [{ id: 'a', permissions: 'full-access' }] })
  base.update({ approvalPolicy: 'untrusted', permissions: 'read-only' })
  expect([half.environments[0]?.permissions, half.environments[0]?.approvalPolicy]).toEqual(['full-access', 'untrusted'])
  t.environments.replace('a', { cwd: folder })
  expect(half.environments[0]?.replaced).toBe(true)
})

test('an environment of one session alone: two sessions may use the same id, nobody else sees it, and it ends with its session', async () => {
  await using runtime = await openRuntime(options)
  const one = await runtime.openSession({ environments: [{ id: 'own', ...place('one') }, 'a'] })
  await using two = await runtime.openSession({ environments: ['b', { id: 'own', ...place('two') }] })
  expect([one.environments.map(({ id }) => id), two.environments.map(({ id }) => id)]).toEqual([
    ['own', 'a'],
    ['b', 'own'],
  ])
  const [first, second] = await Promise.all([info(one, 'own'), info(two, 'own')])
  expect([first.env.WHO, second.env.WHO, (await info(one, 'a')).env.WHO]).toEqual(['one', 'two', 'a'])
  expect((await one.status()).data.map(({ owner }) => String(owner))).toEqual(['echo (environment a)', 'echo (environment own)'])
  expect((await runtime.status({ discover: false })).data.map(({ owner }) => owner.environmentId)).toEqual(['a', 'b'])
  expect(runtime.environments.get('own')).toBe(undefined)
  await expect(runtime.openSession({ environments: ['own'] })).rejects.toMatchObject({ code: 'ENVIRONMENT_UNKNOWN' })
  await one.close()
  expect([alive(first.pid), alive(second.pid)]).toEqual([false, true])
})

/** A machine of its own with one plugin package, that is asked for it only once `open` says so. */
function packed(open: Promise<void> = Promise.resolve()) {
  const seen = { connected: 0, disposed: 0, reading: 0 }
  const executor: ExecutorDefinition = {
    kind: 'packed',
    connect: async (context) => {
      const local = await localExecutor.connect(context)
      seen.connected++
      return {
        startStdio: (request, more) => local.startStdio(request, more),
        readFile: (path, more) => local.readFile!(path, more),
        realPath: (path, more) => local.realPath!(path, more),
        listDirectory: async (path, more) => {
          seen.reading++
          await open
          return local.listDirectory!(path, more)
        },
        lost: new Promise<never>(() => {}),
        dispose: async () => {
          seen.disposed++
          await local.dispose()
        },
      }
    },
  }
  return { seen, executor }
}

test('an environment of one session alone may have plugin packages: theirs are its servers, and nothing of them stays', async () => {
  const at = newFolder()
  writePackage(join(at, 'packages', 'one'), { '.mcp.json': { echo: echo({ env: { WHO: 'package' } }), more: echo() } })
  await using runtime = await openRuntime(options)
  const { seen, executor } = packed()
  const own = { executor, cwd: at, pluginRoots: [join(at, 'packages', '*')] }
  const approver = async () => ({ action: 'accept' }) as const
  const session = await runtime.openSession({ approver, environments: ['a', { id: 'own', ...own }] })
  await using strong = await runtime.openSession({
    approver,
    environments: [{ id: 'own', ...own, mcpServers: place('strong').mcpServers! }],
  })
  const owners = (of: Session): string[] => of.servers.map(({ owner }) => String(owner))
  expect([owners(session), owners(strong)]).toEqual([
    ['echo (environment a)', 'echo (environment own)', 'more (environment own)'],
    ['echo (environment own)', 'more (environment own)'],
  ])
  const said = await info(session, 'own')
  // what the host defines itself is stronger than what a package brings
  expect([said.env.WHO, (await info(session, 'a')).env.WHO, (await info(strong, 'own')).env.WHO]).toEqual(['package', 'a', 'strong'])
  expect([runtime.environments.get('own'), await runtime.packages()]).toEqual([undefined, []])
  expect((await runtime.status({ discover: false })).data.map(({ owner }) => owner.environmentId)).toEqual(['a', 'b'])
  await session.close()
  expect([alive(said.pid), seen.connected, seen.disposed]).toEqual([false, 2, 1])
})

test('while such packages are read: an abort, a runtime that closes and an id that is taken leave nothing of it', async () => {
  const at = newFolder()
  writePackage(join(at, 'one'), { '.mcp.json': { echo: echo() } })
  const opening = async (open: Promise<void>) => {
    const runtime = await openRuntime(options)
    const { seen, executor } = packed(open)
    const ended = new AbortController()
    const environments = [{ id: 'own', executor, cwd: at, pluginRoots: [join(at, 'one')] }]
    const code = runtime.openSession({ id: 'mine', environments, signal: ended.signal }).then(
      () => 'OK',
      (error: unknown) => (error as { code: string }).code,
    )
    await until(() => seen.reading > 0, 'it is being read')
    return { runtime, seen, ended, code }
  }
  const never = new Promise<void>(() => {})
  const aborted = await opening(never)
  aborted.ended.abort(new Error('enough'))
  expect([await aborted.code, aborted.seen.disposed]).toEqual(['CALL_CANCELLED', 1])
  await aborted.runtime.close()

  const closed = await opening(never)
  await closed.runtime.close()
  expect([await closed.code, closed.seen.disposed]).toEqual(['SESSION_CLOSED', 1])

  let goOn = (): void => {}
  const late = await opening(new Promise<void>((resolve) => (goOn = resolve)))
  await using _first = await late.runtime.openSession({ id: 'mine' })
  goOn()
  expect([await late.code, late.seen.disposed]).toEqual(['CALL_INVALID_REQUEST', 1])
  await late.runtime.close()
})

test('servers of environments that are not selected are not there, and are not started', async () => {
  const { environments, ...more } = options
  await using runtime = await openRuntime({
    ...more,
    environments: { ...environments, c: { cwd: folder, mcpServers: { bad: { command: '/no/such/program', required: true } } } },
  })
  await using session = await runtime.openSession({ environments: ['b'] })
  expect(session.servers.map(({ owner }) => String(owner))).toEqual(['echo (environment b)'])
  await session.listTools()
  expect(await info(session, 'a')).toMatchObject({ code: 'UNKNOWN_SERVER' })
  expect((await runtime.status({ discover: false })).data.map(({ owner, pid }) => [owner.environmentId, pid !== null])).toEqual([
    ['c', false],
    ['a', false],
    ['b', true],
  ])
})

test.each([
  [[{ id: 'nowhere', permissions: 'read-only' }], 'ENVIRONMENT_UNKNOWN'],
  [[{ id: 'a', permisions: 'read-only' }], 'CALL_INVALID_REQUEST'],
  [[{ id: 'a', permissions: 'all' }], 'CALL_INVALID_REQUEST'],
  [['a', { id: 'a', permissions: 'read-only' }], 'CALL_INVALID_REQUEST'],
  [[{ id: 'a', cwd: '/x' }], 'CONFIG_INVALID'],
  [[{ id: 'new one', cwd: '/x' }], 'CONFIG_INVALID'],
  [[{ id: 'packed', pluginRoots: '/opt/*' }], 'CONFIG_INVALID'],
  [['a', { id: 'twice', pluginRoots: ['/opt/*'] }, { id: 'twice', cwd: '/' }], 'CALL_INVALID_REQUEST'],
  [[{ permissions: 'read-only' }], 'CALL_INVALID_REQUEST'],
  [[null], 'CALL_INVALID_REQUEST'],
])('entries that make no sense: %j', async (environments, code) => {
  await using runtime = await openRuntime(options)
  await expect(runtime.openSession({ environments: environments as never })).rejects.toMatchObject({ code })
})
