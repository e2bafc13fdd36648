import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineFlag } from '../../src/index.ts'
import { ask, definePlugin } from '../../src/plugin.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { open, plugin, REQUEST } from '../pipeline/kit.ts'
import { SealedCall } from '../../src/hooks/sealed-call.ts'

interface Context {
  readonly signal: AbortSignal
  readonly mode: string
  readonly session: string
  readonly flags: { get(flag: unknown): unknown }
  log(line: string): void
}

test('the context of a tap: signal, flags, session, mode, log; frozen', async () => {
  const beta = defineFlag({ name: 'beta', default: false, description: 'for this test' })
  const contexts: Context[] = []
  const p = plugin(({ hooks }) => {
    for (const hook of ['resolve', 'approve', 'attachMetadata'] as const)
      hooks[hook].tap('t', (_call: unknown, context: Context) => void contexts.push(context))
    hooks.dispatch.tapPromise('t', (_call: unknown, next: () => unknown, context: Context) => (contexts.push(context), next()))
  })
  await using t = await openTestRuntime({
    threadWide: { s: { tools: { run: {} } } },
    policies: { s: { defaultToolsApprovalMode: 'approve' } },
    hooks: [p],
    flags: { define: [beta], override: { beta: true } },
    session: { id: 'the session' },
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(contexts).toHaveLength(4)
  for (const context of contexts) {
    expect([context.mode, context.session, context.flags.get(beta)]).toEqual(['enforce', 'the session', true])
    expect(context.signal).toBe(context.signal)
    // the call is over
    expect(context.signal.aborted).toBe(true)
    expect(Reflect.set(context, 'session', 'x')).toBe(false)
    // what a tap puts on its own is nobody else's: not even a later tap of this call has it
    expect(Reflect.defineProperty(context, 'mine', { value: true })).toBe(true)
    expect(Object.isFrozen(Object.getPrototypeOf(context))).toBe(true)
  }
  expect(new Set(contexts).size).toBe(4)
})

test('what a tap sees of the call', async () => {
  const seen: Record<string, unknown>[] = []
  const p = plugin(({ hooks }) =>
    hooks.approve.tap('t', (call: Record<string, unknown>) => {
      seen.push({
        ...(call['toJSON'] as () => object).call(call),
        question: call['question'],
        title: call['title'],
        annotations: call['annotations'],
      })
      expect(SealedCall.is(call)).toBe(false)
      expect(Object.isFrozen(call)).toBe(true)
      expect(call['owner']).toBe(call['owner'])
    }),
  )
  await using t = await open(
    [p],
    { policies: {}, session: { id: 'sid' } },
    { run: { annotations: { title: 'Run', destructiveHint: true } } },
  )
  await t.callTool(REQUEST)
  await t.callTool(REQUEST)
  expect(seen[0]).toMatchObject({
    method: 'tools/call',
    sessionId: 'sid',
    tool: 'run',
    title: 'Run',
    arguments: { a: 1 },
    annotations: { destructiveHint: true },
    question: { mode: 'auto', text: 'Allow s to run Run?' },
  })
  expect(String(seen[0]!['owner'])).toBe('s')
  expect(seen[0]!['id']).not.toBe(seen[1]!['id'])
})

test('owners are compared with equals, over calls, taps and sessions', async () => {
  const owners: { equals(other: unknown): boolean }[] = []
  const p = plugin(({ hooks }) => {
    hooks.resolve.tap('t', (call: { owner: never }) => void owners.push(call.owner))
    hooks.approve.tap('t', (call: { owner: never }) => void owners.push(call.owner))
  })
  await using t = await openTestRuntime({ threadWide: { s: { tools: { run: {} } }, other: { tools: { run: {} } } }, hooks: [p] })
  const { tools } = await t.session.listTools()
  await t.callTool(REQUEST)
  await (await t.openSession()).callTool({ ...REQUEST, server: 'other' })
  const [a, b, c] = owners
  expect([a!.equals(b), a!.equals(c), a!.equals(null), a!.equals({ name: 's' })]).toEqual([true, false, false, false])
  const key = tools.find(({ owner }) => owner.name === 's')!.owner
  expect([a!.equals(key), key.equals(a)]).toEqual([true, true])
})

test('a question about a resource names it', async () => {
  const p = plugin(({ hooks }) => hooks.approve.tap({ name: 't', methods: ['resources/read'] }, () => ask('read this?')))
  await using t = await openTestRuntime({ threadWide: { s: { resources: { 'note://1': 'milk' } } }, hooks: [p] })
  expect(await t.session.readResource({ server: 's', uri: 'note://1' })).toMatchObject({ contents: [{ text: 'milk' }] })
  expect(t.asked).toMatchObject([
    { tool: 'note://1', canRemember: [], notes: [{ plugin: 'p', question: 'read this?' }], arguments: { uri: 'note://1' } },
  ])
})

test('definePlugin checks options once, when the plugin is made', () => {
  const make = definePlugin({ name: 'x', options: z.object({ n: z.number().default(5) }), apply: () => {} })
  expect(make({})).toMatchObject({ name: 'x' })
  expect(() => make({ n: 'text' } as never)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining('n') }),
  )
  expect(() => make(null as never)).toThrow(expect.objectContaining({ code: 'HOOK_BAD_PLUGIN' }))
  const slow = definePlugin({ name: 'slow', options: z.string().refine(async () => true), apply: () => {} })
  expect(() => slow('x')).toThrow(expect.objectContaining({ code: 'HOOK_BAD_PLUGIN' }))
})
