/** Lists of tools that are switched on and off: exact names, both lists at once, odd case, per environment. */
import { expect, test } from 'vitest'
import { Case, end, said, server, SLOW, text } from './driver.ts'

const one = (tools: readonly string[], more: object): object => ({
  mcpServers: { mail: server('echo.mjs', ['mail', JSON.stringify(tools)], more) },
})
const listed = async (at: Case): Promise<string[]> => (await at.run(['tools'])).json.tools.map((row: any) => row.tool)
const call = (at: Case, tool: string, ...more: string[]): ReturnType<Case['run']> => at.run(['call', '--server', 'mail', tool, ...more])

test('a name in the list is a name, not a pattern', SLOW, async () => {
  const tools = ['read', 'read_all', 'read*', '*', 'r?ad', '[r]ead', 'delete_all', '.*']
  await using at = new Case(one(tools, { disabledTools: ['read*', '*', '.*', '[r]ead'] }))
  expect(await listed(at)).toEqual(['read', 'read_all', 'r?ad', 'delete_all'])
  for (const tool of ['read*', '*', '.*', '[r]ead']) {
    const out = await call(at, tool)
    expect(end(out)).toEqual([3, 'refused', 'no'])
    expect(out.json.code).toBe('CALL_TOOL_DISABLED')
  }
  expect(text(await call(at, 'read_all'))).toBe('mail read_all')
  at.write('tapline.json', one(tools, { enabledTools: ['*'] }))
  expect(await listed(at)).toEqual(['*'])
  expect(end(await call(at, 'read'))).toEqual([3, 'refused', 'no'])
})

test('whoever meant a pattern, a visible name or another case is told that the entry fits no tool', SLOW, async () => {
  await using at = new Case(one(['read', 'delete_all'], { disabledTools: ['delete_*', 'mcp__mail__delete_all', 'Delete_All'] }))
  const { json } = await at.run(['tools'])
  expect(json.tools.map((row: any) => row.tool)).toEqual(['read', 'delete_all'])
  for (const entry of ['delete_*', 'mcp__mail__delete_all', 'Delete_All']) expect(JSON.stringify(json.diagnostics)).toContain(entry)
})

test('both lists at once: what is switched off stays off; an empty list switches everything off', SLOW, async () => {
  const tools = ['read', 'write', 'delete_all']
  await using at = new Case(one(tools, { enabledTools: ['read', 'delete_all'], disabledTools: ['delete_all'] }))
  expect(await listed(at)).toEqual(['read'])
  for (const tool of ['delete_all', 'write']) expect(end(await call(at, tool, '--approve', 'once'))).toEqual([3, 'refused', 'no'])
  at.write('tapline.json', one(tools, { enabledTools: [] }))
  expect(await listed(at)).toEqual([])
  expect(end(await call(at, 'read'))).toEqual([3, 'refused', 'no'])
  at.write('tapline.json', one(tools, { disabledTools: [] }))
  expect(await listed(at)).toEqual(tools)
})

test('names that differ in case or in white space are different names', SLOW, async () => {
  const tools = ['Delete', 'delete', 'DELETE', 'delete ', 'dele\u0301te', 'del\u00e9te']
  await using at = new Case(one(tools, { disabledTools: ['delete', 'del\u00e9te'] }))
  expect(await listed(at)).toEqual(['Delete', 'DELETE', 'delete ', 'dele\u0301te'])
  expect(text(await call(at, 'delete '))).toBe('mail delete ')
  expect(end(await call(at, 'delete'))).toEqual([3, 'refused', 'no'])
  expect(end(await call(at, 'dElete'))).toEqual([2, 'invalid_request', 'no'])
})

test('a tool that is off has no visible name, not even the hashed one, and its neighbour does not get it', SLOW, async () => {
  await using at = new Case(one(['a.b', 'a/b', 'a_b'], {}))
  const { json } = await at.run(['tools'])
  const nameOf = new Map<string, string>(json.tools.map((row: any) => [row.tool, row.name]))
  at.write('tapline.json', one(['a.b', 'a/b', 'a_b'], { disabledTools: ['a.b'] }))
  const out = await at.run(['call', nameOf.get('a.b') as string])
  expect([2, 3]).toContain(out.status)
  expect(at.calls()).toEqual([])
  expect(text(await at.run(['call', nameOf.get('a/b') as string]))).toBe('mail a/b')
  expect(text(await at.run(['call', nameOf.get('a_b') as string]))).toBe('mail a_b')
})

test('a filter of one environment leaves the server of the other one alone; approval does not lift it', SLOW, async () => {
  const files = (who: string, more: object): object => ({
    cwd: '.',
    permissions: 'full-access',
    mcpServers: { files: server('echo.mjs', [who, '["read","drop"]'], more) },
  })
  await using at = new Case({
    environments: {
      prod: files('prod', { disabledTools: ['drop'], tools: { drop: { approvalMode: 'approve' } } }),
      test: files('test', {}),
    },
    features: { multi_environment_mcp: true },
  })
  const call2 = (environment: string): ReturnType<Case['run']> =>
    at.run(['call', '--server', 'files', '--environment', environment, 'drop', '--approve', 'once'])
  expect(end(await call2('prod'))).toEqual([3, 'refused', 'no'])
  expect(text(await call2('test'))).toBe('test drop')
  expect(at.calls()).toEqual(['test drop'])
  const { json } = await at.run(['status'])
  expect(json.data.map((row: any) => [row.owner?.environmentId ?? row.environmentId, row.tools.length])).toEqual([
    ['prod', 1],
    ['test', 2],
  ])
})

test('lists that are none are a mistake of that server alone, told with its place', SLOW, async () => {
  await using at = new Case({
    mcpServers: {
      word: server('echo.mjs', ['word'], { disabledTools: 'delete_all' }),
      numbers: server('echo.mjs', ['numbers'], { enabledTools: [1, null] }),
      ok: server('echo.mjs', ['ok']),
    },
  })
  const out = await at.run(['tools'])
  expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['ok'])
  expect(out.json.errors.map((entry: any) => entry.owner.name).sort()).toEqual(['numbers', 'word'])
  expect(said(out)).toMatch(/tapline\.json:\d+:\d+/)
  expect(at.ledger({ ev: 'start' }).map(({ who }) => who)).toEqual(['ok'])
})
