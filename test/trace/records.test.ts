/** Records of calls: what they hold, for whom, and what they never hold. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HookPlugin, TraceOptions, TraceRecord } from '../../src/index.ts'
import { openSession } from '../../src/index.ts'
import { allow, ask, deny } from '../../src/plugin.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../src/testing/index.ts'
import { callsIn, Folder, misfit, recordsIn } from './kit.ts'

const TOOLS = {
  echo: {},
  fails: {
    run: () => {
      throw new Error('broken')
    },
  },
}

interface Traced extends AsyncDisposable {
  readonly runtime: TestRuntime
  readonly records: TraceRecord[]
}

async function traced(options: TestRuntimeOptions = {}, trace: TraceOptions = {}): Promise<Traced> {
  const records: TraceRecord[] = []
  const runtime = await openTestRuntime({
    environments: { vm: { db: { tools: TOOLS } } },
    policies: { db: { defaultToolsApprovalMode: 'approve' } },
    features: { multi_environment_mcp: true },
    trace: { sink: (record) => void records.push(record), ...trace },
    ...options,
  })
  return { runtime, records, [Symbol.asyncDispose]: () => runtime.close() }
}

const DB = { server: 'db', environmentId: 'vm' } as const

test('a session stands in front of its calls once, with flags, plugins and environments; a session without calls leaves nothing, nor does an explanation', async () => {
  const guard: HookPlugin = { name: 'guard', apply: () => {} }
  await using t = await traced({ hooks: [guard], session: { id: 's-1' } })
  await using _silent = await t.runtime.openSession({ id: 's-2' })
  for (const tool of ['echo', 'fails', 'nope']) await t.runtime.callTool({ ...DB, tool })
  await t.runtime.session.explain({ ...DB, tool: 'echo' })
  await t.runtime.close()
  expect(t.records.map(({ type }) => type)).toEqual(['session', 'call', 'call', 'call'])
  expect(t.records[0]).toMatchObject({
    v: 1,
    session: 's-1',
    pid: process.pid,
    environments: [{ id: 'vm', executor: 'local' }],
    plugins: [{ name: 'guard', mode: 'enforce' }],
    flags: [{ flagKey: 'multi_environment_mcp', value: true, source: 'configuration' }],
  })
  expect(callsIn(t.records)).toMatchObject([
    {
      session: 's-1',
      id: 's-1.1',
      owner: { name: 'db', environmentId: 'vm' },
      tool: 'echo',
      outcome: 'completed',
      code: 'OK',
      sent: 'yes',
    },
    { id: 's-1.2', outcome: 'completed', isError: true },
    { id: 's-1.3', outcome: 'invalid_request', code: 'UNKNOWN_TOOL', sent: 'no', message: expect.stringContaining('nope') },
  ])
  expect(JSON.stringify(t.records)).not.toContain('broken')
  expect(t.records.map(misfit)).toEqual(t.records.map(() => null))
})

test('arguments are a digest: of what was sent, the same in one session, another in the next, and never of what came later', async () => {
  const trim: HookPlugin = {
    name: 'trim',
    apply: ({ hooks }) =>
      hooks.resolve.tap('trim', ({ arguments: args }) => (args['text'] === ' a ' ? { arguments: { text: 'a' } } : undefined)),
  }
  await using t = await traced({ hooks: [trim] })
  const own = { text: 'a' }
  const first = t.runtime.callTool({ ...DB, tool: 'echo', arguments: own })
  own.text = 'swapped'
  await first
  own.text = 'a'
  const second = await t.runtime.callTool({ ...DB, tool: 'echo', arguments: own })
  own.text = 'swapped after it'
  await t.runtime.callTool({ ...DB, tool: 'echo', arguments: { text: ' a ' } })
  await t.runtime.callTool({ ...DB, tool: 'echo', arguments: { text: 'b' } })
  await using other = await t.runtime.openSession()
  await other.callTool({ ...DB, tool: 'echo', arguments: { text: 'a' } })
  await t.runtime.close()
  expect(second.outcome).toBe('completed')
  const digests = callsIn(t.records).map((call) => call.arguments?.digest)
  expect(digests).toHaveLength(5)
  expect(new Set(digests.slice(0, 3)).size).toBe(1)
  expect(new Set(digests).size).toBe(3)
  expect(callsIn(t.records)[0]?.arguments).toEqual({ bytes: 12, digest: digests[0] })
})

test('without a tap the object of the host is what is sent and what is recorded, whatever becomes of it afterwards', async () => {
  await using t = await traced({}, { arguments: true })
  await t.runtime.session.listTools()
  const own = { text: 'sent' }
  const pending = t.runtime.callTool({ ...DB, tool: 'echo', arguments: own })
  own.text = 'swapped'
  await pending
  await t.runtime.close()
  expect(t.runtime.sent.at(-1)?.params['arguments']).toEqual({ text: 'sent' })
  expect(callsIn(t.records)[0]?.arguments?.value).toEqual({ text: 'sent' })
})

test('arguments are written down where that is asked for, and large ones are not', async () => {
  await using t = await traced({}, { arguments: true })
  await t.runtime.callTool({ ...DB, tool: 'echo', arguments: { text: 'seen' } })
  await t.runtime.callTool({ ...DB, tool: 'echo', arguments: { text: 'x'.repeat(70_000) } })
  const circle: Record<string, unknown> = {}
  circle['again'] = circle
  await t.runtime.callTool({ ...DB, tool: 'echo', arguments: circle })
  await t.runtime.close()
  expect(callsIn(t.records).map((call) => call.arguments)).toEqual([
    { bytes: 15, digest: expect.any(String), value: { text: 'seen' } },
    { bytes: 70_011, digest: expect.any(String) },
    null,
  ])
})

test('a record comes after the outcome, and a sink that throws or rejects is one diagnostic', async () => {
  const order: string[] = []
  await using t = await traced({}, { sink: () => void order.push('record') })
  await t.runtime.callTool({ ...DB, tool: 'echo' })
  order.push('outcome')
  await t.runtime.close()
  expect(order).toEqual(['outcome', 'record', 'record'])

  const throws = (): never => {
    throw new Error('full')
  }
  for (const sink of [throws, (() => Promise.reject(new Error('full'))) as () => void]) {
    await using broken = await traced({}, { sink })
    for (let i = 0; i < 3; i++) expect((await broken.runtime.callTool({ ...DB, tool: 'echo' })).outcome).toBe('completed')
    await broken.runtime.close()
    expect(broken.runtime.diagnostics.filter(({ code }) => code === 'trace_sink_failed')).toMatchObject([
      { message: 'the sink of traces failed: full' },
    ])
  }
})

test('what a session says takes the place of what its runtime says; true only fills outcomes', async () => {
  using folder = new Folder()
  await using t = await traced({}, { file: folder.file('runtime.jsonl') })
  const call = { ...DB, tool: 'echo' } as const
  expect((await t.runtime.callTool(call)).trace).toBeUndefined()
  const own: TraceRecord[] = []
  const session = await t.runtime.openSession({ trace: { sink: (record) => void own.push(record) } })
  await session.callTool(call)
  const full = await t.runtime.openSession({ trace: true })
  expect((await full.callTool(call)).trace?.timingsMs).toBeDefined()
  await session.close()
  expect(own).toHaveLength(2)
  await full.close()
  // closed sessions are written
  expect(callsIn(recordsIn(folder.file('runtime.jsonl')))).toHaveLength(2)
  expect(t.records.filter(({ type }) => type === 'call')).toHaveLength(2)
})

test('an option that is none is refused', async () => {
  for (const trace of [
    't.jsonl',
    { file: 7 },
    { file: '' },
    { sink: 'x' },
    { file: 'x', arguments: 1 },
    { arguments: true },
    {},
    { file: 't', path: 'x' },
    null,
  ]) {
    const error: unknown = await openSession({ trace: trace as never }).catch((one: unknown) => one)
    expect(error, JSON.stringify(trace)).toMatchObject({ code: 'CALL_INVALID_REQUEST', message: expect.stringContaining('trace') })
  }
})

const RETURNS = {
  none: () => undefined,
  deny: () => deny('no'),
  allow: () => allow('yes'),
  ask: () => ask('sure?'),
  throws: () => {
    throw new Error('oops')
  },
  null: () => null,
} as const

test('whatever plugins, people and servers do, every call is one record that fits the schema', { timeout: 60_000 }, async () => {
  const kind = fc.constantFrom(...(Object.keys(RETURNS) as (keyof typeof RETURNS)[]))
  const step = fc.record({
    resolve: kind,
    approve: kind,
    meta: kind,
    dispatch: fc.constantFrom('next', 'twice', 'answer', 'before', 'after'),
  })
  const call = fc.record({
    tool: fc.constantFrom('echo', 'fails', 'nope', '\u2028"\n'),
    text: fc.string({ unit: 'binary' }),
    id: fc.option(fc.string({ minLength: 1 })),
  })
  const answer = fc.constantFrom('accept', 'decline', 'cancel')
  await fc.assert(
    fc.asyncProperty(step, answer, fc.array(call, { minLength: 1, maxLength: 4 }), async (does, action, calls) => {
      const plugin: HookPlugin = {
        name: 'any',
        apply: ({ hooks }) => {
          hooks.resolve.tap('r', RETURNS[does.resolve] as () => undefined)
          hooks.approve.tapPromise('a', (async () => RETURNS[does.approve]()) as never)
          hooks.attachMetadata.tap('m', RETURNS[does.meta] as () => undefined)
          hooks.dispatch.tapPromise('d', async (_call, next) => {
            if (does.dispatch === 'before') throw new Error('before')
            if (does.dispatch === 'answer') return { content: [] }
            const result = await next()
            if (does.dispatch === 'after') throw new Error('after')
            return does.dispatch === 'twice' ? next() : result
          })
        },
      }
      using folder = new Folder()
      await using t = await traced(
        { hooks: [plugin], session: { approver: async () => ({ action }) } },
        { file: folder.file(), arguments: true },
      )
      const ends = await Promise.all(
        calls.map(({ tool, text, id }) => t.runtime.callTool({ ...DB, tool, arguments: { text } }, id === null ? {} : { callId: id })),
      )
      await t.runtime.close()
      const facts = (all: readonly { callId: string; outcome: string; code: string; sent: string }[]): string[] =>
        all.map((one) => JSON.stringify([one.callId, one.outcome, one.code, one.sent])).sort()
      expect(facts(callsIn(t.records))).toEqual(facts(ends))
      expect(t.records.map(misfit)).toEqual(t.records.map(() => null))
      expect(recordsIn(folder.file())).toEqual(JSON.parse(JSON.stringify(t.records)))
    }),
    { numRuns: 60 },
  )
})
