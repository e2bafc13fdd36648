import { expect, test } from 'vitest'
import { ask } from '../../src/plugin.ts'
import type { LiveRuntime } from '../../src/runtime/live-runtime.ts'
import { Environment } from '../../src/servers/environment.ts'
import type { ScriptedServer, TestRuntime, TestRuntimeOptions } from '../../src/testing/index.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import { goneDown } from '../plugins/builtin/kit.ts'
import { plugin, REQUEST, sleep, toolCalls } from './kit.ts'

/** One server that asks, on an environment with permissions; `during` runs while the person thinks. */
async function asking(
  during: (t: TestRuntime, server: ScriptedServer) => unknown,
  more: Partial<TestRuntimeOptions> = {},
): Promise<TestRuntime> {
  const server = scriptedServer({ tools: { run: { description: 'old' } } })
  const t: TestRuntime = await openTestRuntime({
    environments: { local: { servers: {}, permissions: 'workspace-write' } },
    threadWide: { s: server },
    session: {
      approver: async () => {
        await during(t, server)
        return { action: 'accept', remember: 'session' }
      },
    },
    ...more,
  })
  return t
}

test.each([
  ['permissions', (t: TestRuntime) => t.environments.get('local')!.update({ permissions: 'read-only' })],
  ['permissions', (t: TestRuntime) => t.environments.get('local')!.update({ permissions: 'full-access' })],
  ['permissions', (t: TestRuntime) => t.environments.get('local')!.update({ permissions: null })],
  ['policy', (t: TestRuntime) => t.environments.get('local')!.update({ approvalPolicy: 'never' })],
] as const)('a change of %s during the question stops the call, and nothing is remembered', async (what, change) => {
  await using t = await asking(change)
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', code: 'CALL_AUTHORITY_CHANGED', what, sent: 'no' })
  expect(toolCalls(t)).toEqual([])
  t.environments.get('local')!.update({ permissions: 'workspace-write', approvalPolicy: 'on-request' })
  const before = t.asked.length
  await t.callTool(REQUEST)
  expect(t.asked.length).toBe(before + 1)
})

test('the same permissions said again are no change', async () => {
  await using t = await asking((runtime) => {
    runtime.environments.get('local')!.update({ permissions: 'read-only' })
    runtime.environments.get('local')!.update({ permissions: 'workspace-write' })
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
})

test.each([0, 100])(
  'a tool that is redefined or gone during the question stops the call (the list is read again %d ms later)',
  async (ms) => {
    for (const [tools, what] of [
      [{ run: { description: 'new' } }, 'definition'],
      [{ other: {} }, 'tool_gone'],
    ] as const) {
      await using t = await asking(async (_runtime, server) => (server.replaceTools(tools), sleep(ms)))
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what, sent: 'no' })
      expect(toolCalls(t)).toEqual([])
    }
  },
)

test.each([0, 100])('a notice without a change during the question stops nothing (%d ms)', async (ms) => {
  await using t = await asking(async (_runtime, server) => (server.replaceTools({ run: { description: 'old' } }), sleep(ms)))
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
})

test('a server that ends during the question is started again for the call', async () => {
  await using t = await asking(async (runtime, server) => {
    const gone = goneDown(runtime)
    server.crash()
    await gone
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(t.sent.filter(({ method }) => method === 'initialize')).toHaveLength(2)
})

test('an environment that was replaced during the question stops the call', async () => {
  // replacing comes with its own issue; what it will do to a session is that its id stands for another instance
  let replaced: Environment | undefined
  await using t = await asking((runtime) => {
    replaced = new Environment(runtime.environments.get('local')!.spec)
  })
  const session = t.session as unknown as { environment: (id: string) => Environment | undefined }
  const original = session.environment
  session.environment = function (id) {
    return replaced ?? original.call(this, id)
  }
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what: 'environment', sent: 'no' })
  expect((t as unknown as LiveRuntime).environments.get('local')).not.toBe(replaced)
})

test('nobody is asked about a call whose authority is gone already', async () => {
  const p = plugin(({ hooks }) =>
    hooks.approve.tapPromise('t', async () => {
      t.environments.get('local')!.update({ permissions: 'read-only' })
      return ask()
    }),
  )
  await using t = await asking(() => {}, { hooks: [p] })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what: 'permissions', sent: 'no' })
  expect(t.asked).toEqual([])
})

test('a change in any later tap is seen right before the write', async () => {
  for (const hook of ['attachMetadata', 'dispatch'] as const) {
    const p = plugin(({ hooks }) =>
      hooks[hook].tapPromise('t', async (_call: unknown, next: () => unknown) => {
        await sleep(2)
        t.environments.get('local')!.update({ permissions: 'read-only' })
        return hook === 'dispatch' ? next() : undefined
      }),
    )
    await using t = await asking(() => {}, { hooks: [p] })
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what: 'permissions', sent: 'no' })
    expect(toolCalls(t)).toEqual([])
  }
})

test('a retry is compared again: what it finds changed is not sent, and that the first try was is said', async () => {
  const tries: string[] = []
  const p = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('retry', async (_call: unknown, next: () => Promise<{ isError?: boolean }>) => {
      const first = await next()
      tries.push(String(first.isError))
      t.environments.get('local')!.update({ permissions: 'read-only' })
      return next()
    }),
  )
  await using t = await asking(() => {}, { hooks: [p] })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', sent: 'yes' })
  expect(tries).toHaveLength(1)
  expect(toolCalls(t)).toHaveLength(1)
})

test('a tool that changes between two tries is not called by its old approval', async () => {
  const server = scriptedServer({ tools: { run: { description: 'old' } } })
  const p = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('retry', async (_call: unknown, next: () => Promise<unknown>) => {
      await next()
      server.replaceTools({ run: { description: 'new' } })
      await sleep(10)
      return next()
    }),
  )
  await using t = await openTestRuntime({ threadWide: { s: server }, hooks: [p] })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what: 'definition', sent: 'yes' })
  expect(toolCalls(t)).toHaveLength(1)
})

test('a change of another environment, of another server or of another tool stops nothing', async () => {
  const other = scriptedServer({ tools: { x: {} } })
  await using t = await asking(
    (runtime, server) => {
      runtime.environments.get('else')!.update({ permissions: 'full-access', approvalPolicy: 'never' })
      other.replaceTools({ y: {} })
      server.replaceTools({ run: { description: 'old' }, more: {} })
    },
    { environments: { local: { servers: {}, permissions: 'workspace-write' }, else: { servers: { other } } } },
  )
  await t.session.listTools()
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
})

test('what taps see of the authority is what was captured', async () => {
  const seen: unknown[] = []
  const p = plugin(({ hooks }) => {
    const look = (call: {
      authority: { permissions: unknown; approvalPolicy: unknown; environmentId: string; definitionDigest: string; flags: unknown }
    }): void => {
      const { permissions, approvalPolicy, environmentId, definitionDigest } = call.authority
      seen.push([environmentId, permissions, approvalPolicy, definitionDigest.length])
    }
    hooks.resolve.tapPromise('t', async (call: never) => {
      look(call)
      t.environments.get('local')!.update({ permissions: 'read-only', approvalPolicy: 'never' })
    })
    hooks.approve.tap('t', look)
  })
  await using t = await asking(() => {}, { hooks: [p] })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed' })
  expect(seen).toEqual([
    ['local', 'workspace-write', 'on-request', 64],
    ['local', 'workspace-write', 'on-request', 64],
  ])
})
