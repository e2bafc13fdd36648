/** Notices of changed tools that come while the server starts, as those of server-everything do. */
import { expect, test } from 'vitest'
import { Case, end, server, SLOW, text } from './driver.ts'

const one = (mode: string): object => ({ mcpServers: { s: server('changing.mjs', [mode]) } })

test.each(['once', 'grows', 'burst'])('%s: the first call finds its tool, by server and by visible name', SLOW, async (mode) => {
  await using at = new Case(one(mode))
  expect(text(await at.run(['call', '--server', 's', 'second']))).toBe('second')
  expect(text(await at.run(['call', 'mcp__s__second']))).toBe('second')
  expect(end(await at.run(['call', '--server', 's', 'third']))).toEqual([2, 'invalid_request', 'no'])
  const { json } = await at.run(['tools'])
  expect(json.tools.map((row: any) => row.tool)).toContain('first')
  expect(at.seen('tools/list').length).toBeLessThan(20)
})

test('a server that gives notice of every list can be called all the same', SLOW, async () => {
  await using at = new Case(one('always'))
  const out = await at.run(['call', '--server', 's', 'first'])
  expect(end(out)).toEqual([0, 'completed', 'yes'])
  expect(out.ms).toBeLessThan(20_000)
  expect(at.seen('tools/list').length).toBeLessThan(30)
})
