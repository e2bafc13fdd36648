// The entries say what is expected, and each kind of server has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
/** Every server of servers.json in one configuration: each does what its entry says, however the others are, and none is left afterwards. */
import { expect, test } from 'vitest'
import { Case, said, until } from '../cases/driver.ts'
import { REAL_SERVERS, realServer } from './installed.ts'

const ALL = { timeout: 240_000 } as const
const LIMIT_MS = 180_000

function everyServer(): Case {
  const at = new Case()
  at.write('tapline.json', { mcpServers: Object.fromEntries(REAL_SERVERS.map(({ name }) => [name, realServer(name, at.dir, at.servers)])) })
  return at
}
const byName = <T extends { readonly owner: { readonly name: string } }>(rows: readonly T[]): Map<string, T> =>
  new Map(rows.map((row) => [row.owner.name, row]))

test('tools: those that work list all their tools, each of the others has one useful line', ALL, async () => {
  await using at = everyServer()
  const ended = await at.run(['tools'], { limitMs: LIMIT_MS })
  const { status, json, stderr } = ended
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+/)
  expect(status, said(ended).slice(0, 2000)).toBe(0)
  const counts = new Map<string, number>()
  for (const { owner } of json.tools) counts.set(owner.name, (counts.get(owner.name) ?? 0) + 1)
  const errors = byName<any>(json.errors)
  for (const { name, expect: want, network } of REAL_SERVERS) {
    if (want.error === undefined) expect([name, counts.get(name), errors.get(name)]).toEqual([name, want.tools, undefined])
    else if (!network || errors.has(name)) {
      expect([name, errors.get(name)?.code]).toEqual([name, want.error.code])
      expect(errors.get(name).message).toMatch(new RegExp(`^${name} .*${want.error.message}`))
      expect(errors.get(name).remedy).toMatch(/./)
    }
  }
  const names = json.tools.map((tool: any) => tool.name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  await until(() => at.left().length === 0)
})

test('status: a row for each, with its revision, its name and all its lists', ALL, async () => {
  await using at = everyServer()
  const ended = await at.run(['status'], { limitMs: LIMIT_MS })
  expect(ended.status, said(ended).slice(0, 2000)).toBe(0)
  const { data, nextCursor } = ended.json
  expect(nextCursor).toBe(null)
  expect(data.map((row: any) => row.owner.name)).toEqual(REAL_SERVERS.map(({ name }) => name).toSorted())
  const rows = byName<any>(data)
  for (const { name, expect: want, network } of REAL_SERVERS) {
    const row = rows.get(name)
    if (network && row.runtimeStatus === 'connected') continue
    const { runtimeStatus, error, protocolVersion, serverInfo, capabilities } = row
    if (want.error !== undefined) {
      expect([name, runtimeStatus, error?.code, row.tools]).toEqual([name, 'failed', want.error.code, []])
      expect(error.message).toMatch(new RegExp(want.error.message))
      continue
    }
    const lists = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const
    expect({
      name,
      runtimeStatus,
      error,
      protocol: protocolVersion,
      serverInfo: { name: serverInfo.name, version: serverInfo.version },
    }).toEqual({
      name,
      runtimeStatus: 'connected',
      error: null,
      protocol: want.protocol,
      serverInfo: want.serverInfo,
    })
    expect([name, Object.keys(capabilities).toSorted()]).toEqual([name, want.capabilities])
    expect([name, ...lists.map((list) => row[list]?.length)]).toEqual([name, ...lists.map((list) => want[list] ?? 0)])
    expect([name, typeof row.pid, row.startMs > 0]).toEqual([name, 'number', true])
  }
  await until(() => at.left().length === 0)
})

test('doctor: names what is wrong with each that failed, and finds the rest in order', ALL, async () => {
  await using at = everyServer()
  const { status, json } = await at.run(['doctor'], { limitMs: LIMIT_MS })
  expect([status, json.ok]).toEqual([4, false])
  const checks = json.checks.filter((one: any) => one.check === 'server')
  expect(checks).toHaveLength(REAL_SERVERS.length)
  for (const { name, expect: want, network } of REAL_SERVERS) {
    if (network) continue
    const found = checks.find((one: any) => one.owner.name === name)
    expect([name, found.status]).toEqual([name, want.error === undefined ? 'ok' : 'failed'])
    if (want.error === undefined) expect(found.message).toContain(`${want.tools} tools`)
    else expect([found.code, found.message]).toEqual([want.error.code, expect.stringMatching(new RegExp(want.error.message))])
  }
  await until(() => at.left().length === 0)
})
