import { afterEach, expect, test } from 'vitest'
import type { Connection } from '../../src/connections/connection.ts'
import type { ConnectionPool } from '../../src/connections/pool.ts'
import type { TaplineError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/json.ts'
import { Secrets } from '../../src/secrets.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alive, hostPool, lease, readLog, registration, keys, environment, sleep, until } from './fixtures/pool.ts'

const IDLE = { idleTimeoutMs: 10_000 }
let pool: ConnectionPool | null = null
let folder: string | null = null

afterEach(async () => {
  await pool?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
  pool = folder = null
})

function newLog(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'tapline-calls-'))
  return join(folder, 'log')
}
async function connected(mode = 'plain', options: Parameters<typeof hostPool>[0] = {}, log = ''): Promise<Connection> {
  pool ??= hostPool(options)
  const { connection } = lease(pool, mode, { log, env: { TOKEN: 'secret-token' } })
  await connection.ready()
  return connection
}
const call = (
  connection: Connection,
  name: string,
  args: JsonObject = {},
  options: Partial<Parameters<Connection['request']>[2]> = {},
): Promise<JsonObject> => connection.request('tools/call', { name, arguments: args }, { ...IDLE, ...options })
const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )
const textOf = (result: JsonObject): string => ((result['content'] as JsonObject[])[0] as { text: string }).text

test('the tools are listed with every field, and a result comes back with every field', async () => {
  const connection = await connected()
  expect(connection.state).toBe('connected')
  expect(connection.info).toMatchObject({
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'fixture', odd: true },
    capabilities: { future: { x: 1 } },
    instructions: 'hello',
  })
  expect(alive(connection.info?.pid as number)).toBe(true)
  const echo = connection.tools?.tools.get('echo')
  expect(echo?.raw).toEqual({ name: 'echo', inputSchema: { type: 'object' }, future: { kept: true } })
  expect(Object.isFrozen(echo?.raw['future'])).toBe(true)
  expect(echo?.digest).toMatch(/^[0-9a-f]{64}$/)
  const result = await call(connection, 'echo', { a: 'ä😀' })
  expect(result).toEqual({ content: [{ type: 'text', text: '{"a":"ä😀"}' }], unknown: { kept: 1 }, task: { taskId: 'x' } })
})

test('a request is written within the call, and every tools/call carries a progress token', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  const written: string[] = []
  const answer = call(connection, 'echo')
  written.push('after')
  // the event loop is blocked: only what was written already can have arrived
  const end = Date.now() + 5000
  while (!readLog(log).some((one) => one['event'] === 'call') && Date.now() < end);
  expect(readLog(log).filter((one) => one['event'] === 'call')).toEqual([
    expect.objectContaining({ name: 'echo', progressToken: expect.any(Number) as number }),
  ])
  await answer
})

test('an answer in single bytes, an id as text and an unknown member of the envelope arrive', async () => {
  const connection = await connected()
  expect(textOf(await call(connection, 'cut'))).toBe('grüße 日本 😀')
  expect(textOf(await call(connection, 'odd'))).toBe('odd')
})

test('a result of 12 MiB arrives whole', async () => {
  const connection = await connected()
  const bytes = 12 * 1024 * 1024
  expect(textOf(await call(connection, 'big', { bytes }))).toBe('ä'.repeat(bytes / 2))
})

test.each([
  ['huge', 'its id comes first'],
  ['huge_id_last', 'its id comes last'],
])('a frame over the limit fails its own call only (%s: %s)', async (name) => {
  const connection = await connected('plain', { frameLimit: 200_000 })
  const pid = connection.info?.pid
  const other = call(connection, 'late', { ms: 1500 })
  const error = await failure(call(connection, name, { bytes: 1_000_000 }))
  expect(error).toMatchObject({ code: 'SERVER_FAILED', message: expect.stringMatching(/over the limit of 200000 bytes/) as string })
  expect(textOf(await other)).toBe('late')
  expect(textOf(await call(connection, 'echo'))).toBe('{}')
  expect(connection.info?.pid).toBe(pid)
})

test('an error of the server keeps its text in one line, its code and its data, without secrets', async () => {
  const secrets = new Secrets()
  secrets.add('secret-token')
  pool = hostPool({ secrets })
  const one = registration('plain', { env: { TOKEN: 'secret-token' } })
  const { connection } = pool.lease({ key: keys.intern(one.key), registration: one, environment: environment() })
  await connection.ready()
  const error = await failure(call(connection, 'fails'))
  expect(error).toMatchObject({ code: 'SERVER_FAILED', data: { rpcCode: -32602, rpcData: { why: 'because' } } })
  expect(error.message).toContain('no such thing [redacted]')
  expect(await failure(call(connection, 'not_object'))).toMatchObject({ code: 'SERVER_FAILED' })
})

test('a crash during a call rejects all that wait at once, with the exit code, and the next ready() starts anew', async () => {
  const connection = await connected()
  const states: string[] = []
  connection.subscribe(() => states.push(connection.state))
  const pid = connection.info?.pid
  const waiting = failure(call(connection, 'hang'))
  const began = Date.now()
  const error = await failure(call(connection, 'crash'))
  expect(Date.now() - began).toBeLessThan(9000)
  expect(error).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'unknown', exitCode: 7, stderr: ['going down'] } })
  expect(error.message).toMatch(/exit code 7.*unknown.*going down/)
  expect(await waiting).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'unknown' } })
  expect(connection.state).toBe('failed')
  expect(connection.tools).toBeNull()
  expect(await failure(call(connection, 'echo'))).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'no' } })
  await connection.ready()
  expect(connection.info?.pid).not.toBe(pid)
  expect(textOf(await call(connection, 'echo'))).toBe('{}')
  expect(states).toEqual(['failed', 'starting', 'connected'])
})

test('an abort ends the call at once with one cancel notice that does not pass the reason on; the late answer reaches nobody', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  const abort = new AbortController()
  const error = failure(call(connection, 'late', { ms: 1500 }, { signal: abort.signal }))
  await until(() => readLog(log).some((one) => one['event'] === 'call'), 'the call arrives')
  const at = Date.now()
  abort.abort(new Error('private words'))
  expect(await error).toMatchObject({ code: 'CALL_CANCELLED' })
  expect(Date.now() - at).toBeLessThan(1500)
  await sleep(2000)
  expect(textOf(await call(connection, 'echo', {}, { signal: new AbortController().signal }))).toBe('{}')
  const notices = readLog(log).filter((one) => one['event'] === 'notifications/cancelled')
  expect(notices).toHaveLength(1)
  expect(JSON.stringify(notices)).not.toContain('private words')
  const id = readLog(log).find((one) => one['event'] === 'call')?.['id']
  expect((notices[0]?.['params'] as JsonObject)['requestId']).toBe(id)
})

test('a signal that has aborted sends nothing; one that aborts after the answer sends no notice', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  expect(await failure(call(connection, 'echo', {}, { signal: AbortSignal.abort() }))).toMatchObject({
    code: 'CALL_CANCELLED',
    data: { sent: 'no' },
  })
  const abort = new AbortController()
  await Promise.all(Array.from({ length: 30 }, () => call(connection, 'echo', {}, { signal: abort.signal })))
  abort.abort()
  await call(connection, 'echo')
  const events = readLog(log).map((one) => one['event'])
  expect(events.filter((one) => one === 'call')).toHaveLength(31)
  expect(events).not.toContain('notifications/cancelled')
})

test('progress resets the idle limit and reaches the caller; a listener that throws does no harm', async () => {
  const connection = await connected()
  const steps: unknown[] = []
  const onProgress = (progress: unknown): void => {
    steps.push(progress)
    throw new Error('a bad listener')
  }
  expect(textOf(await call(connection, 'progress', { steps: 8, ms: 250 }, { idleTimeoutMs: 1500, onProgress }))).toBe('done')
  expect(steps).toHaveLength(8)
  expect(steps[2]).toMatchObject({ progress: 3, message: 'step 3' })
})

test('the idle limit and the total limit end a call with their names, and tell the server once each', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  const [idle, total] = await Promise.all([
    failure(call(connection, 'hang', {}, { idleTimeoutMs: 300 })),
    failure(call(connection, 'progress', { steps: 100, ms: 50, end: false }, { idleTimeoutMs: 3000, totalTimeoutMs: 3500 })),
  ])
  expect(idle).toMatchObject({ code: 'CALL_TIMED_OUT', data: { phase: 'idle', limitMs: 300 } })
  expect(idle.message).toContain('0.3 s')
  expect(total).toMatchObject({ code: 'CALL_TIMED_OUT', data: { phase: 'total', limitMs: 3500 } })
  await until(() => readLog(log).filter((one) => one['event'] === 'notifications/cancelled').length === 2, 'two notices')
})

test('2,000 requests in flight get their own answers', async () => {
  const connection = await connected()
  const answers = await Promise.all(Array.from({ length: 2000 }, (_, n) => call(connection, 'echo', { n })))
  expect(answers.map(textOf)).toEqual(Array.from({ length: 2000 }, (_, n) => `{"n":${n}}`))
})

test('a ping is answered, whatever its params; what we do not know is refused with -32601; no capability is declared', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  expect(JSON.parse(textOf(await call(connection, 'ask')))).toEqual([{}, -32601, -32601])
  expect((readLog(log).find((one) => one['event'] === 'initialize')?.['params'] as JsonObject)['capabilities']).toEqual({})
})

test('fifty notices of changed tools cause one request; the next ready() has a new generation', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  const before = await connection.ready()
  await call(connection, 'change')
  expect(connection.tools).toBeNull()
  const after = await connection.ready()
  expect(before.tools.has('echo')).toBe(true)
  expect(after.tools.has('echo')).toBe(false)
  expect(after.generation).toBeGreaterThan(before.generation)
  expect(connection.tools).toBe(after)
  await sleep(300)
  expect(readLog(log).filter((one) => one['event'] === 'tools/list')).toHaveLength(2)
})

test('a change that nobody waits for is listed all the same; a listing that did not change stays the same object', async () => {
  const log = newLog()
  const connection = await connected('plain', {}, log)
  const before = await connection.ready()
  await call(connection, 'change')
  await until(() => connection.tools !== null, 'listed again')
  expect(connection.tools).not.toBe(before)
  const { generation } = connection.tools as { generation: number }
  // twice: back to the tools of before the first change, as a new list
  await call(connection, 'change')
  await until(() => connection.tools !== null, 'listed again')
  expect(connection.tools?.generation).toBe(generation + 1)
})

test('a server that gives notice of every list does not keep its callers, and is not asked without end', async () => {
  const log = newLog()
  const connection = await connected('storm', {}, log)
  for (let i = 0; i < 3; i++) expect((await connection.ready()).tools.size).toBe(15)
  await sleep(1000)
  expect(readLog(log).filter((one) => one['event'] === 'tools/list').length).toBeLessThan(15)
})
