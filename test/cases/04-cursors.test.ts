/** Lists whose cursors are no text, empty, circular, growing; pages that fail, hang or hold no list. */
import { expect, test } from 'vitest'
import { Case, server, SLOW } from './driver.ts'

const names = (json: any, who: string): string[] => json.tools.filter((row: any) => row.owner.name === who).map((row: any) => row.tool)
const pages = (count: number): string[] => Array.from({ length: count }, (_, index) => `page${index + 1}`)
const finding = (json: any, who: string): string =>
  JSON.stringify([...json.errors, ...json.diagnostics].filter((entry: any) => entry.owner?.name === who))
const all = (modes: readonly string[], more: object = {}): object => ({
  mcpServers: Object.fromEntries(modes.map((mode) => [mode, server('pages.mjs', [mode], more)])),
})

test('a cursor that is a number, an object, a list or true ends the list, and a finding says so', SLOW, async () => {
  const modes = ['number', 'zero', 'object', 'array', 'true', 'false', 'huge', 'null']
  await using at = new Case(all(modes))
  const { status, json } = await at.run(['tools'])
  expect(status).toBe(0)
  for (const mode of modes) {
    expect([mode, names(json, mode)]).toEqual([mode, ['page1']])
    expect([mode, at.seen('tools/list', { who: mode }).length]).toEqual([mode, 1])
  }
  // JSON.stringify writes null for a number that is too large
  for (const mode of ['number', 'zero', 'object', 'array', 'true', 'false'])
    expect([mode, finding(json, mode)]).toEqual([mode, expect.stringContaining('cursor')])
  for (const mode of ['null', 'huge']) expect(finding(json, mode)).toBe('[]')
})

test('the empty text is a cursor: sent back once, it brings the second page; for ever, it ends the list', SLOW, async () => {
  await using at = new Case(all(['empty-once', 'empty-for-ever']))
  const { json } = await at.run(['tools'])
  expect(names(json, 'empty-once')).toEqual(['page1', 'page2'])
  expect(at.seen('tools/list', { who: 'empty-once' }).map(({ params }) => params?.cursor)).toEqual([undefined, ''])
  expect(names(json, 'empty-for-ever')).toEqual(['page1', 'page2'])
  expect(at.seen('tools/list', { who: 'empty-for-ever' })).toHaveLength(2)
})

test(
  'a circle of ten pages is gone round once; a cursor that grows for ever stops at the cap, and is not repeated in the finding',
  SLOW,
  async () => {
    await using at = new Case(all(['ten', 'growing']))
    const out = await at.run(['tools'])
    expect(names(out.json, 'ten')).toEqual(pages(10))
    expect(at.seen('tools/list', { who: 'ten' }).length).toBeLessThanOrEqual(11)
    expect(finding(out.json, 'ten')).toContain('came again')
    const asked = at.seen('tools/list', { who: 'growing' }).length
    expect(asked).toBeGreaterThan(10)
    expect(asked).toBeLessThanOrEqual(64)
    expect(names(out.json, 'growing')).toEqual(pages(asked))
    expect(finding(out.json, 'growing')).toMatch(/cut short/)
    expect(out.stdout.length).toBeLessThan(200_000)
  },
)

test('resources, templates and prompts without end, where the tools are well', SLOW, async () => {
  await using at = new Case(all(['resources']))
  const row = (await at.run(['status', '--detail', 'full'])).json.data[0]
  expect([row.resources.length, row.resourceTemplates.length, row.prompts.length, row.tools.length]).toEqual([1, 1, 1, 1])
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list'])
    expect(at.seen(method).length).toBeLessThanOrEqual(64)
  const { status, json } = await at.run(['resources', 'list'])
  expect([status, json.resources.length]).toEqual([0, 1])
})

test(
  'a page that fails, hangs or holds no list: what was read stays, a finding names the server, and nobody else is harmed',
  SLOW,
  async () => {
    await using at = new Case(all(['fails-at-3', 'hangs-at-2', 'no-list', 'null-list', 'well'], { startupTimeoutSec: 8 }))
    const out = await at.run(['tools'])
    expect(names(out.json, 'well')).toEqual(pages(5))
    expect(names(out.json, 'fails-at-3')).toEqual(pages(2))
    expect(finding(out.json, 'fails-at-3')).toContain('database is locked')
    expect(names(out.json, 'hangs-at-2')).toEqual(['page1'])
    expect(finding(out.json, 'hangs-at-2')).toMatch(/cut short/)
    for (const mode of ['no-list', 'null-list']) {
      expect(names(out.json, mode)).toEqual(['page1', 'page3', 'page4', 'page5'])
      expect(finding(out.json, mode)).toContain('tools')
    }
    expect(out.ms).toBeLessThan(15_000)
  },
)

test('a server that ends in the middle of its list has none, and says why', SLOW, async () => {
  await using at = new Case(all(['quits-at-2', 'well']))
  const { json } = await at.run(['tools'])
  expect(names(json, 'well')).toEqual(pages(5))
  expect(names(json, 'quits-at-2')).toEqual([])
  expect(json.errors).toHaveLength(1)
  expect(JSON.stringify(json.errors)).toMatch(/quits-at-2.*\b7\b/)
})
