import { expect, test } from 'vitest'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin } from './kit.ts'

/** A server whose calls end when the test says so, and what it saw. */
function gated(): {
  run: (args: { readonly id?: unknown }) => Promise<string>
  began: unknown[]
  most: () => number
  open: () => Promise<void>
} {
  const began: unknown[] = []
  const gates: (() => void)[] = []
  let now = 0
  let most = 0
  return {
    began,
    most: () => most,
    run: async ({ id }) => {
      began.push(id)
      most = Math.max(most, ++now)
      await new Promise<void>((resolve) => gates.push(resolve))
      now--
      return String(id)
    },
    open: async () => {
      await expect.poll(() => gates.length, { timeout: 20_000 }).toBeGreaterThan(0)
      gates.shift()!()
    },
  }
}

type Hooks = NonNullable<Parameters<typeof openTestRuntime>[0]>['hooks']
function runtime(server: ReturnType<typeof gated>, hooks: Hooks = [], parallel = false): Promise<TestRuntime> {
  return openTestRuntime({
    threadWide: { s: { tools: { t: { run: server.run, annotations: { readOnlyHint: true } }, u: {} }, resources: { 'x://y': 'z' } } },
    policies: { s: { supportsParallelToolCalls: parallel } },
    hooks: hooks ?? [],
  })
}
const call = (id: number) => ({ server: 's', tool: 't', arguments: { id } }) as const

test('one call at a time, in the order in which they came, over all sessions; reads are not held up', async () => {
  const server = gated()
  await using t = await runtime(server)
  const other = await t.openSession()
  await t.session.listTools()
  const calls = [t.callTool(call(0)), other.callTool(call(1)), t.callTool(call(2), { trace: true })]
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(1)
  expect(await t.session.readResource({ server: 's', uri: 'x://y' })).toMatchObject({ contents: [{ text: 'z' }] })
  for (let i = 0; i < 3; i++) await server.open()
  const outcomes = await Promise.all(calls)
  expect(outcomes.map(({ forModel }) => forModel.text)).toEqual(['0', '1', '2'])
  expect([server.began, server.most()]).toEqual([[0, 1, 2], 1])
  expect(outcomes[2]!.trace?.timingsMs.queue).toBeGreaterThan(0)
})

test('with supportsParallelToolCalls calls overlap', async () => {
  const server = gated()
  await using t = await runtime(server, [], true)
  const calls = [t.callTool(call(0)), t.callTool(call(1))]
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(2)
  for (let i = 0; i < 2; i++) await server.open()
  expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(['completed', 'completed'])
})

test('a call that is cancelled or runs out of time while it waits leaves the line, and nothing was sent', async () => {
  const server = gated()
  await using t = await runtime(server)
  const first = t.callTool(call(0))
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(1)
  const abort = new AbortController()
  const cancelled = t.callTool(call(1), { signal: abort.signal })
  const late = t.callTool(call(2), { timeoutMs: 50 })
  const idle = t.callTool(call(3), { idleTimeoutMs: 5000 })
  expect(await late).toMatchObject({ outcome: 'timed_out', sent: 'no' })
  abort.abort()
  expect(await cancelled).toMatchObject({ outcome: 'cancelled', sent: 'no' })
  await server.open()
  await server.open()
  expect((await Promise.all([first, idle])).map(({ outcome }) => outcome)).toEqual(['completed', 'completed'])
  expect(server.began).toEqual([0, 3])
})

test('a call that waits sends what it was given, whatever the host does to its object meanwhile', async () => {
  const server = gated()
  await using t = await runtime(server)
  const first = t.callTool(call(0))
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(1)
  const args = { id: 1 }
  const second = t.callTool({ server: 's', tool: 't', arguments: args })
  args.id = 99
  await server.open()
  await server.open()
  expect([(await first).forModel.text, (await second).forModel.text]).toEqual(['0', '1'])
})

test('a call that fails gives its turn to the next, and so does a retry of a tap', async () => {
  const server = gated()
  const twice = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise({ name: 'twice', tools: ['u'] }, async (_call: object, next: () => Promise<object>) => {
      await next()
      return (await next()) as never
    }),
  )
  await using t = await runtime(server, [twice])
  const abort = new AbortController()
  const running = t.callTool(call(0), { signal: abort.signal })
  const retried = t.callTool({ server: 's', tool: 'u', arguments: {} }, {})
  const last = t.callTool(call(2))
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(1)
  abort.abort()
  expect(await running).toMatchObject({ outcome: 'cancelled', sent: 'yes' })
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(2)
  await server.open()
  await server.open()
  expect([(await retried).outcome, (await last).outcome]).toEqual(['completed', 'completed'])
})

test('a server that crashes ends the call that runs; the next one in the line starts it again', async () => {
  const { scriptedServer } = await import('../../src/testing/index.ts')
  const gate = gated()
  const server = scriptedServer({ tools: { t: { run: gate.run, annotations: { readOnlyHint: true } } } })
  await using t = await openTestRuntime({ threadWide: { s: server }, policies: { s: { supportsParallelToolCalls: false } } })
  const first = t.callTool(call(0))
  await expect.poll(() => gate.began.length, { timeout: 20_000 }).toBe(1)
  const second = t.callTool(call(1))
  server.crash()
  expect(await first).toMatchObject({ outcome: 'server_failed', sent: 'unknown' })
  await expect.poll(() => gate.began.length, { timeout: 20_000 }).toBe(2)
  await gate.open()
  await gate.open()
  expect(await second).toMatchObject({ outcome: 'completed', forModel: { text: '1' } })
})

test('thousands that wait and may not be sent any more all end, and the line goes on', async () => {
  const server = gated()
  await using t = await openTestRuntime({
    environments: { local: { servers: {}, permissions: 'workspace-write' } },
    threadWide: { s: { tools: { t: { run: server.run } } } },
    policies: { s: { supportsParallelToolCalls: false, defaultToolsApprovalMode: 'approve' } },
  })
  const first = t.callTool(call(0))
  await expect.poll(() => server.began.length, { timeout: 20_000 }).toBe(1)
  const others = Array.from({ length: 12_000 }, (_, index) => t.callTool(call(index + 1)))
  t.environments.get('local')!.update({ permissions: 'read-only' })
  await server.open()
  expect(await first).toMatchObject({ outcome: 'completed' })
  expect(new Set((await Promise.all(others)).map(({ outcome }) => outcome))).toEqual(new Set(['authority_changed']))
  const last = t.callTool(call(-1))
  await server.open()
  expect(await last).toMatchObject({ outcome: 'completed' })
})
