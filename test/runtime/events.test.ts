import { expect, test } from 'vitest'
import type { SessionEvent } from '../../src/runtime/types.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import { oneToolServer } from '../one-tool-server.ts'
import { open, plugin, REQUEST, sleep } from '../pipeline/kit.ts'

test('a session tells of servers, tools, questions and ends, in the order in which they happen', async () => {
  await using t = await openTestRuntime({ threadWide: { s: { tools: { run: {} } } } })
  const events: SessionEvent[] = []
  t.session.subscribe((event) => events.push(event))
  await t.callTool(REQUEST, { callId: 'c1' })
  const types = events.map((event) =>
    event.type === 'question' ? `question ${event.state}` : event.type === 'server_changed' ? `server ${event.runtimeStatus}` : event.type,
  )
  expect(types[0]).toBe('server starting')
  expect(types).toContain('tools_changed')
  expect(types).toContain('server connected')
  expect(types.slice(-3)).toEqual(['question asked', 'question answered', 'settled'])
  expect(events.filter((event) => 'callId' in event)).toMatchObject([{ callId: 'c1' }, { callId: 'c1' }, { callId: 'c1' }])
})

test('the whole trace of a call that has one is told after its end, once', async () => {
  await using t = await open([plugin(({ hooks }) => hooks.approve.tap('looks', () => {}))])
  const events: SessionEvent[] = []
  t.session.subscribe((event) => events.push(event))
  await t.callTool(REQUEST, { callId: 'without' })
  const outcome = await t.callTool(REQUEST, { callId: 'with', trace: true })
  const ends = events.filter(({ type }) => type === 'settled' || type === 'traced')
  expect(ends.map((event) => [event.type, 'callId' in event && event.callId])).toEqual([
    ['settled', 'without'],
    ['settled', 'with'],
    ['traced', 'with'],
  ])
  expect(ends[2]).toMatchObject({ outcome, owner: outcome.owner, trace: { taps: [{ tap: 'looks', mode: 'enforce' }], shadow: [] } })
})

test('a listener that throws is a diagnostic, told once; the others are told all the same', async () => {
  await using t = await open()
  const seen: string[] = []
  t.session.subscribe(() => {
    throw new Error('listener 1')
  })
  const second = t.session.subscribe(({ type }) => seen.push(type))
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(seen.filter((type) => type === 'settled')).toHaveLength(2)
  expect(t.session.diagnostics.map(({ code }) => code)).toEqual(['listener_failed'])
  second[Symbol.dispose]()
  second[Symbol.dispose]()
  await t.callTool(REQUEST)
  expect(seen.filter((type) => type === 'settled')).toHaveLength(2)
})

test('events are those of the session', async () => {
  await using t = await open()
  const other = await t.openSession()
  const seen: string[] = []
  other.subscribe(({ type }) => seen.push(type))
  await t.callTool(REQUEST)
  expect(seen).not.toContain('settled')
})

test('a crash is told, and the next call starts the server again', async () => {
  const server = scriptedServer({ tools: { run: {} } })
  await using t = await open([], { threadWide: { s: server } })
  await t.session.listTools()
  const states: string[] = []
  t.session.subscribe((event) => event.type === 'server_changed' && states.push(event.runtimeStatus))
  server.crash()
  for (let turn = 0; turn < 100 && !states.includes('failed'); turn++) await sleep(10)
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(states[0]).toBe('failed')
  expect(states.at(-1)).toBe('connected')
})

test('diagnostics, logs and outcomes carry no value of a secret variable', async () => {
  const SECRET = 'sk-not-for-anybody-4711'
  process.env['TAPLINE_TEST_TOKEN'] = SECRET
  try {
    const lines: string[] = []
    const logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((level) => [level, (_data: object, line: string) => void lines.push(line)]),
    ) as never
    const p = plugin(({ hooks }) => {
      hooks.approve.tap({ name: 'leaks', onFailure: 'continue' }, (_call: unknown, context: { log(line: string): void }) => {
        context.log(`token ${SECRET}`)
        throw new Error(`failed with ${SECRET}`)
      })
      hooks.settled.tap('leaks', () => {
        throw new Error(`observer with ${SECRET}`)
      })
    })
    const { memoryExecutor } = await import('../../src/connections/executors/memory.ts')
    const { assembleRuntime } = await import('../../src/runtime/open-runtime.ts')
    const executor = memoryExecutor({
      x: async ({ log }) => log(`cannot log in with ${SECRET}\n`),
      ok: oneToolServer((send, { id }) =>
        send({ jsonrpc: '2.0', id, error: { code: -32000, message: `the token ${SECRET} has expired` } }),
      ),
    })
    await using runtime = await assembleRuntime(
      {
        mcpServers: {
          s: { command: 'x', env: { TOKEN: '${TAPLINE_TEST_TOKEN}' } },
          ok: { command: 'ok', defaultToolsApprovalMode: 'approve' },
        },
        hooks: [p],
        logger,
      },
      new Map([['local', executor]]),
    )
    const session = await runtime.openSession()
    const events: SessionEvent[] = []
    session.subscribe((event) => events.push(event))
    const outcomes = [
      await session.callTool(REQUEST, { trace: true }),
      await session.callTool({ server: 'ok', tool: 'run' }, { trace: true }),
    ]
    expect(outcomes).toMatchObject([
      { outcome: 'server_failed', code: 'SERVER_START_FAILED' },
      { outcome: 'server_failed', code: 'SERVER_FAILED' },
    ])
    expect(lines.length).toBeGreaterThan(0)
    const all = JSON.stringify([
      outcomes,
      outcomes.map(({ forModel }) => forModel),
      lines,
      session.diagnostics,
      runtime.diagnostics,
      await session.status(),
      (await session.listTools()).errors.map(({ error }) => error.message),
      events,
    ])
    expect(all).not.toContain(SECRET)
  } finally {
    delete process.env['TAPLINE_TEST_TOKEN']
  }
})

test('a write after the end of a tap is a diagnostic, and changes nothing', async () => {
  let view: Record<string, unknown> | undefined
  await using t = await open([plugin(({ hooks }) => hooks.approve.tap('t', (call: typeof view) => void (view = call)))])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  view!['owner'] = 'x'
  expect(String(view!['owner'])).toBe('s')
  expect(t.session.diagnostics).toMatchObject([{ code: 'late_write', message: expect.stringMatching(/"t".*"p".*owner/) }])
})
