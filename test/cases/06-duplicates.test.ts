/** One name that a server lists more than once: over pages, hundreds of times, with other annotations. */
import { expect, test } from 'vitest'
import { Case, end, server, SLOW, text } from './driver.ts'

const one = (mode: string, more: object = {}): object => ({ mcpServers: { dup: server('twice.mjs', [mode], more) } })

test('the definition of the first page counts, over four pages', SLOW, async () => {
  await using at = new Case(one('pages'))
  const { json } = await at.run(['tools'])
  expect(json.tools.map((row: any) => row.tool).sort()).toEqual(['only1', 'only2', 'only3', 'only4', 'run'])
  expect(json.tools.find((row: any) => row.tool === 'run').description).toBe('takes arg1')
  expect(json.diagnostics).toMatchObject([{ code: 'duplicate_tool', message: expect.stringMatching(/dup.*\brun\b/) }])
  expect(text(await at.run(['call', '--server', 'dup', 'run', '{"arg1":"x"}']))).toBe('run{"arg1":"x"}')
  expect(end(await at.run(['call', '--server', 'dup', 'run', '{"arg4":"x"}']))).toEqual([2, 'invalid_request', 'no'])
  expect(at.calls()).toEqual(['dup run'.replace('dup', 'pages')])
})

test('five hundred definitions of one name, and five hundred names twice: each tool once, few findings', SLOW, async () => {
  await using at = new Case(one('many'))
  const out = await at.run(['tools'])
  expect(out.json.tools).toHaveLength(501)
  expect(new Set(out.json.tools.map((row: any) => row.name)).size).toBe(501)
  expect(out.json.tools[0].description).toBe('takes arg0')
  expect(out.json.tools.filter((row: any) => row.tool === 'twice7')).toMatchObject([{ description: 'number 7' }])
  const duplicates = out.json.diagnostics.filter((entry: any) => entry.code === 'duplicate_tool')
  expect(duplicates.length).toBeGreaterThan(0)
  expect(duplicates.length).toBeLessThanOrEqual(20)
  expect(text(await at.run(['call', '--server', 'dup', 'run', '{"arg0":"x"}']))).toBe('run{"arg0":"x"}')
})

test('the same definition again, in whatever order of its members, is no finding', SLOW, async () => {
  await using at = new Case(one('same'))
  const { json } = await at.run(['tools'])
  expect(json.tools.map((row: any) => row.tool).sort()).toEqual(['other', 'run'])
  expect(json.diagnostics).toEqual([])
})

test('a second definition cannot soften the first: what was destructive is still asked about', SLOW, async () => {
  await using at = new Case(one('softer', { defaultToolsApprovalMode: 'auto' }))
  expect(end(await at.run(['call', '--server', 'dup', 'run', '{"a":"x"}']))).toEqual([3, 'no_approver', 'no'])
  expect(at.calls()).toEqual([])
  at.write('tapline.json', one('harder', { defaultToolsApprovalMode: 'auto' }))
  const { json } = await at.run(['tools'])
  expect(json.tools[0].annotations).toEqual({ readOnlyHint: true })
  expect(json.diagnostics).toMatchObject([{ code: 'duplicate_tool' }])
})

test('names that differ in white space, case or an accent are different tools', SLOW, async () => {
  await using at = new Case(one('near'))
  const { json } = await at.run(['tools'])
  expect(json.tools.map((row: any) => row.tool)).toEqual(['run', 'run ', ' run', 'RUN', 'run\t', 'rün'])
  expect(json.diagnostics).toEqual([])
  for (const tool of ['run ', 'run\t']) expect(text(await at.run(['call', '--server', 'dup', tool]))).toBe(`${tool}{}`)
})
