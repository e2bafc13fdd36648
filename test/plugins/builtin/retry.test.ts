import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TaplineError, type ErrorCode } from '../../../src/errors.ts'
import { retry, type RetryOptions } from '../../../src/plugins/builtin/index.ts'
import { passing } from '../../../src/plugins/builtin/transient-errors.ts'
import { ERROR_CODES } from '../../../src/errors.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import type { ScriptedServer, TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'
import type { ToolAnnotations } from '../../../src/mcp.ts'
import { goneDown, plugin, toolCalls } from './kit.ts'

const AT_ONCE = { delayMs: 0 } as const

/** A server whose tool brings it down the first times. */
function shaky(crashes: number, annotations: ToolAnnotations = {}): ScriptedServer {
  let left = crashes
  const server: ScriptedServer = scriptedServer({
    tools: {
      run: {
        annotations,
        run: () => {
          if (left-- <= 0) return 'done'
          server.crash()
          return new Promise<string>(() => {})
        },
      },
      other: {},
    },
    resources: { 'a:b': 'text' },
  })
  return server
}
const open = (s: ScriptedServer, options: RetryOptions, trustAnnotations = true, more: TestRuntimeOptions = {}): Promise<TestRuntime> =>
  openTestRuntime({ threadWide: { s }, policies: { s: { trustAnnotations } }, hooks: [retry(options)], ...more })
const REQUEST = { server: 's', tool: 'run' }

test('a tool that only reads is called again when its server went down; each attempt is told', async () => {
  const lines: string[] = []
  const logger = { debug() {}, warn() {}, error() {}, info: (_: object, line: string) => void lines.push(line) }
  await using t = await open(shaky(2, { readOnlyHint: true }), AT_ONCE, true, { logger })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', sent: 'yes', forModel: { text: 'done' } })
  expect(toolCalls(t)).toHaveLength(3)
  expect(lines).toEqual(['s: attempt 2 of 3 in 0 ms, after SERVER_EXITED', 's: attempt 3 of 3 in 0 ms, after SERVER_EXITED'])
})

test('after the last attempt the failure is the outcome, as it came', async () => {
  await using t = await open(shaky(9, { idempotentHint: true }), { ...AT_ONCE, attempts: 4 })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'server_failed', code: 'SERVER_EXITED' })
  expect(toolCalls(t)).toHaveLength(4)
})

test.each<[string, ToolAnnotations, boolean, RetryOptions, number]>([
  ['a tool without annotations', {}, true, {}, 1],
  ['annotations that are not trusted', { readOnlyHint: true, idempotentHint: true }, false, {}, 1],
  ['what the host lists as safe', {}, false, { safe: ['run'] }, 3],
  ['what the host lists for another server', { readOnlyHint: true }, false, { safe: [{ servers: ['t'] }] }, 1],
])('%s', async (_, annotations, trusted, options, times) => {
  await using t = await open(shaky(9, annotations), { ...AT_ONCE, ...options }, trusted)
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'server_failed' })
  expect(toolCalls(t)).toHaveLength(times)
})

test('a call that reached nobody is sent again, whatever its tool does', async () => {
  let refusals = 0
  const tools = { run: {} }
  // a start that comes to nothing: the server ends when it is asked for its tools
  const listing = new Proxy(tools, {
    ownKeys: (all) => {
      if (refusals-- > 0) server.crash()
      return Reflect.ownKeys(all)
    },
  })
  const server: ScriptedServer = scriptedServer({ tools: listing })
  const goesDown = plugin('goes-down', ({ hooks }) =>
    hooks.attachMetadata.tapPromise('crash', async () => {
      const down = goneDown(t)
      refusals = 1
      server.crash()
      await down
    }),
  )
  await using t: TestRuntime = await openTestRuntime({ threadWide: { s: server }, hooks: [goesDown, retry(AT_ONCE)] })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', sent: 'yes' })
  expect(toolCalls(t)).toHaveLength(1)
  expect(refusals).toBeLessThan(0)
})

test('answers are never asked for again: results with isError, errors of JSON-RPC, refusals', async () => {
  const s = scriptedServer({
    tools: {
      fails: {
        annotations: { readOnlyHint: true },
        run: () => {
          throw new Error('no')
        },
      },
    },
    resources: {},
  })
  await using t = await open(s, AT_ONCE)
  expect(await t.callTool({ server: 's', tool: 'fails' })).toMatchObject({ outcome: 'completed', result: { isError: true } })
  await expect(t.session.readResource({ server: 's', uri: 'a:none' })).rejects.toMatchObject({ code: 'SERVER_FAILED' })
  expect(toolCalls(t)).toHaveLength(1)
  expect(t.sent.filter(({ method }) => method === 'resources/read')).toHaveLength(1)
})

test('a changed authority ends the call: what was approved is not what would be sent', async () => {
  const server = shaky(1, { readOnlyHint: true })
  const tightens = plugin('tightens', ({ hooks }) =>
    hooks.dispatch.tapPromise({ name: 'inner', stage: 10 }, async (_, next) => {
      try {
        return await next()
      } catch (error) {
        t.environments.get('e')?.update({ permissions: { type: 'read-only' } })
        throw error
      }
    }),
  )
  await using t: TestRuntime = await openTestRuntime({
    environments: { e: { servers: { s: server }, permissions: { type: 'full-access' }, policies: { s: { trustAnnotations: true } } } },
    hooks: [retry(AT_ONCE), tightens],
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', what: 'permissions' })
  expect(toolCalls(t)).toHaveLength(1)
})

test('a cancelled call is not sent again, also while it waits', async () => {
  const server = shaky(9, { readOnlyHint: true })
  const stop = new AbortController()
  const logger = { debug() {}, warn() {}, error() {}, info: () => stop.abort() }
  await using t = await open(server, { delayMs: 60_000, maxDelayMs: 600_000, totalMs: 600_000, jitter: false }, true, { logger })
  expect(await t.callTool(REQUEST, { signal: stop.signal })).toMatchObject({ outcome: 'cancelled' })
  expect(toolCalls(t)).toHaveLength(1)
})

test('no attempt begins after totalMs', async () => {
  await using t = await open(shaky(9, { readOnlyHint: true }), { delayMs: 500, totalMs: 499, jitter: false })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'server_failed' })
  expect(toolCalls(t)).toHaveLength(1)
})

test('the session that closes ends the wait', async () => {
  let closing: Promise<void> | undefined
  const logger = { debug() {}, warn() {}, error() {}, info: () => void (closing = t.close()) }
  const t = await open(shaky(9, { readOnlyHint: true }), { delayMs: 60_000, maxDelayMs: 60_000, totalMs: 600_000, jitter: false }, true, {
    logger,
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'cancelled', code: 'SESSION_CLOSED' })
  await closing
})

test('never more often than attempts, whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 5 }),
      fc.integer({ min: 0, max: 6 }),
      fc.double({ noNaN: false }),
      async (attempts, crashes, part) => {
        await using t = await open(shaky(crashes, { readOnlyHint: true }), { attempts, delayMs: 0.01, random: () => part })
        const { outcome } = await t.callTool(REQUEST)
        expect(toolCalls(t)).toHaveLength(Math.min(attempts, crashes + 1))
        expect(outcome).toBe(crashes < attempts ? 'completed' : 'server_failed')
      },
    ),
    { numRuns: 20 },
  )
})

test('what passes, and what does not', () => {
  const of = (code: ErrorCode, data: Record<string, unknown> = {}): unknown => passing(new TaplineError(code, 'x', { data }))
  const all = ERROR_CODES.filter((code) => of(code) !== null)
  expect(all.sort()).toEqual(['ENVIRONMENT_UNAVAILABLE', 'SERVER_EXITED', 'SERVER_START_FAILED', 'SERVER_START_TIMED_OUT'])
  expect(of('SERVER_EXITED')).toBe('maybe')
  expect(of('SERVER_EXITED', { sent: 'unknown' })).toBe('maybe')
  expect(of('SERVER_EXITED', { sent: 'no' })).toBe('no')
  expect(of('SERVER_START_FAILED')).toBe('no')
  expect(of('SERVER_FAILED', { httpStatus: 503, sent: 'yes' })).toBe('maybe')
  expect(of('SERVER_FAILED', { httpStatus: 400, sent: 'yes' })).toBeNull()
  expect(of('SERVER_FAILED', { rpcCode: -32603 })).toBeNull()
  expect(passing(new Error('x'))).toBeNull()
})

test.each<[unknown, string]>([
  [{ attempts: 1 }, 'attempts: must be a whole number from 2 to 10'],
  [{ attempts: 2.5 }, 'attempts: must be a whole number'],
  [{ delayMs: -1 }, 'delayMs: must be a number from 0'],
  [{ delayMs: Number.NaN }, 'delayMs: must be a number'],
  [{ totalMs: Infinity }, 'totalMs: must be a number'],
  [{ jitter: 'full' }, 'jitter: must be true or false'],
  [{ safe: 'run' }, 'safe: must be a list'],
  [{ random: 4 }, 'random: must be a function'],
  [{ retries: 3 }, 'retries: is no option'],
])('%j is refused: %s', (options, message) => {
  expect(() => retry(options as RetryOptions)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining(message) as string }),
  )
})
