import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import type { ConnectionPool } from '../../src/connections/pool.ts'
import { TaplineError } from '../../src/errors.ts'
import { Secrets } from '../../src/secrets.ts'
import { alive, environment, hostPool, keys, lease, readLog, registration, until } from './fixtures/pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'tapline-start-'))
let pool: ConnectionPool | null = null
afterEach(async () => {
  vi.unstubAllEnvs()
  await pool?.close()
  pool = null
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )
const starts = (log: string): number => readLog(log).filter((one) => one['event'] === 'start').length

test('a lease starts nothing; two callers join one start; two leases share one connection', async () => {
  const log = join(folder, 'joined')
  pool = hostPool()
  const first = lease(pool, 'plain', { log })
  const second = lease(pool, 'plain', { log, policy: { toolTimeoutMs: 1 } })
  expect(second.connection).toBe(first.connection)
  expect(first.connection.state).toBe('idle')
  const both = Promise.all([first.connection.ready(), second.connection.ready()])
  expect(first.connection.state).toBe('starting')
  const [a, b] = await both
  expect(a).toBe(b)
  expect(starts(log)).toBe(1)
  expect(first.connection.startMs).toBeGreaterThan(0)
})

test('another launch, another environment instance or another key is another connection', () => {
  pool = hostPool()
  const { connection } = lease(pool, 'plain')
  expect(lease(pool, 'plain', { env: { A: '1' } }).connection).not.toBe(connection)
  expect(lease(pool, 'plain', { name: 'other' }).connection).not.toBe(connection)
  expect(lease(pool, 'plain', { on: environment() }).connection).not.toBe(connection)
  expect(new Set([...pool.connections()].map(({ id }) => id)).size).toBe(4)
})

test('a caller that gives up does not end the start that others wait for', async () => {
  const log = join(folder, 'gives-up')
  pool = hostPool()
  const { connection } = lease(pool, 'slow-init', { log })
  const abort = new AbortController()
  const gaveUp = failure(connection.ready({ signal: abort.signal }))
  const waits = connection.ready()
  abort.abort()
  expect(await gaveUp).toMatchObject({ code: 'CALL_CANCELLED' })
  expect((await waits).tools.size).toBe(15)
  expect(starts(log)).toBe(1)
})

test.each([
  ['mute', 'initialize'],
  ['mute-list', 'tools/list'],
])('a server that hangs (%s) is given up after its own limit, with the stage, and ended', async (mode, stage) => {
  const log = join(folder, mode)
  pool = hostPool()
  const { connection } = lease(pool, mode, { log, policy: { startupTimeoutMs: 3000 } })
  const error = await failure(connection.ready())
  expect(error).toMatchObject({ code: 'SERVER_START_TIMED_OUT', data: { stage, limitMs: 3000 } })
  expect(error.message).toContain(stage)
  expect(error.message).toContain('3 s')
  expect(connection.state).toBe('failed')
  const pid = readLog(log)[0]?.['pid'] as number
  await until(() => !alive(pid), 'the process ends')
  expect(readLog(log).map((one) => one['event'])).not.toContain(mode === 'mute' ? 'notifications/cancelled' : 'x')
})

test('a server that ends at once fails at once, with exit code and redacted stderr, and is not started for every caller', async () => {
  const log = join(folder, 'dies')
  const secrets = new Secrets()
  secrets.add('tok-456-secret')
  pool = hostPool({ secrets })
  const { connection } = lease(pool, 'dies', { log, env: { TOKEN: 'tok-456-secret' } })
  const began = Date.now()
  const error = await failure(connection.ready())
  expect(Date.now() - began).toBeLessThan(12_000)
  expect(error).toMatchObject({
    code: 'SERVER_START_FAILED',
    data: { exitCode: 3, stderr: ['first line', 'token is [redacted]', 'missing API_KEY'] },
  })
  expect(error.message).toMatch(/^dies ended during initialize with exit code 3; .*missing API_KEY$/)
  expect(await failure(connection.ready())).toBe(error)
  expect(await failure(connection.ready())).toBe(error)
  expect(starts(log)).toBe(1)
  const other = await failure(lease(pool, 'exits-at-init').connection.ready())
  expect(other).toMatchObject({ code: 'SERVER_START_FAILED', data: { exitCode: 5, stage: 'initialize' } })
})

test('after the back-off the next caller starts anew, and the back-off grows', async () => {
  const log = join(folder, 'back-off')
  pool = hostPool()
  const { connection } = lease(pool, 'dies', { log })
  const first = await failure(connection.ready())
  const now = performance.now.bind(performance)
  let later = 2100
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + later)
  try {
    const second = await failure(connection.ready())
    expect(second).not.toBe(first)
    later += 2100
    expect(await failure(connection.ready())).toBe(second)
    later += 2100
    expect(await failure(connection.ready())).not.toBe(second)
    expect(starts(log)).toBe(3)
  } finally {
    clock.mockRestore()
  }
})

test.each(['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('revision %s works and is shown', async (version) => {
  pool = hostPool()
  const { connection } = lease(pool, `version:${version}`, { name: 'old' })
  await connection.ready()
  expect(connection.info?.protocolVersion).toBe(version)
})

test('a revision that nobody speaks is SERVER_PROTOCOL with both sides in the message; a refusal keeps its text; the processes are gone', async () => {
  const log = join(folder, 'versions')
  pool = hostPool()
  const unknown = await failure(lease(pool, 'version:9999-12-31', { name: 'future', log }).connection.ready())
  expect(unknown).toMatchObject({ code: 'SERVER_PROTOCOL' })
  expect(unknown.message).toMatch(/9999-12-31.*2025-11-25/)
  const refused = await failure(lease(pool, 'refuses', { log }).connection.ready())
  expect(refused).toMatchObject({ code: 'SERVER_START_FAILED', message: expect.stringContaining('speak 1998') as string })
  const noList = await failure(lease(pool, 'list-refused', { log }).connection.ready())
  expect(noList).toMatchObject({ code: 'SERVER_START_FAILED', message: expect.stringContaining('no list today') as string })
  await pool.close()
  for (const { pid } of readLog(log) as { pid: number }[]) expect(alive(pid)).toBe(false)
})

test('junk on stdout is counted and kept for a diagnostic, and never acted on', async () => {
  pool = hostPool()
  const { connection } = lease(pool, 'junk')
  const { diagnostics, tools } = await connection.ready()
  expect(tools.size).toBe(15)
  expect(diagnostics).toEqual([
    expect.objectContaining({
      code: 'stdout_noise',
      message: expect.stringMatching(/^junk: 5 lines on stdout .*Server v1 started/) as string,
    }),
  ])
})

test('a flood without a line end fails the start at once, with the limit', async () => {
  pool = hostPool({ frameLimit: 2 * 1024 * 1024 })
  const error = await failure(lease(pool, 'flood').connection.ready())
  expect(error).toMatchObject({ code: 'SERVER_START_FAILED', message: expect.stringMatching(/limit of a frame, 2 MiB/) as string })
})

test('a missing command, a missing cwd and a cwd that is a file are named', async () => {
  pool = hostPool()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const launches = [
    [{ command: 'no-such-command-here' }, /command no-such-command-here was not found/],
    [{ cwd: join(folder, 'nowhere') }, /cwd .*nowhere does not exist/],
    [{ cwd: file }, /cwd .*file is not a folder/],
    [{ command: file }, /may not be executed/],
    [{ args: ['a\0b'] }, /cannot be passed to a process/],
  ] as const
  for (const [index, [launch, message]] of launches.entries()) {
    const error = await failure(lease(pool, 'plain', { name: `n${index}`, launch }).connection.ready())
    expect(error).toMatchObject({ code: 'SERVER_START_FAILED' })
    expect(error.message).toMatch(message)
  }
})

test('a folder and an argument with spaces and other letters reach the server as they are', async () => {
  const odd = mkdtempSync(join(folder, 'mit Leerzeichen und ü '))
  const log = join(odd, "it's $HOME log")
  pool = hostPool()
  await lease(pool, 'plain', { log, launch: { cwd: odd } }).connection.ready()
  expect(readLog(log)[0]?.['cwd']).toBe(realpathSync(odd))
})

test('a server gets the allow-list, what the definition names, and nothing else', async () => {
  vi.stubEnv('PARENT_SECRET', 'ps-123')
  vi.stubEnv('PASSED_ON', 'passed')
  vi.stubEnv('LC_TEST', 'de')
  const log = join(folder, 'env')
  pool = hostPool()
  await lease(pool, 'plain', { log, env: { EMPTY: '', HALF: 'a-$HOME' }, launch: { envVars: ['PASSED_ON', 'NOT_SET'] } }).connection.ready()
  const env = readLog(log)[0]?.['env'] as Record<string, string>
  expect(env).toMatchObject({ PASSED_ON: 'passed', EMPTY: '', HALF: 'a-$HOME', LC_TEST: 'de', PATH: process.env['PATH'] })
  expect(
    Object.keys(env).filter((name) => !/^(HOME|LOGNAME|PATH|SHELL|USER|LANG|LC_\w+|TERM|TMPDIR|TZ|PASSED_ON|EMPTY|HALF)$/.test(name)),
  ).toEqual([])
})

test('an unknown executor and a registration with a problem reject at ready()', async () => {
  pool = hostPool()
  const far = await failure(lease(pool, 'plain', { name: 'far', on: environment('ssh', 'box') }).connection.ready())
  expect(far).toMatchObject({ code: 'ENVIRONMENT_UNSUPPORTED', message: expect.stringMatching(/box.*ssh/) as string })
  const problem = new TaplineError('CONFIG_INVALID', 'it is written wrongly')
  const one = { ...registration('wrong'), problem }
  const { connection } = pool.lease({ key: keys.intern(one.key), registration: one, environment: environment() })
  expect(await failure(connection.ready())).toBe(problem)
})

test('an environment that cannot be reached is ENVIRONMENT_UNAVAILABLE and is tried again for the next server; one that hangs holds up no close', async () => {
  let connects = 0
  const broken = { kind: 'broken', connect: () => Promise.reject(new Error(`no route, try ${++connects}`)) }
  const hangs = { kind: 'hangs', connect: () => new Promise<never>(() => {}) }
  const late = hostPool({ more: [broken, hangs] })
  const on = environment('broken', 'far')
  const error = await failure(lease(late, 'plain', { name: 'one', on }).connection.ready())
  expect(error).toMatchObject({
    code: 'ENVIRONMENT_UNAVAILABLE',
    message: expect.stringMatching(/^one: environment far .*no route, try 1/),
  })
  expect(await failure(lease(late, 'plain', { name: 'two', on }).connection.ready())).toMatchObject({
    message: expect.stringMatching(/try 2/),
  })
  const stuck = lease(late, 'plain', { name: 'three', on: environment('hangs', 'stuck'), policy: { startupTimeoutMs: 200 } })
  expect(await failure(stuck.connection.ready())).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE', data: { stage: 'connect' } })
  const began = Date.now()
  await late.close()
  expect(Date.now() - began).toBeLessThan(12_000)
}, 20_000)
