/** Names that a model provider, a terminal or an object of JavaScript does not take. */
import { expect, test } from 'vitest'
import { Case, end, said, server, SLOW, text } from './driver.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const listed = (json: any): string[] => json.tools.map((row: any) => row.tool)

test('right-to-left, combining and invisible characters, names of Object.prototype, one character', SLOW, async () => {
  const raw = [
    'حذف الملف',
    '\u202egnidaer',
    'cafe\u0301',
    'caf\u00e9',
    'read\u200b',
    'read',
    'Read',
    'ｒｅａｄ',
    '获取天气',
    '日本語ツール',
    '👩‍👩‍👧',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__proto__',
    'constructor',
    'length',
    'then',
    'a',
    '_',
    '-',
    '0',
    ' ',
  ]
  await using at = new Case({ mcpServers: { names: server('echo.mjs', ['names', JSON.stringify(raw)]) } })
  const { json } = await at.run(['tools'])
  expect(listed(json).sort()).toEqual([...raw].sort())
  expect(new Set(json.tools.map((row: any) => row.name)).size).toBe(raw.length)
  for (const row of json.tools) expect(row.name).toMatch(NAME)
  for (const tool of ['حذف الملف', 'cafe\u0301', 'caf\u00e9', 'read\u200b', 'toString', '__proto__', 'then', '_', ' ']) {
    const { name } = json.tools.find((row: any) => row.tool === tool)
    expect(text(await at.run(['call', name]))).toBe(`names ${tool}`)
  }
  expect(text(await at.run(['call', '--server', 'names', 'hasOwnProperty']))).toBe('names hasOwnProperty')
  // a name that is only equal after normalising is another one
  expect((await at.run(['call', '--server', 'names', 'ReaD'])).json.code).toBe('UNKNOWN_TOOL')
})

test('names that are equal after cleaning, and one that looks like the hashed form of another', SLOW, async () => {
  const raw = ['notion.search', 'notion/search', 'notion search', 'notion_search', 'notion:search', 'notion_search_0123456789ab']
  await using at = new Case({ mcpServers: { wiki: server('echo.mjs', ['wiki', JSON.stringify(raw)]) } })
  const first = (await at.run(['tools'])).json
  expect(first.tools).toHaveLength(raw.length)
  const nameOf = new Map<string, string>(first.tools.map((row: any) => [row.tool, row.name]))
  expect(new Set(nameOf.values()).size).toBe(raw.length)
  expect(nameOf.get('notion_search')).toBe('mcp__wiki__notion_search')
  for (const [tool, name] of nameOf) expect(text(await at.run(['call', name]))).toBe(`wiki ${tool}`)
  // a server that lists under another tool's visible name what it hopes will be called
  const spoof = [...raw, (nameOf.get('notion.search') as string).replace('mcp__wiki__', '')]
  at.write('tapline.json', { mcpServers: { wiki: server('echo.mjs', ['wiki', JSON.stringify(spoof)]) } })
  expect(text(await at.run(['call', nameOf.get('notion.search') as string]))).toBe('wiki notion.search')
})

test('a tool without a name, or with a name that is no text, is left out with a finding; its neighbours stay', SLOW, async () => {
  const tools = ['ok', { name: '', inputSchema: { type: 'object' } }, { inputSchema: {} }, { name: 7 }, { name: null }, { name: ['x'] }]
  await using at = new Case({ mcpServers: { gaps: server('echo.mjs', ['gaps', JSON.stringify(tools)]) } })
  const out = await at.run(['tools'])
  expect([out.status, listed(out.json)]).toEqual([0, ['ok']])
  expect(out.json.diagnostics).toMatchObject([{ code: 'bad_item', message: expect.stringContaining('5 items') }])
  expect(end(await at.run(['call', '--server', 'gaps', '']))).toEqual([2, 'invalid_request', 'no'])
  expect(at.calls()).toEqual([])
})

test('names with half a surrogate pair, which no hash can tell apart, are not offered; the others are', SLOW, async () => {
  const list = String.raw`["ok", "half\ud800", "half\udfff", "whole😀"]`
  await using at = new Case({ mcpServers: { half: server('echo.mjs', ['half', list]) } })
  const { status, json } = await at.run(['tools'])
  expect(status).toBe(0)
  expect(listed(json)).toEqual(['ok', 'whole😀'])
  expect(json.diagnostics).toMatchObject([{ code: 'name_collision' }])
})

test('servers called mcp__x, __proto__ and constructor beside x', SLOW, async () => {
  await using at = new Case()
  const one = (who: string): string => JSON.stringify(server('echo.mjs', [who, '["x__run", "run"]']))
  // written as text: an object literal would set the prototype
  at.write(
    'tapline.json',
    `{"mcpServers": {${['x', 'mcp__x', '__proto__', 'constructor', 'a/b', 'a.b'].map((name) => `${JSON.stringify(name)}: ${one(name)}`).join(', ')}}}`,
  )
  const { json } = await at.run(['tools'])
  expect([...new Set<string>(json.tools.map((row: any) => row.owner.name))].sort()).toEqual([
    '__proto__',
    'a.b',
    'a/b',
    'constructor',
    'mcp__x',
    'x',
  ])
  expect(new Set(json.tools.map((row: any) => row.name)).size).toBe(12)
  for (const row of json.tools.filter(({ tool }: any) => tool === 'run')) {
    expect(text(await at.run(['call', row.name]))).toBe(`${row.owner.name} run`)
    expect(text(await at.run(['call', '--server', row.owner.name, 'run']))).toBe(`${row.owner.name} run`)
  }
})

test('three hundred names that agree in their first 200 characters', SLOW, async () => {
  const raw = Array.from({ length: 300 }, (_, index) => `${'x'.repeat(200)}${index}`)
  await using at = new Case({ mcpServers: { a_server_with_quite_a_long_name: server('echo.mjs', ['long', JSON.stringify(raw)]) } })
  const { json } = await at.run(['tools'])
  expect(new Set(json.tools.map((row: any) => row.name)).size).toBe(300)
  for (const row of json.tools) expect(row.name).toMatch(NAME)
  const last = json.tools.find((row: any) => row.tool === raw[299])
  expect(text(await at.run(['call', last.name]))).toBe(`long ${raw[299]}`)
})

test('what people see of such names holds no control character', SLOW, async () => {
  const raw = ['clear\u001b[2J', 'tab\there', 'new\nline', 'bell\u0007', '\u202eevil', '\u009b31m']
  await using at = new Case({ mcpServers: { esc: server('echo.mjs', ['esc', JSON.stringify(raw)]) } })
  const people = await at.run(['tools'], { json: false })
  expect(people.stdout.split('\n').filter((line) => line.includes('mcp__esc__'))).toHaveLength(raw.length)
  expect(said(people).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
  const unknown = await at.run(['call', '--server', 'esc', 'no\u001b[2Jsuch'], { json: false })
  expect(said(unknown)).not.toContain('\u001b')
})
