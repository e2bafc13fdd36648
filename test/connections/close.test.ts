import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { ConnectionPool } from '../../src/connections/pool.ts'
import { Watchdog } from '../../src/connections/watchdog.ts'
import type { TaplineError } from '../../src/errors.ts'
import { compileFixture } from './fixtures/compile.ts'
import { alive, hostPool, lease, marked, readLog, sleep, until } from './fixtures/pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'tapline-close-'))
let pool: ConnectionPool | null = null
afterEach(async () => {
  await pool?.close()
  pool = null
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )
const events = (log: string): unknown[] => readLog(log).map((one) => one['event'])
const kidOf = (log: string): number => readLog(log).find((one) => one['event'] === 'kid')?.['kid'] as number

test('close ends a server by the end of its input; what waits rejects; a second close joins; ready() is over', async () => {
  const log = join(folder, 'plain')
  pool = hostPool()
  const { connection } = lease(pool, 'plain', { log })
  await connection.ready()
  const pid = connection.info?.pid as number
  const waiting = failure(connection.request('tools/call', { name: 'hang', arguments: {} }, { idleTimeoutMs: 10_000 }))
  await Promise.all([pool.close(), pool.close()])
  expect(await waiting).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(alive(pid)).toBe(false)
  expect(connection.state).toBe('closed')
  expect(await failure(connection.ready())).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(await failure(lease(pool, 'plain', { name: 'late' }).connection.ready())).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(await failure(connection.request('tools/call', {}, { idleTimeoutMs: 1 }))).toMatchObject({ code: 'SESSION_CLOSED' })
})

test('a server that ignores the end of its input and SIGTERM is killed, in that order', async () => {
  const log = join(folder, 'stubborn')
  pool = hostPool()
  const { connection } = lease(pool, 'stubborn', { log })
  await connection.ready()
  await pool.close()
  expect(events(log).filter((one) => one === 'eof' || one === 'sigterm')).toEqual(['eof', 'sigterm'])
  expect(alive(connection.info?.pid as number)).toBe(false)
})

test.each(['kid', 'kid-detached'])(
  'a child of the server that holds stdout and ignores SIGTERM (%s) is not waited for, and is ended',
  async (mode) => {
    const log = join(folder, mode)
    pool = hostPool()
    const { connection } = lease(pool, mode, { log })
    await connection.ready()
    const kid = kidOf(log)
    expect(alive(kid)).toBe(true)
    const began = Date.now()
    await pool.close()
    expect(Date.now() - began).toBeLessThan(15_000)
    expect(alive(connection.info?.pid as number)).toBe(false)
    expect(alive(kid)).toBe(false)
  },
)

test('a crash settles on the exit although a child holds the pipe; the child is ended too', async () => {
  const log = join(folder, 'kid-crash')
  pool = hostPool()
  const { connection } = lease(pool, 'kid', { log, name: 'kid-crash' })
  await connection.ready()
  const began = Date.now()
  expect(await failure(connection.request('tools/call', { name: 'crash', arguments: {} }, { idleTimeoutMs: 10_000 }))).toMatchObject({
    code: 'SERVER_EXITED',
    data: { exitCode: 7 },
  })
  expect(Date.now() - began).toBeLessThan(9000)
  await until(() => !alive(kidOf(log)), 'the child is ended')
})

test('close during a start ends it and its process', async () => {
  const log = join(folder, 'starting')
  pool = hostPool()
  const { connection } = lease(pool, 'mute', { log, name: 'starting' })
  const start = failure(connection.ready())
  await until(() => events(log).includes('initialize'), 'the server runs')
  await pool.close()
  expect(await start).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(alive(readLog(log)[0]?.['pid'] as number)).toBe(false)
  const early = hostPool()
  const second = failure(lease(early, 'plain', { name: 'early' }).connection.ready())
  await early.close()
  expect(await second).toMatchObject({ code: 'SESSION_CLOSED' })
})

test('a connection without leases is closed after its idle time; a lease in time keeps it', async () => {
  pool = hostPool({ idleCloseMs: 300 })
  const first = lease(pool, 'plain')
  await first.connection.ready()
  first.release()
  first.release()
  const second = lease(pool, 'plain')
  expect(second.connection).toBe(first.connection)
  await sleep(600)
  expect(second.connection.state).toBe('connected')
  second.release()
  await until(() => second.connection.state === 'closed', 'idle close')
  expect([...pool.connections()]).toEqual([])
  const third = lease(pool, 'plain')
  expect(third.connection).not.toBe(first.connection)
  await third.connection.ready()
})

test('twenty servers start and close together', async () => {
  const one = hostPool()
  pool = one
  const connections = Array.from({ length: 20 }, (_, n) => lease(one, 'plain', { name: `n${n}` }).connection)
  await Promise.all(connections.map((connection) => connection.ready()))
  const pids = connections.map((connection) => connection.info?.pid as number)
  expect(new Set(pids).size).toBe(20)
  await one.close()
  expect(pids.filter(alive)).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'a host that is killed leaves nothing: no server, no child of one, no watchdog',
  async () => {
    const host = compileFixture(new URL('./fixtures/host.ts', import.meta.url), mkdtempSync(join(folder, 'host-')))
    const mark = `tapline-mark-${process.pid}-${Date.now()}`
    const child = spawn(process.execPath, [host, 'plain', 'stubborn', 'kid', 'kid-detached'], {
      env: { ...process.env, TAPLINE_TEST_MARK: mark },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const watchdog = watchdogOf(child.pid as number)
    expect(watchdog).not.toBeNull()
    // the host, four servers and two children of theirs
    expect(marked(mark).length).toBe(7)
    child.kill('SIGKILL')
    await until(() => marked(mark).length === 0 && !alive(watchdog as number), 'nothing is left', 6000)
  },
  30_000,
)

test.runIf(process.platform === 'linux')(
  'the watchdog knows only what was added and not taken back, ends with its host, and is started again where somebody ends it',
  async () => {
    const watch = new Watchdog()
    watch.start()
    const kept = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const ended = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    watch.add(kept.pid as number)
    watch.add(ended.pid as number)
    const pid = watch.pid as number
    expect(
      readFileSync(`/proc/${pid}/environ`, 'latin1')
        .split('\0')
        .filter(Boolean)
        .every((one) => /^(PATH|PWD)=/.test(one)),
    ).toBe(true)
    process.kill(pid, 'SIGKILL')
    await until(() => watch.pid !== null && watch.pid !== pid, 'a new one')
    watch.delete(kept.pid as number)
    await watch.close()
    expect(alive(kept.pid as number)).toBe(true)
    await until(() => !alive(ended.pid as number), 'the listed group is ended')
    kept.kill('SIGKILL')
  },
)

/** The `sh` child of the host. */
function watchdogOf(parent: number): number | null {
  for (const pid of readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number)) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('sh\0-c\0')) return pid
    } catch {
      // it ended while we were looking
    }
  }
  return null
}
