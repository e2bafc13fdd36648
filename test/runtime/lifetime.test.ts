import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import type { MemoryServer } from '../../src/connections/executors/memory.ts'
import type { OpenFeatureProvider } from '../../src/flags/openfeature.ts'
import { allow } from '../../src/plugin.ts'
import { openRuntime, openSession } from '../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../src/runtime/types.ts'
import { unwrap } from '../../src/runtime/unwrap.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { oneToolServer } from '../one-tool-server.ts'
import { initialized, never, open, plugin, REQUEST, sleep, toolCalls } from '../pipeline/kit.ts'

/** An environment of an executor of this test; `live` counts what runs on it. */
function remote(server: MemoryServer, definition: object = {}): RuntimeOptions & { readonly live: { count: number; ever: number } } {
  const live = { count: 0, ever: 0 }
  const counting: MemoryServer = async (duplex) => {
    live.count++
    live.ever++
    duplex.signal.addEventListener('abort', () => void live.count--)
    try {
      await server(duplex)
    } finally {
      if (!duplex.signal.aborted) live.count--
    }
  }
  const options: RuntimeOptions = {
    executors: [{ ...memoryExecutor({ x: counting }), kind: 'mem' }],
    environments: { mem: { executor: 'mem', cwd: '/work-area' } },
    mcpServers: { s: { command: 'x', environment: 'mem', defaultToolsApprovalMode: 'approve', ...definition } },
  }
  // beside the options, and not one of them
  return Object.defineProperty(options, 'live', { value: live }) as RuntimeOptions & { readonly live: typeof live }
}
const echo = oneToolServer((send, { id }) => send({ jsonrpc: '2.0', id, result: { content: [] } }))
const hanging: MemoryServer = ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

test('opening starts nothing', async () => {
  const options = remote(echo)
  await using runtime = await openRuntime(options)
  const session = await runtime.openSession()
  await sleep(20)
  expect(options.live.ever).toBe(0)
  expect(await session.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(options.live).toEqual({ count: 1, ever: 1 })
})

test('openSession is a runtime for one session: closing it ends every process', async () => {
  const options = remote(echo)
  const session = await openSession({ ...options, id: 'only' })
  expect(session.id).toBe('only')
  unwrap(await session.callTool(REQUEST))
  expect(options.live.count).toBe(1)
  await Promise.all([session.close(), session.close(), session[Symbol.asyncDispose]()])
  expect(options.live.count).toBe(0)
})

test('closing while a server starts ends it, and what waited for it ends', async () => {
  const options = remote(hanging)
  const runtime = await openRuntime(options)
  const session = await runtime.openSession()
  const call = session.callTool(REQUEST)
  const list = session.listTools()
  const status = session.status()
  for (let turn = 0; turn < 500 && options.live.ever === 0; turn++) await sleep(10)
  expect(options.live.ever).toBe(1)
  await Promise.all([runtime.close(), runtime.close()])
  expect(options.live.count).toBe(0)
  expect(await call).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED', sent: 'no' })
  expect(await list).toMatchObject({ tools: [], errors: [{ owner: { name: 's' } }] })
  expect(await status).toMatchObject({ data: [{ runtimeStatus: 'failed' }] })
})

test('closing a session cancels its calls and leaves those of others', async () => {
  const arrived: (() => void)[] = []
  const both = new Promise<void>((resolve) => arrived.push(resolve))
  let count = 0
  let release: (text: string) => void = () => {}
  await using t = await open(
    [],
    {},
    { run: { run: () => new Promise((resolve) => ((release = resolve), ++count === 2 && arrived[0]!())) } },
  )
  const other = await t.openSession()
  const mine = t.callTool(REQUEST)
  const theirs = other.callTool(REQUEST)
  await both
  await t.session.close()
  expect(await mine).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED', sent: 'yes' })
  release('done')
  expect(await theirs).toMatchObject({ outcome: 'completed' })
  expect(initialized(t)).toEqual(['s'])
})

test('after close: calls end as an outcome, everything else rejects with SESSION_CLOSED', async () => {
  const t = await open()
  await t.session.listTools()
  await t.session.close()
  const { session } = t
  expect(await session.callTool(REQUEST)).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED', sent: 'no' })
  expect(await session.explain(REQUEST)).toMatchObject({ wouldEnd: 'cancelled' })
  for (const work of [
    () => session.listTools(),
    () => session.status(),
    () => session.listResources(),
    () => session.readResource({ server: 's', uri: 'x' }),
  ]) {
    await expect(work()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  }
  await expect(async () => {
    for await (const _page of session.statusPages()) throw new Error('a page')
  }).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  expect(toolCalls(t)).toEqual([])
  const second = await t.openSession()
  expect(await second.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  await t.close()
  await expect(t.openSession()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  expect(await second.callTool(REQUEST)).toMatchObject({ code: 'SESSION_CLOSED' })
})

test('ids of sessions: random ones differ, one in use is refused and free again after close', async () => {
  await using t = await open([], { session: { id: 'a' } })
  expect(t.session.id).toBe('a')
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await t.openSession()).id))
  expect(new Set(ids).size).toBe(5)
  await expect(t.openSession({ id: 'a' })).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST', message: expect.stringContaining('"a"') })
  await t.session.close()
  expect((await t.openSession({ id: 'a' })).id).toBe('a')
})

test('a signal closes its session, and one that is aborted already opens none', async () => {
  await using t = await open([], {}, { run: { run: () => never() } })
  const controller = new AbortController()
  const session = await t.openSession({ signal: controller.signal })
  const call = session.callTool(REQUEST)
  controller.abort()
  expect(await call).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED' })
  await expect(session.status()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await expect(t.openSession({ signal: controller.signal })).rejects.toMatchObject({ name: 'TaplineError', code: 'CALL_CANCELLED' })
})

test('the environments of a session: order, default, unknown ones, one said twice', async () => {
  await using t = await openTestRuntime({ features: { multi_environment_mcp: true }, environments: { a: { x: {} }, b: { x: {} } } })
  const ids = (session: { environments: readonly { id: string }[] }): string[] => session.environments.map(({ id }) => id)
  expect(ids(await t.openSession({ environments: ['b', 'a'] }))).toEqual(['b', 'a'])
  expect(ids(await t.openSession({ environments: ['a', 'a'] }))).toEqual(['a'])
  expect(ids(t.session)).toContain('a')
  await expect(t.openSession({ environments: ['nope'] })).rejects.toMatchObject({
    code: 'ENVIRONMENT_UNKNOWN',
    message: expect.stringContaining('"nope"'),
  })
  expect(t.session.environments[0]).toBe(t.environments.get(t.session.environments[0]!.id))
})

test('required servers: openSession waits for them, and fails with the first that does not start', async () => {
  const good = remote(echo, { required: true })
  await using runtime = await openRuntime(good)
  await runtime.openSession()
  expect(good.live.count).toBe(1)
  const broken = remote(async () => {}, { required: true })
  await expect(openSession(broken)).rejects.toMatchObject({ code: 'SERVER_START_FAILED' })
  expect(broken.live.count).toBe(0)
  await using off = await openRuntime(remote(hanging, { required: true, enabled: false }))
  await off.openSession()
})

test('opening that waits for a required server ends with its signal, and with its runtime', async () => {
  const options = remote(hanging, { required: true })
  const runtime = await openRuntime(options)
  const controller = new AbortController()
  const opening = runtime.openSession({ id: 'a', signal: controller.signal })
  setTimeout(() => controller.abort(), 20)
  await expect(opening).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  const second = runtime.openSession({ id: 'a' })
  setTimeout(() => void runtime.close(), 20)
  await expect(second).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await runtime.close()
  expect(options.live.count).toBe(0)
})

test('use() is for later sessions, and what it gives takes the plugin away again', async () => {
  const log: string[] = []
  await using t = await open()
  const using_ = t.use(plugin(({ hooks, session }) => hooks.approve.tap('t', () => void log.push(session.id))))
  await t.callTool(REQUEST)
  const second = await t.openSession({ id: 'second' })
  using_[Symbol.dispose]()
  using_[Symbol.dispose]()
  const third = await t.openSession({ id: 'third' })
  await second.callTool(REQUEST)
  await third.callTool(REQUEST)
  expect(log).toEqual(['second'])
  expect(() => t.use(null as never)).toThrow(expect.objectContaining({ code: 'HOOK_BAD_PLUGIN' }))
})

test('sessions share connections, plugins and approvals they do not', async () => {
  const states: object[] = []
  const p = plugin(({ hooks }) => {
    const state = { calls: 0 }
    states.push(state)
    hooks.approve.tap('t', () => {
      state.calls++
      return allow()
    })
  })
  await using t = await open([p], { policies: {} })
  const other = await t.openSession()
  await Promise.all([t.callTool(REQUEST), other.callTool(REQUEST), other.callTool(REQUEST)])
  expect(states).toEqual([{ calls: 1 }, { calls: 2 }])
  expect(initialized(t)).toEqual(['s'])
})

test('a connection without a session is closed after idleCloseMs, and not before', async () => {
  const options = remote(echo)
  await using runtime = await openRuntime({ ...options, idleCloseMs: 30 })
  const session = await runtime.openSession()
  unwrap(await session.callTool(REQUEST))
  await sleep(80)
  expect(options.live.count).toBe(1)
  await session.close()
  for (let turn = 0; turn < 100 && options.live.count > 0; turn++) await sleep(20)
  expect(options.live.count).toBe(0)
})

test('an executor of the kind local is refused', async () => {
  await expect(openRuntime({ executors: [{ ...memoryExecutor({}), kind: 'local' }] })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

test('a signal that aborts while its session opens: no session is left, whatever was being waited for', async () => {
  const isCancelled = { name: 'TaplineError', code: 'CALL_CANCELLED' }
  const slow: OpenFeatureProvider = {
    metadata: { name: 'slow' },
    resolveBooleanEvaluation: never,
    resolveStringEvaluation: never,
    resolveNumberEvaluation: never,
  }
  await using t = await open([], { flags: { provider: slow } })
  const controller = new AbortController()
  const opening = t.openSession({ id: 'a', signal: controller.signal })
  controller.abort()
  await expect(opening).rejects.toMatchObject(isCancelled)
  // by a plugin, while the session is made
  const second = new AbortController()
  let ended = 0
  const aborts = plugin(() => {
    second.abort()
    return { [Symbol.dispose]: () => void ended++ }
  })
  using _added = t.use(aborts)
  await expect(t.openSession({ id: 'b', signal: second.signal })).rejects.toMatchObject(isCancelled)
  expect(ended).toBe(1)
})

test('a signal ends the wait for a module that does not load', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-slow-'))
  const module = path.join(folder, 'slow.mjs')
  writeFileSync(module, `await new Promise((resolve) => globalThis.slowModule(resolve))\nexport default { name: 'slow', apply() {} }`)
  const config = path.join(folder, 'tapline.json')
  writeFileSync(config, JSON.stringify({ hooks: [{ module: './slow.mjs', mode: 'off' }] }))
  const loading = new Promise<() => void>((resolve) => Object.assign(globalThis, { slowModule: resolve }))
  try {
    await using runtime = await openRuntime({ config })
    runtime.setPluginMode(module, 'enforce')
    const controller = new AbortController()
    const opening = runtime.openSession({ signal: controller.signal })
    opening.catch(() => {})
    const go = await loading
    controller.abort()
    await expect(opening).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
    go()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.each([2, 3, 8])(
  'closing a session ends all of its calls, however many: %i that wait for a tap, and as many for a person',
  async (count) => {
    const open_: (() => void)[] = []
    const waits = (): Promise<void> => new Promise((resolve) => open_.push(resolve))
    const questions: AbortSignal[] = []
    const p = plugin(({ hooks }) =>
      hooks.approve.tapPromise('t', async (call: { readonly owner: { readonly name: string } }) =>
        call.owner.name === 's' ? waits() : undefined,
      ),
    )
    await using t = await openTestRuntime({
      threadWide: { s: { tools: { run: {} } }, asks: { tools: { run: {} } } },
      policies: { s: { defaultToolsApprovalMode: 'approve' }, asks: { defaultToolsApprovalMode: 'prompt' } },
      hooks: [p],
      session: {
        approver: (_question: unknown, { signal }: { signal: AbortSignal }) => {
          questions.push(signal)
          return waits().then(() => ({ action: 'accept' }))
        },
      } as never,
    })
    // keeps the connections
    const other = await t.openSession()
    await other.listTools()
    const calls = Array.from({ length: count }, () => [t.callTool(REQUEST), t.callTool({ ...REQUEST, server: 'asks' })]).flat()
    await expect.poll(() => open_.length, { timeout: 20_000 }).toBe(count * 2)
    await t.session.close()
    for (const go of open_) go()
    for (const outcome of await Promise.all(calls))
      expect(outcome).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED', sent: 'no' })
    expect(questions.every(({ aborted }) => aborted)).toBe(true)
    await other.callTool({ ...REQUEST, server: 's' }, { timeoutMs: 1 })
    expect(toolCalls(t)).toEqual([])
  },
)
