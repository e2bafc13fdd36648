import { expect, test } from 'vitest'
import { z } from 'zod'
import { definePlugin, deny, STAGE_GUARD } from '../../src/plugin.ts'
import type { HookPlugin, HookPorts, Json } from '../../src/plugin.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import type { ScriptedTool, TestRuntime } from '../../src/testing/index.ts'

class DenyToolsPlugin implements HookPlugin {
  readonly name = 'deny-tools'
  readonly #tools: ReadonlySet<string>

  constructor(tools: readonly string[]) {
    this.#tools = new Set(tools)
  }

  apply({ hooks }: HookPorts): void {
    hooks.approve.tap({ name: 'deny-tools', stage: STAGE_GUARD }, (call) =>
      this.#tools.has(call.tool) ? deny(`${call.tool} is off on ${call.owner}`) : undefined,
    )
  }
}

const redact = definePlugin({
  name: 'redact',
  options: z.object({ pattern: z.string() }),
  apply({ hooks }, { pattern }) {
    const secret = new RegExp(pattern, 'g')
    const clean = (value: Json): Json => (typeof value === 'string' ? value.replace(secret, '[redacted]') : value)
    hooks.resolve.tap('redact', (call) => ({
      arguments: Object.fromEntries(Object.entries(call.arguments).map(([name, value]) => [name, clean(value)])),
    }))
  },
})

const multi = { features: { multi_environment_mcp: true } }
const calls = (t: TestRuntime): string[] => t.sent.filter(({ method }) => method === 'tools/call').map(({ owner }) => String(owner))
const sentTo = (t: TestRuntime, method: string): number => t.sent.filter((message) => message.method === method).length

/** Resolves with the next event of this type. */
const next = (t: TestRuntime, type: string): Promise<void> =>
  new Promise((resolve) => {
    const subscription = t.session.subscribe((event) => {
      if (event.type !== type) return
      subscription[Symbol.dispose]()
      resolve()
    })
  })

interface Signal {
  readonly promise: Promise<void>
  readonly resolve: () => void
}
function signalled(): Signal {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

/** A tool that says when it began, and answers only once it is aborted. */
const untilAborted =
  (arrived: Signal, aborted: Signal): NonNullable<ScriptedTool['run']> =>
  (_args, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted.resolve()
        resolve('too late')
      })
      arrived.resolve()
    })

test('a deny list that is limited to one environment holds there and nowhere else', async () => {
  const db = scriptedServer({ tools: { drop: { annotations: { readOnlyHint: true } }, read: {} } })
  await using t = await openTestRuntime({
    ...multi,
    environments: { staging: { db }, prod: { db } },
    hooks: [{ plugin: new DenyToolsPlugin(['drop']), environments: ['prod'] }],
  })
  const staging = await t.callTool({ server: 'db', environmentId: 'staging', tool: 'drop', arguments: { table: 'a' } })
  expect(staging).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: '{"table":"a"}' }] } })
  const prod = await t.callTool({ server: 'db', environmentId: 'prod', tool: 'drop', arguments: {} })
  expect(prod).toMatchObject({ outcome: 'refused', by: 'tap', reason: 'drop is off on db (environment prod)', sent: 'no' })
  expect(calls(t)).toEqual(['db (environment staging)'])
})

test('what is sent is what a person saw', async () => {
  await using t = await openTestRuntime({
    threadWide: { sh: { tools: { run: {} } } },
    hooks: [redact({ pattern: 'sk-\\w+' })],
  })
  expect(await t.callTool({ server: 'sh', tool: 'run', arguments: { cmd: 'echo sk-123' } })).toMatchObject({ outcome: 'completed' })
  expect(t.asked).toMatchObject([{ kind: 'approval', tool: 'run', environmentId: 'local', arguments: { cmd: 'echo [redacted]' } }])
  expect(t.sent.at(-1)).toMatchObject({ method: 'tools/call', params: { name: 'run', arguments: { cmd: 'echo [redacted]' } } })
})

test('permissions that are tightened while a person thinks stop the call', async () => {
  await using t = await openTestRuntime({ ...multi, environments: { prod: { db: { tools: { drop: {} } } } } })
  const session = await t.openSession({
    approver: async () => {
      t.environments.get('prod')?.update({ permissions: 'read-only' })
      return { action: 'accept' }
    },
  })
  const outcome = await session.callTool({ server: 'db', tool: 'drop', arguments: {} })
  expect(outcome).toMatchObject({ outcome: 'authority_changed', what: 'permissions', sent: 'no' })
  expect(t.asked).toHaveLength(1)
  expect(calls(t)).toEqual([])
})

test('everything that reaches a server is recorded, with the key of its owner', async () => {
  await using t = await openTestRuntime({ threadWide: { notes: { tools: { add: {} }, resources: { 'note://1': 'milk' } } } })
  const { tools, errors } = await t.session.listTools()
  expect(errors).toEqual([])
  expect(tools.map(({ tool }) => tool)).toEqual(['add'])
  expect((await t.session.listResources({ server: 'notes' })).items.map(({ uri }) => uri)).toEqual(['note://1'])
  const read = await t.session.readResource({ server: 'notes', uri: 'note://1' })
  expect(read.contents).toMatchObject([{ uri: 'note://1', text: 'milk' }])
  const methods = t.sent.map(({ method }) => method)
  expect(methods.slice(0, 3)).toEqual(['initialize', 'notifications/initialized', 'tools/list'])
  expect(methods).toContain('resources/list')
  expect(methods.at(-1)).toBe('resources/read')
  expect(t.sent.every(({ owner }) => owner === tools[0]?.owner)).toBe(true)
  expect(Object.isFrozen(t.sent.at(-1)?.params)).toBe(true)
})

test('a server that crashes fails the call on its way and is started again by the next one', async () => {
  const arrived = signalled()
  const slow = scriptedServer({ tools: { wait: { run: untilAborted(arrived, signalled()) }, ping: {} } })
  await using t = await openTestRuntime({ threadWide: { slow } })
  const call = t.callTool({ server: 'slow', tool: 'wait', arguments: {} })
  await arrived.promise
  slow.crash()
  const outcome = await call
  expect(outcome).toMatchObject({ outcome: 'server_failed', code: 'SERVER_EXITED', sent: 'unknown' })
  expect(outcome.outcome === 'server_failed' && outcome.message).toContain('crashed by the test')
  expect(await t.callTool({ server: 'slow', tool: 'ping', arguments: {} })).toMatchObject({ outcome: 'completed' })
  expect(sentTo(t, 'initialize')).toBe(2)
})

test('other tools are announced and listed again', async () => {
  const db = scriptedServer({ tools: { read: {} } })
  await using t = await openTestRuntime({ threadWide: { db } })
  const before = await t.session.listTools()
  const changed = next(t, 'tools_changed')
  db.replaceTools({ write: { description: 'writes', annotations: { readOnlyHint: true } } })
  await changed
  const after = await t.session.listTools()
  expect(after.tools.map(({ tool, description }) => [tool, description])).toEqual([['write', 'writes']])
  expect(after.generation).toBeGreaterThan(before.generation)
  expect(await t.callTool({ server: 'db', tool: 'read', arguments: {} })).toMatchObject({
    outcome: 'invalid_request',
    code: 'UNKNOWN_TOOL',
  })
  expect(await t.callTool({ server: 'db', tool: 'write', arguments: {} })).toMatchObject({ outcome: 'completed' })
})

test('one server object stands for two servers, each with connections of its own', async () => {
  const db = scriptedServer({ tools: { who: { annotations: { readOnlyHint: true } } } })
  await using t = await openTestRuntime({
    ...multi,
    environments: { a: { db }, b: { servers: { db }, permissions: 'full-access' } },
    threadWide: { db },
  })
  const { tools } = await t.session.listTools()
  expect(sentTo(t, 'initialize')).toBe(3)
  expect(tools.map(({ owner }) => owner.environmentId)).toEqual([null, 'a', 'b'])
  expect(new Set(tools.map(({ name }) => name)).size).toBe(3)
  expect(await t.callTool({ server: 'db', tool: 'who', arguments: {} })).toMatchObject({
    outcome: 'invalid_request',
    code: 'AMBIGUOUS_SERVER',
  })
  for (const { owner, tool } of tools)
    expect(await t.callTool({ owner, tool, arguments: {} })).toMatchObject({ outcome: 'completed', owner })
  expect(calls(t)).toEqual(['db', 'db (environment a)', 'db (environment b)'])
  expect(t.environments.get('b')?.permissions).toBe('full-access')
})

test('what is said of a server counts: in every environment, and stronger in one', async () => {
  const db = { tools: { drop: {}, read: {} } }
  await using t = await openTestRuntime({
    ...multi,
    environments: { a: { db }, b: { servers: { db }, policies: { db: { defaultToolsApprovalMode: 'approve' } } } },
    policies: { db: { defaultToolsApprovalMode: 'deny', disabledTools: ['read'] } },
  })
  const drop = (environmentId: string) => t.callTool({ server: 'db', environmentId, tool: 'drop', arguments: {} })
  expect(await drop('a')).toMatchObject({ outcome: 'refused', by: 'policy' })
  expect(await drop('b')).toMatchObject({ outcome: 'completed' })
  const read = await t.callTool({ server: 'db', environmentId: 'b', tool: 'read', arguments: {} })
  expect(read).toMatchObject({ code: 'CALL_TOOL_DISABLED', sent: 'no' })
  expect(t.asked).toEqual([])
})

test('nobody to ask, and a person who says no', async () => {
  await using t = await openTestRuntime({ threadWide: { sh: { tools: { run: {} } } }, session: { approver: null } })
  expect(await t.callTool({ server: 'sh', tool: 'run', arguments: {} })).toMatchObject({ outcome: 'no_approver' })
  await using other = await t.openSession({ approver: () => Promise.resolve({ action: 'decline', reason: 'not today' }) })
  expect(await other.callTool({ server: 'sh', tool: 'run', arguments: {} })).toMatchObject({ outcome: 'refused', by: 'person' })
  expect(t.asked).toMatchObject([{ sessionId: other.id, tool: 'run' }])
  expect(calls(t)).toEqual([])
})

test('tools answer with text, with results or with a failure of their own, and see _meta', async () => {
  await using t = await openTestRuntime({
    threadWide: {
      s: {
        instructions: 'for tests',
        experimental: { 'example.com/x': { on: true } },
        tools: {
          text: { run: () => 'plain' },
          result: { run: async () => ({ content: [], structuredContent: { n: 1 } }) },
          fails: {
            run: () => {
              throw new Error('broken')
            },
          },
          nothing: { run: () => undefined as never },
          meta: { run: (_args, { meta }) => JSON.stringify(meta['example.com/ticket']) },
        },
      },
    },
  })
  const call = (tool: string) => t.callTool({ server: 's', tool, arguments: {} }, { meta: { 'example.com/ticket': 'T-1' } })
  expect(await call('text')).toMatchObject({ outcome: 'completed', result: { content: [{ text: 'plain' }] } })
  expect(await call('result')).toMatchObject({ outcome: 'completed', result: { structuredContent: { n: 1 } } })
  expect(await call('fails')).toMatchObject({ outcome: 'completed', result: { isError: true, content: [{ text: 'broken' }] } })
  expect(await call('nothing')).toMatchObject({ outcome: 'completed', result: { isError: true } })
  expect(await call('meta')).toMatchObject({ outcome: 'completed', result: { content: [{ text: '"T-1"' }] } })
  const [row] = (await t.session.status({ server: 's' })).data
  expect(row).toMatchObject({ runtimeStatus: 'connected', pid: null, capabilities: { experimental: { 'example.com/x': { on: true } } } })
})

test('a call that is cancelled aborts its tool, and the notice is recorded', async () => {
  const arrived = signalled()
  const aborted = signalled()
  await using t = await openTestRuntime({ threadWide: { slow: { tools: { wait: { run: untilAborted(arrived, aborted) } } } } })
  const controller = new AbortController()
  const call = t.callTool({ server: 'slow', tool: 'wait', arguments: {} }, { signal: controller.signal })
  await arrived.promise
  controller.abort()
  expect(await call).toMatchObject({ outcome: 'cancelled', by: 'host' })
  await aborted.promise
  expect(sentTo(t, 'notifications/cancelled')).toBe(1)
})

test('closing aborts what runs, refuses sessions and leaves nothing open; no process was started', async () => {
  const before = process.getActiveResourcesInfo().length
  const arrived = signalled()
  const aborted = signalled()
  const t = await openTestRuntime({ environments: { a: { slow: { tools: { wait: { run: untilAborted(arrived, aborted) } } } } } })
  const call = t.callTool({ server: 'slow', tool: 'wait', arguments: {} })
  await arrived.promise
  expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap')
  await t.close()
  expect(await call).toMatchObject({ outcome: 'cancelled', sent: 'yes' })
  await aborted.promise
  await expect(t.openSession()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await expect.poll(() => process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before)
})

test('a mistake rejects as it would for a host, and leaves nothing open', async () => {
  await expect(openTestRuntime({ features: { no_such_flag: true } })).rejects.toMatchObject({ code: 'FLAG_UNKNOWN' })
  await expect(openTestRuntime({ session: { environments: ['nowhere'] } })).rejects.toMatchObject({ code: 'ENVIRONMENT_UNKNOWN' })
  await expect(openTestRuntime({ environments: { 'bad id': {} } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
