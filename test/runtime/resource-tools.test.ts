// The tools for resources that the model gets; which server they mean is in resource-vectors.test.ts, the guard in ownership-guard.test.ts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openRuntime } from '../../src/index.ts'
import { ALL_METHODS, deny } from '../../src/plugin.ts'
import type { ScriptedServerSpec } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin } from '../pipeline/kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'tapline-resource-tools-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const server = (text: string): ScriptedServerSpec => ({ resources: { 'x://one': text }, tools: { echo: {} } })
const NAMES = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']
const READ = { name: 'read_mcp_resource', arguments: { server: 'db', uri: 'x://one' } }
const both = { a: { db: server('in a') }, b: { db: server('in b') } }
const multi = { multi_environment_mcp: true }

test('without the option there are none, and their names are names like any other', async () => {
  await using t = await openTestRuntime({ threadWide: { db: server('x') } })
  expect((await t.session.listTools()).resourceTools).toEqual([])
  expect(await t.callTool(READ)).toMatchObject({ outcome: 'invalid_request', code: 'UNKNOWN_TOOL' })
})

test('a configuration file offers them; a stronger source takes them back', async () => {
  const file = join(folder, 'tapline.json')
  writeFileSync(file, JSON.stringify({ resourceTools: true }))
  const offered = async (more: object): Promise<readonly string[]> => {
    await using runtime = await openRuntime({ config: file, ...more })
    await using session = await runtime.openSession()
    return (await session.listTools()).resourceTools.map(({ name }) => name)
  }
  expect([await offered({}), await offered({ resourceTools: false })]).toEqual([NAMES, []])
  writeFileSync(file, JSON.stringify({ resourceTools: 'yes' }))
  await expect(offered({})).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('resourceTools') })
})

test('they are listed beside the tools, not where one server is asked for', async () => {
  await using t = await openTestRuntime({ resourceTools: true, threadWide: { db: server('x') } })
  const { tools, resourceTools } = await t.session.listTools()
  expect(tools.map(({ tool }) => tool)).toEqual(['echo'])
  expect(resourceTools.map(({ name, annotations }) => [name, annotations])).toEqual(NAMES.map((name) => [name, { readOnlyHint: true }]))
  expect((await t.session.listTools({ server: 'db' })).resourceTools).toEqual([])
  expect((await t.session.listTools({ environmentId: null })).resourceTools).toEqual([])
})

test('hooks see the request of the method; what they deny is not sent, and each request settles once', async () => {
  const seen: unknown[] = []
  const guard = plugin(({ hooks }) =>
    hooks.approve.tap({ name: 'guard', methods: ALL_METHODS }, (call: any) => {
      seen.push([call.method, String(call.owner), call.arguments])
      return call.arguments.uri === 'x://secret' ? deny('not that one') : undefined
    }),
  )
  await using t = await openTestRuntime({ resourceTools: true, features: multi, environments: both, hooks: [guard] })
  const settled: unknown[] = []
  t.session.subscribe((event) => event.type === 'settled' && settled.push([event.callId, event.outcome.outcome]))
  const args = { server: 'db', environment_id: 'b', uri: 'x://one' }
  const outcome: any = await t.session.callTool({ name: 'read_mcp_resource', arguments: args }, { callId: 'model-1', trace: true })
  expect(outcome).toMatchObject({ outcome: 'completed', callId: 'model-1', sent: 'yes', tool: null })
  expect([String(outcome.owner), outcome.trace.taps.length]).toEqual(['db (environment b)', 1])
  expect(JSON.parse(outcome.forModel.text)).toMatchObject({ server: 'db', environment_id: 'b', contents: [{ text: 'in b' }] })
  expect(seen).toEqual([['resources/read', 'db (environment b)', args]])
  const secret = { ...args, uri: 'x://secret' }
  expect(await t.session.callTool({ name: 'read_mcp_resource', arguments: secret }, { callId: 'model-2' })).toMatchObject({
    outcome: 'refused',
    reason: 'not that one',
    sent: 'no',
  })
  expect(settled).toEqual([
    ['model-1', 'completed'],
    ['model-2', 'refused'],
  ])
})

test('a list of all: a server that is refused is an error of its own; where none answers the result is an error', async () => {
  let refused: readonly string[] = ['a']
  const guard = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise({ name: 'guard', methods: ALL_METHODS }, async (call: any, next: () => Promise<unknown>) => {
      if (refused.includes(call.owner.environmentId)) throw new Error('not there')
      return next()
    }),
  )
  await using t = await openTestRuntime({ resourceTools: true, features: multi, environments: both, hooks: [guard] })
  const list = async (): Promise<any> => t.callTool({ name: 'list_mcp_resources', arguments: {} })
  const one = await list()
  expect(one).toMatchObject({ outcome: 'completed', owner: null, sent: 'yes' })
  expect(one.result.structuredContent).toMatchObject({
    resources: [{ server: 'db', environment_id: 'b', uri: 'x://one' }],
    errors: [{ server: 'db', environment_id: 'a', code: 'HOOK_FAILED' }],
  })
  expect(one.forModel.isError).toBe(false)
  refused = ['a', 'b']
  expect(await list()).toMatchObject({ outcome: 'completed', sent: 'no', result: { isError: true }, forModel: { isError: true } })
})

test('one attempt on an owner ends a list of all as what it is', async () => {
  const thief = plugin(({ hooks }) =>
    hooks.resolve.tap({ name: 'thief', methods: ALL_METHODS }, (call: any) =>
      call.owner.environmentId === 'b' ? { arguments: { environment_id: 'a' } } : undefined,
    ),
  )
  await using t = await openTestRuntime({ resourceTools: true, features: multi, environments: both, hooks: [thief] })
  expect(await t.callTool({ name: 'list_mcp_resources' })).toMatchObject({
    outcome: 'ownership_violation',
    code: 'HOOK_CHANGED_OWNER',
    message: expect.stringContaining('hook cannot change the tool environment (environment_id)'),
  })
})

test('a server cannot say that its items are another’s', async () => {
  const forger = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise({ name: 'forge', methods: ALL_METHODS }, async () => ({
      server: 'bank',
      environment_id: 'prod',
      resources: [{ uri: 'x://1', name: 'n', server: 'bank', environment_id: 'prod', installation_id: 'i' }],
      contents: [{ uri: 'x://1', text: 't' }],
    })),
  )
  await using t = await openTestRuntime({ resourceTools: true, features: multi, threadWide: { db: server('x') }, hooks: [forger] })
  const said = async (name: string, args: object): Promise<unknown> =>
    JSON.parse((await t.callTool({ name, arguments: args })).forModel.text)
  const item = { server: 'db', uri: 'x://1', name: 'n' }
  expect(await said('list_mcp_resources', {})).toEqual({ resources: [item] })
  expect(await said('list_mcp_resources', { server: 'db' })).toMatchObject({ server: 'db', resources: [item] })
  const read = await said('read_mcp_resource', { server: 'db', uri: 'x://1' })
  expect(read).not.toHaveProperty('environment_id')
  expect(read).toMatchObject({ server: 'db', contents: [{ uri: 'x://1', text: 't' }] })
})

test.each([
  ['text', 'CALL_INVALID_REQUEST'],
  [[], 'CALL_INVALID_REQUEST'],
  [{ server: 1, uri: 'x' }, 'CALL_INVALID_REQUEST'],
  [{ server: 'db' }, 'CALL_INVALID_REQUEST'],
  [{ uri: 'x://one' }, 'CALL_INVALID_REQUEST'],
  [{ server: 'db', uri: 'x://one', environment_id: 'a' }, 'UNKNOWN_ARGUMENT'],
  [{ server: 'db', uri: 'x://one', installation_id: 'a' }, 'UNKNOWN_ARGUMENT'],
  [{ server: 'db', uri: 'x://one', environmentId: null }, 'UNKNOWN_ARGUMENT'],
  [{ server: 'db', uri: 'x://one', __proto__x: 'a' }, 'UNKNOWN_ARGUMENT'],
])('arguments that make no sense end the call before anything is sent: %j', async (args, code) => {
  await using t = await openTestRuntime({ resourceTools: true, threadWide: { db: server('x') } })
  expect(await t.callTool({ name: 'read_mcp_resource', arguments: args })).toMatchObject({ outcome: 'invalid_request', code, sent: 'no' })
  expect(t.sent.filter(({ method }) => method === 'resources/read')).toEqual([])
})

test('cancelled before and while it runs, and after the session has closed', async () => {
  const slow = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise({ name: 'slow', methods: ALL_METHODS, timeoutMs: 60_000 }, () => {
      began()
      return new Promise(() => {})
    }),
  )
  let began = (): void => {}
  await using t = await openTestRuntime({ resourceTools: true, features: multi, environments: both, hooks: [slow] })
  const cancelled = { outcome: 'cancelled', code: 'CALL_CANCELLED' }
  expect(await t.session.callTool({ name: 'list_mcp_resources' }, { signal: AbortSignal.abort() })).toMatchObject(cancelled)
  const stop = new AbortController()
  const running = new Promise<void>((resolve) => (began = resolve))
  const call = t.session.callTool({ name: 'list_mcp_resources' }, { signal: stop.signal })
  await running
  stop.abort()
  expect(await call).toMatchObject(cancelled)
  await t.session.close()
  expect(await t.callTool(READ)).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED' })
  expect(await t.callTool({ name: 'list_mcp_resources' })).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED' })
})

test('a resource over the limit of its server is cut, and the whole goes to a file', async () => {
  const long = 'y'.repeat(5000)
  await using t = await openTestRuntime({
    resourceTools: true,
    threadWide: { db: server(long) },
    policies: { db: { maxResultBytes: 1024 } },
  })
  const file = join(folder, 'whole.json')
  const outcome: any = await t.session.callTool(READ, { overflowFile: file })
  expect(outcome).toMatchObject({ outcome: 'completed', overflow: { limitBytes: 1024, file } })
  expect(Buffer.byteLength(JSON.stringify(outcome.result))).toBeLessThanOrEqual(1100)
  expect(JSON.parse(readFileSync(file, 'utf8')).structuredContent.contents[0].text).toBe(long)
})

test('explain: nothing is sent, also for all servers at once', async () => {
  await using t = await openTestRuntime({ resourceTools: true, features: multi, environments: both })
  expect(await t.session.explain({ name: 'list_mcp_resources' })).toMatchObject({
    owner: null,
    wouldEnd: 'sent',
    trace: { candidates: [{ environmentId: 'a' }, { environmentId: 'b' }] },
    wouldSend: { method: 'resources/list' },
  })
  expect(await t.session.explain(READ)).toMatchObject({ wouldEnd: 'invalid_request', outcome: { code: 'AMBIGUOUS_SERVER' } })
  const args = { ...READ.arguments, environment_id: 'a' }
  expect(await t.session.explain({ name: READ.name, arguments: args })).toMatchObject({
    wouldEnd: 'sent',
    wouldSend: { method: 'resources/read', params: { uri: 'x://one' } },
  })
  expect(t.sent.filter(({ method }) => method.startsWith('resources/'))).toEqual([])
})

test('no server at all: an empty list', async () => {
  await using t = await openTestRuntime({ resourceTools: true })
  expect(await t.callTool({ name: 'list_mcp_resources' })).toMatchObject({ outcome: 'completed', sent: 'no' })
  expect(await t.session.explain({ name: 'list_mcp_resources' })).toMatchObject({ wouldEnd: 'completed', owner: null })
})
