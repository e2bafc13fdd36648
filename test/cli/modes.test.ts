/** Modes of hook plugins through the built command line, on a real server. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Place, server } from './tapline.ts'

const LIMIT = 60_000
const PLUGIN = `import { deny } from 'PLUGIN'
const ACTS = {
  denies: async () => { await new Promise((resolve) => setTimeout(resolve, 200)); return deny('no') },
  throws: async () => { throw new Error('boom') },
  hangs: () => new Promise(() => {}),
  moves: async (call) => { try { call.owner = null } catch {} },
}
export default ({ act }) => ({ name: act, apply: ({ hooks }) => hooks.approve.tapPromise({ name: 'tap', timeoutMs: 500 }, ACTS[act]) })`

const ALL = ['denies', 'throws', 'hangs', 'moves']

test('plugins that deny, throw, hang and write to the owner change no call in shadow, and the trace has what they would have done', {
  timeout: LIMIT,
}, async () => {
  await using at = await Place.make()
  const mode = { flag: 'guard_mode', default: 'enforce' }
  await at.write('c.json', {
    mcpServers: { files: { ...server('A'), defaultToolsApprovalMode: 'approve' } },
    hooks: ALL.map((act) => ({ module: './guard.mjs', options: { act }, mode })),
  })
  await at.write('guard.mjs', PLUGIN.replace('PLUGIN', new URL('../../dist/plugin.js', import.meta.url).href))
  const call = (...more: string[]): ReturnType<Place['run']> =>
    at.run(['--config', 'c.json', '--json', 'call', '--server', 'files', 'echo', '{"a":1}', ...more])
  const shadow = await call('--flag', 'guard_mode=shadow', '--trace', '--trace-file', 't.jsonl')
  expect([shadow.status, shadow.json]).toMatchObject([0, { outcome: 'completed', result: { content: [{ text: '{"a":1}' }] } }])
  const names = (all: readonly { plugin: string; wouldHave: readonly string[] }[]): unknown =>
    Object.fromEntries(all.map(({ plugin, wouldHave }) => [plugin, wouldHave]))
  const would = { denies: ['refused'], throws: ['failed'], hangs: ['failed'], moves: ['violated'] }
  expect(names(shadow.json.trace.shadow)).toEqual(would)
  const [session, record] = (await readFile(at.path('t.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(session.plugins).toEqual(ALL.map((name) => ({ name, mode: 'shadow', flag: 'guard_mode' })))
  expect(names(record.trace.shadow)).toEqual(would)
  // the default is for the day when nothing says otherwise
  expect((await call()).json).toMatchObject({ outcome: 'refused', by: 'tap', reason: 'no' })
  expect((await call('--flag', 'guard_mode=off')).json).toMatchObject({ outcome: 'completed' })
  const flags = await at.run(['--config', 'c.json', '--json', 'flags', 'list', '--flag', 'guard_mode=shadow'])
  expect(JSON.stringify(flags.json)).toContain('"guard_mode"')
  const wrong = await call('--flag', 'guard_mode=on')
  expect([wrong.status, wrong.json.error]).toMatchObject([2, { code: 'FLAG_BAD_VALUE' }])
})
