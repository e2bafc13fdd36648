import { expect, test } from 'vitest'
import { ServerConnection } from '../../src/connections/server-connection.ts'
import type { JsonObject } from '../../src/plugin.ts'
import { allow, ask } from '../../src/plugin.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { open, plugin, REQUEST, sleep, toolCalls } from './kit.ts'

const sentArguments = (t: TestRuntime): unknown => toolCalls(t).at(-1)?.params['arguments']

/** What the pipeline hands to a connection, as the very objects. */
async function spied<T>(work: () => Promise<T>): Promise<{ value: T; params: JsonObject[] }> {
  const original = ServerConnection.prototype.request
  const params: JsonObject[] = []
  ServerConnection.prototype.request = function (method, given, options) {
    if (method === 'tools/call') params.push(given)
    return original.call(this, method, given, options)
  }
  try {
    return { value: await work(), params }
  } finally {
    ServerConnection.prototype.request = original
  }
}

test('no copy where nothing is asynchronous; one as soon as a tap reads, or anything waits', async () => {
  const readers = [
    [],
    [plugin(({ hooks }) => hooks.approve.tap('t', () => allow()))],
    [plugin(({ hooks }) => hooks.approve.tap('t', (call: { arguments: object }) => void call.arguments))],
    [plugin(({ hooks }) => hooks.approve.tapPromise('t', async () => {}))],
    [plugin(({ hooks }) => hooks.dispatch.tapPromise('t', (_call: unknown, next: () => unknown) => next()))],
  ]
  for (const [index, hooks] of readers.entries()) {
    await using t = await open(hooks)
    await t.session.listTools()
    const given = { a: { deep: 1 } }
    const { params } = await spied(() => t.callTool({ ...REQUEST, arguments: given }))
    expect(params).toHaveLength(1)
    expect(params[0]!['arguments'] === given).toBe(index < 2)
    expect(params[0]!['arguments']).toEqual(given)
    // ours may be frozen, the host's never
    expect(Object.isFrozen(given) || Object.isFrozen(given.a)).toBe(false)
  }
})

test('what is synchronous is written before callTool returns', async () => {
  await using t = await open([plugin(({ hooks }) => hooks.approve.tap('t', () => allow()))])
  await t.session.listTools()
  const { params } = await spied(async () => {
    void t.callTool(REQUEST)
  })
  expect(params).toHaveLength(1)
})

test('a host that changes its object after the call changes nothing', async () => {
  const slow = plugin(({ hooks }) => hooks.approve.tapPromise('t', () => sleep(20)))
  const asking = plugin(({ hooks }) => hooks.approve.tap('t', () => ask()))
  const dispatching = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('t', async (_call: unknown, next: () => unknown) => (await sleep(20), next())),
  )
  for (const hooks of [[], [slow], [asking], [dispatching]]) {
    for (const isWarm of [true, false]) {
      await using t = await open(hooks)
      if (isWarm) await t.session.listTools()
      const given = { path: '/a', deep: { list: [1, 2] } }
      const call = t.callTool({ ...REQUEST, arguments: given })
      given.path = '/etc/passwd'
      given.deep.list.push(3)
      expect(await call).toMatchObject({ outcome: 'completed' })
      expect(sentArguments(t)).toEqual({ path: '/a', deep: { list: [1, 2] } })
    }
  }
})

test('what is asked about, what taps see and what is sent is one snapshot, while a person thinks and a tap runs', async () => {
  const given: Record<string, unknown> = { path: '/a' }
  const seen: unknown[] = []
  const p = plugin(({ hooks }) => {
    hooks.resolve.tapPromise('t', async (call: { arguments: unknown }) => {
      given['path'] = '/changed in resolve'
      await sleep(5)
      seen.push(call.arguments)
    })
    hooks.approve.tap('t', (call: { arguments: unknown }) => (seen.push(call.arguments), ask()))
    hooks.dispatch.tapPromise('t', async (call: { arguments: unknown }, next: () => unknown) => {
      seen.push(call.arguments)
      given['path'] = '/changed in dispatch'
      await sleep(5)
      return next()
    })
  })
  await using t = await open([p], {
    session: {
      approver: async () => {
        given['path'] = '/changed while asked'
        await sleep(5)
        return { action: 'accept' }
      },
    },
  })
  await t.session.listTools()
  expect(await t.callTool({ ...REQUEST, arguments: given })).toMatchObject({ outcome: 'completed' })
  expect([...seen, t.asked[0]!.arguments, sentArguments(t)]).toEqual(Array.from({ length: 5 }, () => ({ path: '/a' })))
  expect(seen[0]).toBe(seen[2])
  expect(Object.isFrozen(seen[0])).toBe(true)
})

test('taps cannot change what they see', async () => {
  const p = plugin(({ hooks }) =>
    hooks.approve.tap('t', (call: { arguments: { a: number; deep: { list: number[] } } }) => {
      expect(() => call.arguments.deep.list.push(2)).toThrow(TypeError)
      expect(Reflect.set(call.arguments, 'a', 2)).toBe(false)
      expect(Reflect.deleteProperty(call.arguments, 'deep')).toBe(false)
    }),
  )
  await using t = await open([p])
  expect(await t.callTool({ ...REQUEST, arguments: { a: 1, deep: { list: [1] } } })).toMatchObject({ outcome: 'completed' })
  expect(sentArguments(t)).toEqual({ a: 1, deep: { list: [1] } })
})

test('each rewrite is seen by the next tap, and the last one is what is asked about and sent', async () => {
  const seen: unknown[] = []
  const p = plugin(({ hooks }) => {
    for (const n of [1, 2, 3])
      hooks.resolve.tap(
        `t${n}`,
        (call: { arguments: object }) => (seen.push(call.arguments), { arguments: { ...call.arguments, [`t${n}`]: n } }),
      )
  })
  await using t = await open([p], { policies: { s: { defaultToolsApprovalMode: 'prompt' } } })
  expect(await t.callTool({ ...REQUEST, arguments: { a: 0 } })).toMatchObject({ outcome: 'completed' })
  expect(seen).toEqual([{ a: 0 }, { a: 0, t1: 1 }, { a: 0, t1: 1, t2: 2 }])
  expect(t.asked[0]!.arguments).toEqual({ a: 0, t1: 1, t2: 2, t3: 3 })
  expect(sentArguments(t)).toEqual({ a: 0, t1: 1, t2: 2, t3: 3 })
})

const cycle: Record<string, unknown> = { a: 1 }
cycle['self'] = cycle
const BAD: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['a text', '{"a":1}'],
  ['a number', 7],
  ['an array', [1]],
  ['a function', () => ({})],
  ['a circle', cycle],
  ['a bigint', { a: 1n }],
  ['toJSON that gives a text', { toJSON: () => 'x' }],
  ['toJSON that gives nothing', { toJSON: () => undefined }],
  [
    'toJSON that throws',
    {
      toJSON: () => {
        throw new Error('boom')
      },
    },
  ],
  [
    'a deep toJSON that throws',
    {
      a: {
        toJSON: () => {
          throw new Error('boom')
        },
      },
    },
  ],
  [
    'a getter that throws',
    {
      get a(): never {
        throw new Error('boom')
      },
    },
  ],
  [
    'a Proxy that throws',
    new Proxy(
      {},
      {
        get() {
          throw new Error('boom')
        },
        ownKeys() {
          throw new Error('boom')
        },
      },
    ),
  ],
  ['a date', new Date(0)],
]

test.each(BAD)('arguments that are %s are an invalid request, whether something waits or not', async (_what, given) => {
  const waiting = plugin(({ hooks }) => hooks.approve.tapPromise('t', async () => {}))
  for (const hooks of [[], [waiting]]) {
    for (const isWarm of [true, false]) {
      await using t = await open(hooks)
      if (isWarm) await t.session.listTools()
      const outcome = await t.callTool({ ...REQUEST, arguments: given })
      expect(outcome).toMatchObject({ outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST', sent: 'no' })
      expect(toolCalls(t)).toEqual([])
      // and the connection is as good as before
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
    }
  }
})

test('arguments that are left out are an empty object', async () => {
  await using t = await open()
  expect(await t.callTool({ server: 's', tool: 'run' })).toMatchObject({ outcome: 'completed' })
  expect(sentArguments(t)).toEqual({})
})

test('keys like __proto__ are data, on every way', async () => {
  const given = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":1},"toString":2,"then":3}') as JsonObject
  const rewrite = plugin(({ hooks }) => hooks.resolve.tap('t', (call: { arguments: object }) => ({ arguments: call.arguments })))
  for (const hooks of [[], [rewrite]]) {
    await using t = await open(hooks)
    await t.session.listTools()
    expect(await t.callTool({ ...REQUEST, arguments: given })).toMatchObject({
      outcome: 'completed',
      result: { content: [{ text: JSON.stringify(given) }] },
    })
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  }
})

test('arguments nested deeper than a stack goes end the call, not the process', async () => {
  let deep: JsonObject = {}
  for (let level = 0; level < 4000; level++) deep = { deep }
  const reading = plugin(({ hooks }) => hooks.approve.tap('t', (call: { arguments: object }) => void call.arguments))
  await using t = await open([reading])
  expect(['completed', 'invalid_request']).toContain((await t.callTool({ ...REQUEST, arguments: deep })).outcome)
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
})

test('a schema looks at what JSON makes of the arguments, at the first call as at every other', async () => {
  const inputSchema = {
    type: 'object',
    properties: { when: { type: 'string' }, limit: { type: 'number' } },
    additionalProperties: false,
    required: ['when'],
  }
  await using t = await open([], {}, { run: { inputSchema } })
  await t.session.listTools()
  for (let turn = 0; turn < 3; turn++) {
    expect(await t.callTool({ ...REQUEST, arguments: { when: new Date(0), limit: undefined } })).toMatchObject({ outcome: 'completed' })
    expect(await t.callTool({ ...REQUEST, arguments: { when: 7 } })).toMatchObject({
      outcome: 'invalid_request',
      code: 'CALL_INVALID_REQUEST',
      sent: 'no',
      message: expect.stringContaining('when'),
    })
    expect(await t.callTool({ ...REQUEST, arguments: { when: undefined } })).toMatchObject({ outcome: 'invalid_request' })
  }
})

test('arguments are checked after the last tap: what a rewrite breaks is refused', async () => {
  const p = plugin(({ hooks }) => hooks.resolve.tap('t', () => ({ arguments: { a: 'text' } })))
  await using t = await openTestRuntime({
    threadWide: { s: { tools: { run: { inputSchema: { type: 'object', properties: { a: { type: 'number' } } } } } } },
    hooks: [p],
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST', sent: 'no' })
  expect([t.asked, toolCalls(t)]).toEqual([[], []])
})
