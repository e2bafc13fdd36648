// What a session says about its environments: as they are, governed otherwise, or its own alone.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { openRuntime } from '../../src/index.ts'
import type { RuntimeEnvironment, RuntimeOptions, Session } from '../../src/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { alive } from '../connections/fixtures/pool.ts'

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
  [[{ id: 'packed', cwd: '/x', pluginRoots: ['/opt/*'] }], 'CONFIG_INVALID'],
  [[{ permissions: 'read-only' }], 'CALL_INVALID_REQUEST'],
  [[null], 'CALL_INVALID_REQUEST'],
])('entries that make no sense: %j', async (environments, code) => {
  await using runtime = await openRuntime(options)
  await expect(runtime.openSession({ environments: environments as never })).rejects.toMatchObject({ code })
})
