/** One connection for each identity: what is part of it, what is not, and how the old one ends where it changes while calls run. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { ConnectionPool } from '../../src/connections/pool.ts'
import { DEFAULT_POLICY } from '../../src/servers/definition.ts'
import type { ServerPolicy, StdioLaunch } from '../../src/servers/definition.ts'
import { alive, environment, hostPool, lease, readLog, until } from './fixtures/pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'tapline-pool-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let pool: ConnectionPool
afterEach(() => pool.close())

let logs = 0
const newLog = (): string => join(folder, `log-${logs++}`)
const starts = (log: string): number => readLog(log).filter(({ event }) => event === 'start').length
const LIMITS = { idleTimeoutMs: 60_000 }
const call = (name: string, args: object = {}): [string, { name: string; arguments: any }] => ['tools/call', { name, arguments: args }]

test.each<[string, Partial<StdioLaunch>]>([
  ['command', { command: '/bin/sh' }],
  ['arguments', { args: ['--other'] }],
  ['variables', { env: { TOKEN: 'rotated' } }],
  ['names of variables of the host', { envVars: ['HOME'] }],
  ['folder', { cwd: tmpdir() }],
])('part of the identity: %s', (_, launch) => {
  pool = hostPool()
  expect(lease(pool, 'plain', { launch }).connection).not.toBe(lease(pool, 'plain').connection)
})

test('an edit of anything in the policy of a running server reconnects nothing, and its limits count from then on', async () => {
  pool = hostPool()
  const log = newLog()
  const { connection } = lease(pool, 'slow-pages', { log })
  await connection.ready()
  const edits: Partial<ServerPolicy> = {
    required: true,
    startupTimeoutMs: 12_345,
    toolTimeoutMs: 1,
    toolTotalTimeoutMs: 2,
    enabledTools: new Set(['echo']),
    disabledTools: new Set(['crash']),
    defaultApprovalMode: 'deny',
    toolApprovalModes: new Map([['echo', 'prompt']]),
    trustAnnotations: false,
    outputSchema: 'report',
    maxResultBytes: 1000,
  }
  for (const [key, value] of Object.entries(edits)) {
    expect(DEFAULT_POLICY).toHaveProperty(key)
    expect(lease(pool, 'slow-pages', { log, policy: { [key]: value } }).connection).toBe(connection)
  }
  // nor does what governs the environment
  const on = connection.environment
  on.update({ permissions: 'read-only', approvalPolicy: 'never' })
  expect(lease(pool, 'slow-pages', { log, on }).connection).toBe(connection)
  expect([starts(log), connection.state]).toEqual([1, 'connected'])
})

test('another identity while calls are running: they end on the old process, later ones run on the new one', async () => {
  pool = hostPool({ idleCloseMs: 0 })
  const log = newLog()
  const old = lease(pool, 'plain', { log, env: { VERSION: '1' } })
  await old.connection.ready()
  const running = old.connection.request(...call('late', { ms: 500 }), LIMITS)
  const oldPid = old.connection.info!.pid!
  const next = lease(pool, 'plain', { log, env: { VERSION: '2' } })
  await next.connection.ready()
  const newPid = next.connection.info!.pid!
  expect([next.connection.key === old.connection.key, newPid === oldPid]).toEqual([true, false])
  await next.connection.request(...call('echo'), LIMITS)
  await running
  old.release()
  await until(() => !alive(oldPid), 'the old process is gone')
  expect([old.connection.state, next.connection.state, alive(newPid)]).toEqual(['closed', 'connected', true])
  expect(readLog(log).filter(({ event }) => event === 'call')).toMatchObject([
    { name: 'late', pid: oldPid },
    { name: 'echo', pid: newPid },
  ])
})

test('a replaced environment is another instance: its servers are started anew, those of the old one stay', async () => {
  pool = hostPool()
  const [before, after] = [environment('local', 'dev'), environment('local', 'dev')]
  const one = lease(pool, 'plain', { on: before })
  const two = lease(pool, 'plain', { on: after })
  await Promise.all([one.connection.ready(), two.connection.ready()])
  expect(one.connection.info!.pid).not.toBe(two.connection.info!.pid)
  expect([pool.has(one.connection.key, before), pool.has(one.connection.key, environment('local', 'dev'))]).toEqual([true, false])
})

test('leases are counted: the last one that is given back lets the server go, though it is still starting', async () => {
  pool = hostPool({ idleCloseMs: 0 })
  const log = newLog()
  const leases = Array.from({ length: 3 }, () => lease(pool, 'mute', { log }))
  const { connection } = leases[0]!
  const waiting = Promise.allSettled([connection.ready(), connection.ready()])
  await until(() => starts(log) === 1, 'it was started')
  leases[0]!.release()
  leases[0]!.release()
  leases[1]!.release()
  // a timer of 0 ms would have run by now
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(connection.state).toBe('starting')
  leases[2]!.release()
  expect((await waiting).map((one) => one.status === 'rejected' && one.reason.code)).toEqual(['SESSION_CLOSED', 'SESSION_CLOSED'])
  const [{ pid }] = readLog(log) as [{ pid: number }]
  await until(() => !alive(pid), 'its process is gone')
  expect([...pool.connections()]).toEqual([])
})

test('starts that hang do not hold up the others, and all who wait for one get the same error', async () => {
  pool = hostPool()
  const hanging = Array.from({ length: 20 }, (_, n) => lease(pool, 'mute', { name: `mute-${n}`, policy: { startupTimeoutMs: 120_000 } }))
  const ends = Promise.allSettled(hanging.map(({ connection }) => connection.ready()))
  const healthy = lease(pool, 'plain', { policy: { startupTimeoutMs: 60_000 } })
  expect((await healthy.connection.ready()).tools.size).toBeGreaterThan(0)
  expect(hanging.map(({ connection }) => connection.state)).toEqual(hanging.map(() => 'starting'))
  const [a, b] = await Promise.allSettled([hanging[0]!.connection.ready(), hanging[0]!.connection.ready(), pool.close()])
  expect([a, b]).toMatchObject([
    { status: 'rejected', reason: { code: 'SESSION_CLOSED' } },
    { status: 'rejected', reason: { code: 'SESSION_CLOSED' } },
  ])
  await ends
}, 60_000)
