// Each end of a call has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
import { expect, test } from 'vitest'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { MemoryServer } from '../../src/connections/executors/memory.ts'
import { assembleRuntime } from '../../src/runtime/open-runtime.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { oneToolServer } from '../one-tool-server.ts'
import { never, open, plugin, REQUEST, sleep, toolCalls } from './kit.ts'

const hanging: MemoryServer = ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
const PHASES = ['resolve', 'approve', 'attachMetadata', 'dispatch'] as const

async function warm(...args: Parameters<typeof open>): Promise<TestRuntime> {
  const t = await open(...args)
  await t.session.listTools()
  return t
}

test.each(PHASES)('the limit of the whole call ends it in %s, and says where it was', async (phase) => {
  let signal: AbortSignal | undefined
  const p = plugin(({ hooks }) =>
    hooks[phase].tapPromise({ name: 't', timeoutMs: 60_000 }, (...args: unknown[]) => {
      signal = (args.at(-1) as { signal: AbortSignal }).signal
      return never()
    }),
  )
  await using t = await warm([p])
  expect(await t.callTool(REQUEST, { timeoutMs: 500 })).toMatchObject({
    outcome: 'timed_out',
    code: 'CALL_TIMED_OUT',
    phase,
    limitMs: 500,
    sent: 'no',
  })
  expect(signal!.aborted).toBe(true)
  expect(toolCalls(t)).toEqual([])
})

test('the start of the server counts, for the limit of the caller and for that of the server', async () => {
  const definition = { command: 'x', defaultToolsApprovalMode: 'approve' as const }
  await using runtime = await assembleRuntime(
    {
      mcpServers: {
        caller: definition,
        own: { ...definition, toolTotalTimeoutSec: 0.3 },
        start: { ...definition, startupTimeoutSec: 0.06 },
      },
    },
    new Map([['local', memoryExecutor({ x: hanging })]]),
  )
  const session = await runtime.openSession()
  const call = (server: string, timeoutMs?: number) =>
    session.callTool({ server, tool: 'run' }, timeoutMs === undefined ? {} : { timeoutMs })
  expect(await call('caller', 300)).toMatchObject({
    outcome: 'timed_out',
    code: 'CALL_TIMED_OUT',
    phase: 'start',
    limitMs: 300,
    sent: 'no',
    owner: { name: 'caller' },
  })
  expect(await call('own')).toMatchObject({ outcome: 'timed_out', code: 'CALL_TIMED_OUT', phase: 'start', limitMs: 300, sent: 'no' })
  expect(await call('start')).toMatchObject({
    outcome: 'timed_out',
    code: 'SERVER_START_TIMED_OUT',
    phase: 'start',
    limitMs: 60,
    sent: 'no',
  })
})

test('the limit of the caller comes before that of the server', async () => {
  await using t = await warm(
    [],
    { policies: { s: { defaultToolsApprovalMode: 'approve', toolTotalTimeoutSec: 60 } } },
    { run: { run: () => never() } },
  )
  expect(await t.callTool(REQUEST, { timeoutMs: 500 })).toMatchObject({ outcome: 'timed_out', limitMs: 500, sent: 'yes' })
})

test('waiting for a person does not count against the limit of the call; what comes after does', async () => {
  await using t = await warm(
    [],
    { policies: {}, session: { approver: async () => (await sleep(1500), { action: 'accept' }) } },
    { run: {}, slow: { run: () => never() } },
  )
  expect(await t.callTool(REQUEST, { timeoutMs: 700 })).toMatchObject({ outcome: 'completed' })
  expect(await t.callTool({ server: 's', tool: 'slow' }, { timeoutMs: 700 })).toMatchObject({
    outcome: 'timed_out',
    phase: 'dispatch',
    limitMs: 700,
    sent: 'yes',
  })
})

test('waiting for a person does not count against the limit of a tap either: no tap waits', async () => {
  const p = plugin(({ hooks }) => hooks.approve.tapPromise({ name: 't', timeoutMs: 500 }, async () => {}))
  await using t = await warm([p], { policies: {}, session: { approver: async () => (await sleep(1000), { action: 'accept' }) } })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
})

test('progress resets the idle limit, not the one of the whole call', async () => {
  const executor = memoryExecutor({
    x: oneToolServer(async (send, { id, params }) => {
      for (let progress = 1; progress <= 6; progress++) {
        await sleep(250)
        send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: params._meta!.progressToken, progress, total: 6 },
        })
      }
      send({ jsonrpc: '2.0', id, result: { content: [] } })
    }),
  })
  await using runtime = await assembleRuntime(
    { mcpServers: { x: { command: 'x', defaultToolsApprovalMode: 'approve' } } },
    new Map([['local', executor]]),
  )
  const session = await runtime.openSession()
  await session.listTools()
  const seen: number[] = []
  const request = { server: 'x', tool: 'run' }
  expect(await session.callTool(request, { idleTimeoutMs: 1200, onProgress: ({ progress }) => seen.push(progress) })).toMatchObject({
    outcome: 'completed',
  })
  expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  expect(await session.callTool(request, { idleTimeoutMs: 9000, timeoutMs: 120 })).toMatchObject({ outcome: 'timed_out', limitMs: 120 })
  const failing = await session.callTool(request, {
    onProgress: () => {
      throw new Error('listener')
    },
  })
  expect(failing).toMatchObject({ outcome: 'completed' })
})

test.each([...PHASES, 'start', 'server'] as const)(
  'a call that is cancelled in %s ends at once, its taps and its server are told',
  async (phase) => {
    let arrive: () => void = () => {}
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    let signal: AbortSignal | undefined
    const hooks =
      phase === 'start' || phase === 'server'
        ? []
        : [
            plugin((ports) =>
              ports.hooks[phase].tapPromise(
                't',
                (...args: unknown[]) => ((signal = (args.at(-1) as { signal: AbortSignal }).signal), arrive(), never()),
              ),
            ),
          ]
    const t =
      phase === 'start' ? null : await warm(hooks, {}, { run: { run: (_args, context) => ((signal = context.signal), arrive(), never()) } })
    const runtime =
      t ??
      (await assembleRuntime(
        { mcpServers: { s: { command: 'x' } } },
        new Map([['local', memoryExecutor({ x: (duplex) => (arrive(), hanging(duplex)) })]]),
      ))
    const session = t?.session ?? (await runtime.openSession())
    const controller = new AbortController()
    const call = session.callTool(REQUEST, { signal: controller.signal })
    await arrived
    const began = performance.now()
    controller.abort()
    expect(await call).toMatchObject({ outcome: 'cancelled', code: 'CALL_CANCELLED', by: 'host', sent: phase === 'server' ? 'yes' : 'no' })
    expect(performance.now() - began).toBeLessThan(8000)
    await sleep(20)
    if (phase !== 'start') expect(signal!.aborted).toBe(true)
    if (t !== null && phase === 'server') expect(t.sent.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1)
    await runtime.close()
  },
)

test('a tap that aborts the call itself stops it there', async () => {
  const controller = new AbortController()
  const log: string[] = []
  for (const kind of ['tap', 'tapPromise'] as const) {
    const p = plugin(({ hooks }) => {
      hooks.approve[kind]('aborts', () => {
        controller.abort()
        return kind === 'tap' ? undefined : Promise.resolve()
      })
      hooks.attachMetadata[kind]('later', () => {
        log.push('later')
        return kind === 'tap' ? undefined : Promise.resolve()
      })
    })
    await using t = await warm([p], { policies: {} })
    expect(await t.callTool(REQUEST, { signal: controller.signal })).toMatchObject({ outcome: 'cancelled', sent: 'no' })
    await sleep(5)
    expect([log, t.asked, toolCalls(t)]).toEqual([[], [], []])
  }
})

test('the late answer of a server changes nothing', async () => {
  let answer: (text: string) => void = () => {}
  await using t = await warm([], {}, { run: { run: () => new Promise((resolve) => (answer = resolve)) }, other: {} })
  const outcome = await t.callTool(REQUEST, { timeoutMs: 500 })
  expect(outcome).toMatchObject({ outcome: 'timed_out' })
  answer('late')
  expect(await t.callTool({ server: 's', tool: 'other' })).toMatchObject({ outcome: 'completed' })
  expect(outcome).toMatchObject({ outcome: 'timed_out' })
})
