/** Pages of the status: limits and cursors of every kind, the order of names, and sixty servers of which a page starts five. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { Case, library, said, SLOW } from './driver.ts'

const launch = (name: string): { command: string; args: string[] } => ({
  command: 'sh',
  args: [path.join(import.meta.dirname, 'servers', 'tiny.sh'), name],
})
const tiny = (name: string): object => ({ ...launch(name), env_vars: ['CASE_LEDGER', 'CASE_MARK'] })
const servers = (names: readonly string[]): object => Object.fromEntries(names.map((name) => [name, tiny(name)]))
const rows = (json: any): string[] => json.data.map((row: any) => row.owner?.display ?? row.display)

test('a limit larger than all is all, without a cursor; one that is no whole number is a mistake, and starts nothing', SLOW, async () => {
  await using at = new Case({ mcpServers: servers(['a', 'b']) })
  for (const limit of ['3', '2', '999999999']) {
    const { status, json } = await at.run(['status', '--limit', limit])
    expect([status, rows(json), json.nextCursor]).toEqual([0, ['a', 'b'], null])
  }
  const before = at.ledger().length
  for (const limit of ['-1', '1.5', 'many', '', '1e9999', '0x2'])
    expect([limit, (await at.run(['status', '--limit', limit])).status]).toEqual([limit, 2])
  expect(at.ledger()).toHaveLength(before)
})

test('names in byte order, whatever their characters; no name is lost between two pages', SLOW, async () => {
  const names = ['a', 'A', 'a-b', 'a.b', 'a/b', 'a:b', 'a@b', 'aB', 'a_b', 'ab', 'Z', '_', '0', 'a0', '@x/y', '__proto__']
  await using at = new Case()
  at.write('tapline.json', `{"mcpServers": {${names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(tiny(name))}`).join(', ')}}}`)
  const seen: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { json } = await at.run(['status', '--limit', '7', ...(cursor === undefined ? [] : ['--cursor', cursor])])
    seen.push(...rows(json))
    cursor = json.nextCursor
  }
  expect(seen).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
})

test('a name outside of the set is a mistake of that server alone', SLOW, async () => {
  await using at = new Case({ mcpServers: { ...servers(['ok']), ...servers(['naïve', 'with space', '服务', '', 'x'.repeat(129)]) } })
  const out = await at.run(['status'])
  expect([out.status, rows(out.json)]).toEqual([0, ['ok']])
  const { json } = await at.run(['tools'])
  for (const name of ['naïve', 'with space', '服务']) expect(JSON.stringify([json.errors, json.diagnostics])).toContain(name)
})

test('a cursor from another filter, from the last row, changed or much too long', SLOW, async () => {
  await using at = new Case({
    environments: { e: { cwd: '.', mcpServers: servers(['b', 'c']) } },
    mcpServers: servers(['a', 'b', 'd']),
    features: { multi_environment_mcp: true },
  })
  const page = async (...args: string[]): Promise<any> => (await at.run(['status', '--limit', '1', ...args])).json
  const ofE = await page('--environment', 'e')
  expect(rows(ofE)).toEqual(['b (environment e)'])
  // it stands for a place in the order, not for a filter
  expect(rows(await page('--cursor', ofE.nextCursor))).toEqual(['c (environment e)'])
  expect(rows(await page('--cursor', ofE.nextCursor, '--server', 'd'))).toEqual(['d'])
  expect(rows(await page('--cursor', ofE.nextCursor, '--server', 'a'))).toEqual([])
  expect(rows((await at.run(['status', '--environment', 'thread-wide'])).json)).toEqual(['a', 'b', 'd'])
  const before = at.ledger().length
  const cursor: string = ofE.nextCursor
  for (const wrong of [
    `${cursor}x`,
    cursor.slice(0, -1),
    cursor.toUpperCase(),
    ` ${cursor}`,
    '',
    's1.',
    's1.W10',
    `s1.${Buffer.from('["a",1,null]').toString('base64url')}`,
    'x'.repeat(100_000),
  ]) {
    const out = await at.run(['status', '--cursor', wrong])
    expect([wrong.slice(0, 40), out.status, said(out)]).toEqual([wrong.slice(0, 40), 2, expect.stringContaining('INVALID_CURSOR')])
    expect(said(out).length).toBeLessThan(5000)
  }
  expect(at.ledger()).toHaveLength(before)
})

test('sixty servers, five a page, in one runtime: five new ones each, and none when all is asked again', SLOW, async () => {
  await using at = new Case()
  const names = Array.from({ length: 60 }, (_, index) => `s${String(index).padStart(2, '0')}`)
  const { openRuntime } = await library()
  const runtime = await openRuntime({ mcpServers: Object.fromEntries(names.map((name) => [name, { ...launch(name), env: at.servers }])) })
  try {
    const session = await runtime.openSession()
    const initialized = (): number => at.seen('initialize').length
    const seen: string[] = []
    let pages = 0
    for await (const page of session.statusPages({ limit: 5 })) {
      pages++
      seen.push(...page.data.map((row) => row.owner.name))
      expect(page.data.every((row) => row.runtimeStatus === 'connected' && row.tools.length === 1)).toBe(true)
      expect(initialized()).toBe(5 * pages)
      expect(at.left()).toHaveLength(5 * pages)
    }
    expect([pages, seen]).toEqual([12, names])
    // again, by page, at once, and in another session: nobody is started
    for await (const page of session.statusPages({ limit: 5 })) expect(page.data).toHaveLength(5)
    const other = await runtime.openSession()
    const [all, rest] = await Promise.all([session.status(), other.status({ limit: 7 })])
    expect([all.data.length, rest.data.length]).toEqual([60, 7])
    expect(initialized()).toBe(60)
    expect(new Set(at.seen('initialize').map(({ who }) => who)).size).toBe(60)
  } finally {
    await runtime.close()
  }
  expect(at.left()).toEqual([])
})

test('a page that is asked for twice at the same time starts its servers once', SLOW, async () => {
  await using at = new Case()
  const { openRuntime } = await library()
  const mcpServers = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { ...launch(name), env: at.servers }]))
  await using runtime = await openRuntime({ mcpServers })
  const session = await runtime.openSession()
  const pages = await Promise.all(Array.from({ length: 10 }, () => session.status({ limit: 2 })))
  expect(new Set(pages.map((page) => page.nextCursor)).size).toBe(1)
  expect(at.seen('initialize')).toHaveLength(2)
  await runtime.close()
  expect(at.left()).toEqual([])
})
