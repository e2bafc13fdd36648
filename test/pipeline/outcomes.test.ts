// Each end of a call has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
import { expect, test } from 'vitest'
import { ask, deny, TaplineError } from '../../src/plugin.ts'
import type { CallOutcome, CallTrace, Method, ServerKey } from '../../src/plugin.ts'
import type { SessionEvent, ToolCallRequest } from '../../src/runtime/types.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../src/testing/index.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import { oneToolServer } from '../one-tool-server.ts'
import { never, open, plugin, REQUEST, sleep, toolCalls } from './kit.ts'

type Next = () => Promise<{ content: unknown[] }>
interface Settled {
  readonly call: { readonly id: string } | null
  readonly owner: unknown
  readonly outcome: CallOutcome<Method>
  readonly trace: CallTrace
}

const SECRET = 'internal detail 4711'
const failing = (hook: 'approve' | 'dispatch') =>
  plugin(({ hooks }) =>
    hooks[hook].tapPromise('t', async (_call: unknown, next: Next) => {
      if (hook === 'dispatch') await next()
      throw new Error(`${SECRET}\n    at somewhere (file.ts:1:1)`)
    }),
  )

interface Ending {
  readonly name: string
  readonly options?: Partial<TestRuntimeOptions>
  readonly tool?: NonNullable<Parameters<typeof open>[2]>[string]
  readonly request?: ToolCallRequest
  readonly call?: (t: TestRuntime) => Promise<CallOutcome>
  readonly want: object
  readonly sent: 'no' | 'yes' | 'unknown'
}
const ENDINGS: readonly Ending[] = [
  { name: 'completed', want: { outcome: 'completed', code: 'OK' }, sent: 'yes' },
  {
    name: 'completed with isError',
    tool: {
      run: () => {
        throw new Error('of the tool')
      },
    },
    want: { outcome: 'completed', code: 'OK', result: { isError: true } },
    sent: 'yes',
  },
  {
    name: 'answered by a tap',
    options: { hooks: [plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async () => ({ content: [] })))] },
    want: { outcome: 'completed' },
    sent: 'no',
  },
  {
    name: 'refused by a tap',
    options: { hooks: [plugin(({ hooks }) => hooks.approve.tap('t', () => deny('no')))] },
    want: { outcome: 'refused', code: 'CALL_REFUSED', by: 'tap', reason: 'no' },
    sent: 'no',
  },
  {
    name: 'refused by the failure of a tap',
    options: { hooks: [failing('approve')] },
    want: { outcome: 'refused', code: 'HOOK_FAILED', by: 'tap_failure' },
    sent: 'no',
  },
  {
    name: 'refused by the policy',
    options: { policies: { s: { defaultToolsApprovalMode: 'deny' } } },
    want: { outcome: 'refused', code: 'CALL_REFUSED', by: 'policy' },
    sent: 'no',
  },
  {
    name: 'refused by a filter',
    options: { policies: { s: { disabledTools: ['run'] } } },
    want: { outcome: 'refused', code: 'CALL_TOOL_DISABLED', by: 'policy' },
    sent: 'no',
  },
  {
    name: 'refused because the server is off',
    options: { policies: { s: { enabled: false } } },
    want: { outcome: 'refused', code: 'SERVER_DISABLED', by: 'policy' },
    sent: 'no',
  },
  {
    name: 'refused by a person',
    options: { policies: {}, session: { approver: async () => ({ action: 'decline', reason: 'not today' }) } },
    want: { outcome: 'refused', code: 'CALL_DECLINED', by: 'person', reason: 'not today' },
    sent: 'no',
  },
  {
    name: 'no approver',
    options: { policies: {}, session: { approver: null } },
    want: { outcome: 'no_approver', code: 'CALL_NO_APPROVER' },
    sent: 'no',
  },
  {
    name: 'cancelled before',
    call: (t) => t.callTool(REQUEST, { signal: AbortSignal.abort() }),
    want: { outcome: 'cancelled', code: 'CALL_CANCELLED', by: 'host' },
    sent: 'no',
  },
  {
    name: 'cancelled while it runs',
    tool: { run: () => never() },
    call: (t) => {
      const c = new AbortController()
      const call = t.callTool(REQUEST, { signal: c.signal })
      setTimeout(() => c.abort(), 80)
      return call
    },
    want: { outcome: 'cancelled', code: 'CALL_CANCELLED', by: 'host' },
    sent: 'yes',
  },
  {
    name: 'timed out',
    tool: { run: () => never() },
    call: async (t) => (await t.session.listTools(), t.callTool(REQUEST, { timeoutMs: 500 })),
    want: { outcome: 'timed_out', code: 'CALL_TIMED_OUT', phase: 'dispatch', limitMs: 500 },
    sent: 'yes',
  },
  {
    name: 'timed out without progress',
    tool: { run: () => never() },
    call: async (t) => (await t.session.listTools(), t.callTool(REQUEST, { idleTimeoutMs: 500 })),
    want: { outcome: 'timed_out', code: 'CALL_TIMED_OUT', phase: 'dispatch', limitMs: 500 },
    sent: 'unknown',
  },
  {
    name: 'ownership violation',
    options: { hooks: [plugin(({ hooks }) => hooks.resolve.tap('t', () => ({ server: 'x' })))] },
    want: { outcome: 'ownership_violation', code: 'HOOK_CHANGED_OWNER', hook: 'resolve', tap: 't', plugin: 'p', key: 'server' },
    sent: 'no',
  },
  {
    name: 'authority changed',
    options: {
      hooks: [
        plugin(({ hooks }) =>
          hooks.approve.tap('t', (call: { authority: object }) => {
            void call
            current!.environments.get('local')!.update({ permissions: 'external' })
          }),
        ),
      ],
    },
    want: { outcome: 'authority_changed', code: 'CALL_AUTHORITY_CHANGED', what: 'permissions' },
    sent: 'no',
  },
  {
    name: 'server failed',
    options: { threadWide: { s: scriptedServer({ tools: { run: { run: () => ({ content: 'x' }) as never } } }) } },
    want: { outcome: 'server_failed', code: 'SERVER_FAILED', rawResult: { content: 'x' } },
    sent: 'yes',
  },
  {
    name: 'server crashed',
    call: (t) => {
      const call = t.callTool(REQUEST)
      setTimeout(() => crashing.crash(), 100)
      return call
    },
    want: { outcome: 'server_failed', code: 'SERVER_EXITED' },
    sent: 'unknown',
  },
  {
    name: 'result withheld',
    options: { hooks: [failing('dispatch')] },
    want: { outcome: 'result_withheld', code: 'HOOK_FAILED', hook: 'dispatch', tap: 't' },
    sent: 'yes',
  },
  {
    name: 'result withheld for its form',
    options: { hooks: [plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async (_call: unknown, next: Next) => (await next(), null)))] },
    want: { outcome: 'result_withheld', code: 'HOOK_BAD_RETURN' },
    sent: 'yes',
  },
  {
    name: 'result withheld for an attempt on the owner',
    options: {
      hooks: [
        plugin(({ hooks }) =>
          hooks.dispatch.tapPromise('t', async (call: { owner: unknown }, next: Next) => {
            const r = await next()
            try {
              call.owner = 1
            } catch {}
            return r
          }),
        ),
      ],
    },
    want: { outcome: 'result_withheld', code: 'HOOK_CHANGED_OWNER' },
    sent: 'yes',
  },
  {
    name: 'invalid request: unknown server',
    request: { server: 'nope', tool: 'run' },
    want: { outcome: 'invalid_request', code: 'UNKNOWN_SERVER', owner: null, tool: null },
    sent: 'no',
  },
  {
    name: 'invalid request: unknown tool',
    request: { server: 's', tool: 'nope' },
    want: { outcome: 'invalid_request', code: 'UNKNOWN_TOOL', owner: { name: 's' }, tool: 'nope' },
    sent: 'no',
  },
  {
    name: 'invalid request: unknown name',
    request: { name: 'nope' },
    want: { outcome: 'invalid_request', code: 'UNKNOWN_TOOL', owner: null },
    sent: 'no',
  },
  {
    name: 'invalid request: nothing',
    request: {} as never,
    want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST' },
    sent: 'no',
  },
  { name: 'invalid request: null', request: null as never, want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST' }, sent: 'no' },
  {
    name: 'invalid request: unreadable',
    request: new Proxy(
      {},
      {
        get() {
          throw new Error('boom')
        },
      },
    ) as never,
    want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST' },
    sent: 'no',
  },
  {
    name: 'invalid request: owner look-alike',
    request: { owner: { name: 's', environmentId: null, installationId: null } as never, tool: 'run' },
    want: { outcome: 'invalid_request', code: 'UNKNOWN_SERVER' },
    sent: 'no',
  },
  {
    name: 'completed: without options, whatever Object.prototype has',
    call: async (t) => {
      await t.session.listTools()
      const { prototype } = Object
      try {
        Object.defineProperty(prototype, 'callId', { value: 7, writable: true, configurable: true })
        return await t.session.callTool(REQUEST)
      } finally {
        Reflect.deleteProperty(prototype, 'callId')
      }
    },
    want: { outcome: 'completed', callId: expect.any(String) },
    sent: 'yes',
  },
  {
    name: 'invalid request: unreadable options',
    call: (t) => t.callTool(REQUEST, Object.defineProperty({}, 'timeoutMs', { get: () => [][0]!['x'] }) as never),
    want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST', message: 'the options of the call cannot be read' },
    sent: 'no',
  },
  {
    name: 'invalid request: options',
    call: (t) => t.callTool(REQUEST, null as never),
    want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST' },
    sent: 'no',
  },
  {
    name: 'invalid request: signal',
    call: (t) => t.callTool(REQUEST, { signal: {} as never }),
    want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST' },
    sent: 'no',
  },
  ...[0, -1, Number.NaN, Infinity, 2 ** 31, '5'].map(
    (timeoutMs): Ending => ({
      name: `invalid request: limit ${timeoutMs}`,
      call: (t) => t.callTool(REQUEST, { timeoutMs: timeoutMs as number }),
      want: { outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST' },
      sent: 'no',
    }),
  ),
]
let current: TestRuntime | undefined
const crashing = scriptedServer({ tools: { run: { run: () => never() } } })

test.each(ENDINGS)('$name', async ({ name, options = {}, tool = {}, request = REQUEST, call, want, sent }) => {
  const observed: Settled[] = []
  const observer = plugin(({ hooks }) => hooks.settled.tap('o', (event: Settled) => void observed.push(event)), 'observer')
  const threadWide = name === 'server crashed' ? { s: crashing } : { s: { tools: { run: tool } } }
  await using t = await open([], { threadWide, ...options, hooks: [...(options.hooks ?? []), observer] })
  current = t
  const events: SessionEvent[] = []
  t.session.subscribe((event) => event.type === 'settled' && events.push(event))
  const outcome = await (call ? call(t) : t.callTool(request))
  await sleep(5)
  expect(outcome).toMatchObject({ ...want, sent, callId: expect.any(String), durationMs: expect.any(Number) })
  expect(Object.isFrozen(outcome)).toBe(true)
  if (outcome.outcome !== 'completed') {
    expect(outcome.message).toMatch(/./)
    expect(outcome.message).not.toContain('\n')
    expect(outcome.remedy).toMatch(/./)
    expect(outcome.forModel.isError).toBe(true)
  }
  const { text, content } = outcome.forModel
  expect(text).not.toMatch(/4711|\bat .*:\d+:\d+|TypeError/)
  if (outcome.outcome !== 'completed') expect(content).toEqual([{ type: 'text', text }])
  // exactly one event and one call of the observer, and both have this outcome
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({ type: 'settled', callId: outcome.callId, owner: outcome.owner })
  expect((events[0] as { outcome: unknown }).outcome).toBe(outcome)
  expect(observed).toHaveLength(1)
  expect(observed[0]!.outcome).toBe(outcome)
  expect(observed[0]!.owner).toBe(outcome.owner)
  expect(observed[0]!.call === null).toBe(
    outcome.owner === null || ['UNKNOWN_TOOL', 'CALL_TOOL_DISABLED', 'SERVER_DISABLED'].includes(outcome.code),
  )
  if (sent === 'no') expect(toolCalls(t)).toEqual([])
})

test('all ten ends are here', () => {
  expect(new Set(ENDINGS.map(({ want }) => (want as { outcome: string }).outcome)).size).toBe(10)
})

test('every unknown field of a result arrives, isError is kept apart', async () => {
  const result = {
    content: [
      { type: 'hologram', data: { x: [1, null] }, _meta: { a: 1 } },
      { type: 'text', text: 'T', extra: 1 },
    ],
    structuredContent: { y: 1 },
    isError: true,
    _meta: { b: 2 },
    'vendor/extra': [1],
  }
  const pass = plugin(({ hooks }) => hooks.dispatch.tapPromise('t', (_call: unknown, next: Next) => next()))
  const change = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('t', async (_call: unknown, next: Next) => ({ ...(await next()), added: true })),
  )
  for (const [hooks, more] of [
    [[], {}],
    [[pass], {}],
    [[change], { added: true }],
  ] as const) {
    await using t = await open([...hooks], {}, { run: { run: () => result } })
    const outcome = await t.callTool(REQUEST)
    expect(outcome).toMatchObject({ outcome: 'completed', code: 'OK' })
    expect((outcome as { result: unknown }).result).toEqual({ ...result, ...more })
    expect(outcome.forModel).toMatchObject({ isError: true, text: '[hologram]\nT', content: result.content })
  }
})

test('a result without content is an empty one, and a tap sees it so', async () => {
  await using t = await open([], {}, { run: { run: () => ({ structuredContent: { a: 1 } }) as never } })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', result: { content: [], structuredContent: { a: 1 } } })
})

test('a result nested deeper than a stack goes ends the call like any other, also before observers', async () => {
  const deep = `${'{"d":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  let observed = 0
  const { memoryExecutor } = await import('../../src/connections/executors/memory.ts')
  const { assembleRuntime } = await import('../../src/runtime/open-runtime.ts')
  const executor = memoryExecutor({
    x: oneToolServer((send, { id }) => send(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}`)),
  })
  await using runtime = await assembleRuntime(
    {
      mcpServers: { x: { command: 'x', defaultToolsApprovalMode: 'approve' } },
      hooks: [plugin(({ hooks }) => hooks.settled.tap('o', () => void observed++))],
    },
    new Map([['local', executor]]),
  )
  const session = await runtime.openSession()
  expect(await session.callTool({ server: 'x', tool: 'run' })).toMatchObject({ outcome: 'completed' })
  expect(observed).toBe(1)
})

test('an error of next() that is rethrown keeps its outcome; anything else thrown is the failure of the tap', async () => {
  const broken = { run: { run: () => ({ content: 'x' }) as never } }
  const rethrow = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('t', async (_call: unknown, next: Next) => {
      try {
        return await next()
      } catch (error) {
        expect(error).toBeInstanceOf(TaplineError)
        throw error
      }
    }),
  )
  await using t = await open(
    [rethrow, plugin(({ hooks }) => hooks.dispatch.tapPromise('t', (_call: unknown, next: Next) => next()), 'outer')],
    {},
    broken,
  )
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'server_failed', code: 'SERVER_FAILED' })
  const wrap = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise('t', async (_call: unknown, next: Next) =>
      next().catch((cause: unknown) => {
        throw new Error('wrapped', { cause })
      }),
    ),
  )
  await using u = await open([wrap], {}, broken)
  expect(await u.callTool(REQUEST)).toMatchObject({ outcome: 'result_withheld', code: 'HOOK_FAILED', sent: 'yes' })
})

test('a retry after a crash starts the server again and completes', async () => {
  let tries = 0
  const server = scriptedServer({ tools: { run: { run: () => (++tries === 1 ? (server.crash(), never()) : `try ${tries}`) } } })
  const again = async (_call: unknown, next: Next): Promise<unknown> => {
    try {
      return await next()
    } catch {
      return next()
    }
  }
  const retry = plugin(({ hooks }) => hooks.dispatch.tapPromise('retry', again))
  await using t = await open([retry], { threadWide: { s: server } })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', sent: 'yes', result: { content: [{ text: 'try 2' }] } })
  expect(t.sent.filter(({ method }) => method === 'initialize')).toHaveLength(2)
})

test('a violation that an outer layer swallows ends the call all the same, and sends nothing', async () => {
  const p = plugin(({ hooks }) => {
    hooks.dispatch.tapPromise('outer', async (_call: unknown, next: Next) =>
      next().catch(() => ({ content: [{ type: 'text', text: 'fine' }] })),
    )
    hooks.dispatch.tapPromise({ name: 'inner', onFailure: 'continue' }, async (_call: unknown, next: (...args: unknown[]) => unknown) =>
      next({ server: 'x' }),
    )
  })
  await using t = await open([p])
  expect(await t.callTool(REQUEST)).toMatchObject({
    outcome: 'ownership_violation',
    tap: 'inner',
    key: 'server',
    hook: 'dispatch',
    sent: 'no',
  })
  expect(toolCalls(t)).toEqual([])
})

test('observers cannot fail, delay or change a call, and what they throw is a diagnostic', async () => {
  const p = plugin(({ hooks }) => {
    hooks.settled.tap('throws', () => {
      throw new Error('observer failed')
    })
    hooks.settled.tapPromise('rejects', async () => {
      throw new Error('observer rejected')
    })
    hooks.settled.tap('throws what cannot be shown', () => {
      throw Object.create(null)
    })
    hooks.settled.tapPromise('rejects with what cannot be looked at', async () => {
      // oxlint-disable-next-line typescript/only-throw-error -- plugins do
      throw new Proxy(
        {},
        {
          getPrototypeOf() {
            throw new Error('boom')
          },
        },
      )
    })
    hooks.settled.tapPromise('hangs', () => never())
    hooks.settled.tap('writes', (event: { outcome: { result: { content: unknown[] } }; owner: unknown }) => {
      expect(() => event.outcome.result.content.push('x')).toThrow(TypeError)
      expect(Reflect.set(event, 'owner', 1)).toBe(false)
    })
  })
  await using t = await open([p])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', result: { content: [{ text: '{"a":1}' }] } })
  await sleep(5)
  expect(t.session.diagnostics.map(({ code, message }) => [code, message])).toEqual([
    ['observer_failed', 'observer "throws" of plugin "p" failed: observer failed'],
    ['observer_failed', 'observer "throws what cannot be shown" of plugin "p" failed: a value that cannot be shown'],
    ['observer_failed', 'observer "rejects" of plugin "p" failed: observer rejected'],
    ['observer_failed', 'observer "rejects with what cannot be looked at" of plugin "p" failed: a value that cannot be shown'],
  ])
})

test('2,000 calls at once: each has its own owner, arguments, trace, outcome and one end', async () => {
  const ended = new Map<string, number>()
  const seen = new Map<string, Set<unknown>>()
  const pause = (): Promise<void> => (Math.random() < 0.5 ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve)))
  const note = async (call: { id: string; owner: ServerKey; arguments: { n: number } }): Promise<void> => {
    const before = `${call.owner.toString()} ${call.arguments.n}`
    await pause()
    const values = seen.get(call.id) ?? new Set()
    seen.set(call.id, values.add(before).add(`${call.owner.toString()} ${call.arguments.n}`))
  }
  const p = plugin(({ hooks }) => {
    hooks.resolve.tapPromise(
      'r',
      async (call: never) => (await note(call), { arguments: { ...(call as { arguments: object }).arguments, r: true } }),
    )
    hooks.approve.tapPromise('a', note)
    hooks.attachMetadata.tapPromise(
      'm',
      async (call: never) => (await note(call), { 'example.com/n': (call as { arguments: { n: number } }).arguments.n }),
    )
    hooks.dispatch.tapPromise('d', async (call: never, next: Next) => (await note(call), next()))
    hooks.settled.tap('s', (event: Settled) => void ended.set(event.outcome.callId, (ended.get(event.outcome.callId) ?? 0) + 1))
  })
  const servers = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`s${n}`, { tools: { run: {} } }]))
  await using t = await openTestRuntime({
    threadWide: servers,
    hooks: [p],
    policies: Object.fromEntries(Object.keys(servers).map((name) => [name, { defaultToolsApprovalMode: 'approve' as const }])),
  })
  const outcomes = await Promise.all(
    Array.from({ length: 2000 }, (_, n) =>
      t.callTool({ server: `s${n % 5}`, tool: 'run', arguments: { n } }, { callId: `call ${n}`, trace: true }),
    ),
  )
  for (const [n, outcome] of outcomes.entries()) {
    expect(outcome).toMatchObject({
      outcome: 'completed',
      callId: `call ${n}`,
      owner: { name: `s${n % 5}` },
      result: { content: [{ text: JSON.stringify({ n, r: true }) }] },
    })
    expect(outcome.trace!.taps.map(({ tap, decision }) => `${tap} ${decision}`)).toEqual([
      'r rewrite',
      'a none',
      'm patch',
      'd called_next',
    ])
    expect(outcome.trace!.candidates).toEqual([outcome.owner])
    expect(ended.get(`call ${n}`)).toBe(1)
  }
  expect(seen.size).toBe(2000)
  expect([...seen.values()].every((values) => values.size === 1)).toBe(true)
  for (const { owner, params } of toolCalls(t)) {
    const { n } = params['arguments'] as { n: number }
    expect([owner.name, params._meta!['example.com/n']]).toEqual([`s${n % 5}`, n])
  }
  expect(toolCalls(t)).toHaveLength(2000)
}, 60_000)

test('the trace says who decided what', async () => {
  const p = plugin(({ hooks }) => {
    hooks.resolve.tap('rewrites', () => ({ arguments: { b: 2 } }))
    hooks.approve.tap('asks', () => ask('sure?'))
    hooks.attachMetadata.tap('patches', () => ({ 'example.com/a': 1 }))
    hooks.dispatch.tapPromise('wraps', (_call: unknown, next: Next) => next())
  })
  await using t = await open([p])
  const { trace } = await t.callTool(REQUEST, { trace: true, meta: { 'codex/x': 1 } })
  expect(trace).toMatchObject({
    approval: { source: 'person', waitedMs: expect.any(Number) },
    connection: { id: expect.any(String) },
    metaKeys: [
      { key: 'codex/x', by: 'dropped' },
      { key: 'example.com/a', by: 'p' },
    ],
    timingsMs: { server: expect.any(Number) },
  })
  expect(
    trace!.taps.map(({ hook, tap, plugin: by, decision, changedArguments, inEffect, mode }) => [
      hook,
      tap,
      by,
      decision,
      changedArguments,
      inEffect,
      mode,
    ]),
  ).toEqual([
    ['resolve', 'rewrites', 'p', 'rewrite', true, true, 'enforce'],
    ['approve', 'asks', 'p', 'ask', false, true, 'enforce'],
    ['attachMetadata', 'patches', 'p', 'patch', false, true, 'enforce'],
    ['dispatch', 'wraps', 'p', 'called_next', false, true, 'enforce'],
  ])
  expect((await t.callTool(REQUEST)).trace).toBeUndefined()
})

test('explain runs everything up to dispatch: nothing is asked, sent or told to observers', async () => {
  let dispatched = 0
  let observed = 0
  const p = plugin(({ hooks }) => {
    hooks.resolve.tap('r', () => ({ arguments: { b: 2 } }))
    hooks.dispatch.tapPromise('d', (_call: unknown, next: Next) => (dispatched++, next()))
    hooks.settled.tap('s', () => void observed++)
  })
  await using t = await open([p], { policies: {} })
  expect(await t.session.explain(REQUEST)).toMatchObject({
    owner: { name: 's' },
    tool: 'run',
    wouldEnd: 'asked',
    outcome: null,
    wouldSend: { method: 'tools/call', params: { name: 'run', arguments: { b: 2 } } },
  })
  await using u = await open([p])
  expect(await u.session.explain(REQUEST)).toMatchObject({
    wouldEnd: 'sent',
    outcome: null,
    wouldSend: { params: { arguments: { b: 2 } } },
    trace: { approval: { source: 'mode' } },
  })
  await using v = await open([plugin(({ hooks }) => hooks.approve.tap('t', () => deny('no')))])
  expect(await v.session.explain(REQUEST)).toMatchObject({
    wouldEnd: 'refused',
    outcome: { outcome: 'refused', reason: 'no' },
    wouldSend: null,
  })
  for (const request of [null, {}, { server: 'nope', tool: 'x' }, { server: 's', tool: 'run', arguments: 7 }]) {
    expect(await u.session.explain(request as never)).toMatchObject({ wouldEnd: 'invalid_request', wouldSend: null })
  }
  expect([dispatched, observed, t.asked.length, toolCalls(t).length, toolCalls(u).length]).toEqual([0, 0, 0, 0, 0])
})

test('the connection of another server never gets the call', async () => {
  await using t = await openTestRuntime({
    threadWide: { s: { tools: { run: {} } }, other: { tools: { run: {} } } },
    policies: { s: { defaultToolsApprovalMode: 'approve' } },
  })
  await t.session.listTools()
  const session = t.session as unknown as {
    connection(entry: unknown): unknown
    resolver: { view: { servers: readonly { key: { name: string } }[] } }
  }
  const original = session.connection.bind(session)
  const other = session.resolver.view.servers.find(({ key }) => key.name === 'other')
  session.connection = () => original(other)
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'server_failed', code: 'INTERNAL', owner: { name: 's' }, sent: 'no' })
  expect(toolCalls(t)).toEqual([])
})

test('a fault of our own is an end like any other', async () => {
  await using t = await open()
  await t.session.listTools()
  ;(t.session as unknown as { environment: () => never }).environment = () => {
    throw Object.create(null)
  }
  const outcome = await t.callTool(REQUEST)
  expect(outcome).toMatchObject({ outcome: 'server_failed', code: 'INTERNAL', sent: 'no' })
  expect(outcome.forModel.text).not.toMatch(/\bat /)
})
