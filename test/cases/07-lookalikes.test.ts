/** Lines on stdout that look like answers, and answers in odd pieces. */
import { expect, test } from 'vitest'
import { Case, said, server, SLOW, text } from './driver.ts'
import { on, sessionOn } from './session.ts'

test('a byte order mark, CR LF, and characters cut in two: tools are listed and called', SLOW, async () => {
  await using at = new Case({ mcpServers: { s: server('crlf.mjs', ['s']) } })
  expect((await at.run(['tools'])).json.tools.map((row: any) => row.tool)).toEqual(['echo'])
  const out = await at.run(['call', '--server', 's', 'echo', '{"s":"ü"}'])
  expect([out.status, text(out)]).toEqual([0, 'é ü'])
  expect(said(await at.run(['status'], { json: false }))).toContain('connected')
})

test('what only looks like an answer is none, ten times over one connection', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'crlf.mjs')
  for (let i = 0; i < 10; i++)
    expect(await session.callTool(on('echo', { s: i }))).toMatchObject({ outcome: 'completed', forModel: { text: `é ${i}` } })
  expect(new Set(at.ledger({ ev: 'in' }).map(({ pid }) => pid)).size).toBe(1)
  expect(session.diagnostics.map(({ code }) => code)).toContain('stdout_noise')
})
