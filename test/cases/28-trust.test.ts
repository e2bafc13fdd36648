/** Files that are found: through links, replaced by links, beside each other, edited through what they name, or no files at all. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Ended } from './driver.ts'
import { Case, said, server, SLOW, text } from './driver.ts'

const FOUND = { config: null } as const
const file = (who: string, more: object = {}): object => ({ mcpServers: { s: server('echo.mjs', [who]) }, ...more })
const call = (at: Case, cwd = 'project'): Promise<Ended> => at.run(['call', '--server', 's', 'whoami'], { ...FOUND, cwd: at.path(cwd) })
const trust = async (at: Case, dir: string): Promise<void> => expect((await at.run(['trust', at.path(dir)], FOUND)).status).toBe(0)

/** Refused as untrusted: exit status 2, the command to run, nothing started. */
function refused(at: Case, out: Ended, starts = 0): void {
  expect([out.status, said(out)]).toEqual([2, expect.stringContaining('tapline trust ')])
  expect(at.ledger({ ev: 'start' })).toHaveLength(starts)
}

/** A hook that says when it is imported and refuses nothing. */
const HOOK = `import fs from 'node:fs'
fs.appendFileSync(new URL('./imported.txt', import.meta.url), 'x')
export default { name: 'seen', apply() {} }
`
const imports = (at: Case): number => (at.exists('project/imported.txt') ? at.read('project/imported.txt').length : 0)

test('trust given through a link holds in the folder itself, and the other way round', SLOW, async () => {
  await using at = new Case()
  at.write('project/tapline.json', file('P'))
  symlinkSync(at.path('project'), at.path('link'))
  refused(at, await call(at, 'link'))
  await trust(at, 'link')
  expect(text(await call(at))).toBe('P whoami')
  expect(text(await call(at, 'link'))).toBe('P whoami')
  expect((await at.run(['untrust', at.path('project')], FOUND)).status).toBe(0)
  refused(at, await call(at, 'link'), 2)
})

test('a trusted file that becomes a link, or another folder behind the same link, asks again', SLOW, async () => {
  await using at = new Case()
  at.write('project/tapline.json', file('P'))
  at.write('elsewhere/evil.json', file('evil'))
  at.write('other/tapline.json', file('other'))
  symlinkSync(at.path('project'), at.path('link'))
  await trust(at, 'link')
  expect(text(await call(at, 'link'))).toBe('P whoami')
  rmSync(at.path('project/tapline.json'))
  symlinkSync(at.path('elsewhere/evil.json'), at.path('project/tapline.json'))
  refused(at, await call(at), 1)
  // trusted as a link, then the file behind it changes
  await trust(at, 'project')
  expect(text(await call(at))).toBe('evil whoami')
  at.write('elsewhere/evil.json', file('worse'))
  refused(at, await call(at), 2)
  rmSync(at.path('link'))
  symlinkSync(at.path('other'), at.path('link'))
  refused(at, await call(at, 'link'), 2)
})

test('a folder that is moved or copied takes no trust along', SLOW, async () => {
  await using at = new Case()
  at.write('project/tapline.json', file('P'))
  await trust(at, 'project')
  renameSync(at.path('project'), at.path('moved'))
  refused(at, await call(at, 'moved'))
  expect(at.exists('project')).toBe(false)
})

test('a hook module that is edited, removed or replaced by a link after the trust is not imported', SLOW, async () => {
  await using at = new Case()
  at.write('project/tapline.json', file('P', { hooks: ['./hook.mjs'] }))
  at.write('project/hook.mjs', HOOK)
  refused(at, await call(at))
  expect(imports(at)).toBe(0)
  await trust(at, 'project')
  expect(text(await call(at))).toBe('P whoami')
  expect(imports(at)).toBe(1)
  at.write('project/hook.mjs', `${HOOK}// one line more\n`)
  refused(at, await call(at), 1)
  rmSync(at.path('project/hook.mjs'))
  refused(at, await call(at), 1)
  at.write('evil.mjs', `${HOOK}// elsewhere\n`)
  symlinkSync(at.path('evil.mjs'), at.path('project/hook.mjs'))
  refused(at, await call(at), 1)
  expect(imports(at)).toBe(1)
  // the words that were trusted are trusted again
  rmSync(at.path('project/hook.mjs'))
  at.write('project/hook.mjs', HOOK)
  expect(text(await call(at))).toBe('P whoami')
})

test('a hook module that was not there when the file was trusted', SLOW, async () => {
  await using at = new Case()
  at.write('project/tapline.json', file('P', { hooks: ['./hook.mjs'] }))
  await trust(at, 'project')
  at.write('project/hook.mjs', HOOK)
  refused(at, await call(at))
  expect(imports(at)).toBe(0)
})

test(
  '.mcp.json beside tapline.json: both have to be trusted, tapline.json is the stronger, and a new neighbour asks again',
  SLOW,
  async () => {
    await using at = new Case()
    at.write('project/tapline.json', file('tapline'))
    await trust(at, 'project')
    expect(text(await call(at))).toBe('tapline whoami')
    at.write('project/.mcp.json', { mcpServers: { s: server('echo.mjs', ['mcp']), more: server('echo.mjs', ['more']) } })
    const out = await call(at)
    refused(at, out, 1)
    expect(said(out)).toContain('.mcp.json')
    await trust(at, 'project')
    expect(text(await call(at))).toBe('tapline whoami')
    const { json } = await at.run(['tools'], { ...FOUND, cwd: at.path('project') })
    expect(json.tools.map((row: any) => row.owner.name).sort()).toEqual(['more', 's'])
    expect(JSON.stringify(json.diagnostics)).toMatch(/shadowed.*\.mcp\.json/)
    expect(at.ledger({ ev: 'start', who: 'mcp' })).toEqual([])
  },
)

test('files of every folder on the way up count, each with a trust of its own; the nearest is the strongest', SLOW, async () => {
  await using at = new Case()
  at.write('project/tapline.json', { mcpServers: { s: server('echo.mjs', ['outer']), o: server('echo.mjs', ['o']) } })
  at.write('project/a/b/tapline.json', file('inner'))
  const deep = 'project/a/b/c'
  mkdirSync(at.path(deep))
  const first = await call(at, deep)
  refused(at, first)
  for (const folder of ['project', 'project/a/b']) expect(said(first)).toContain(`tapline trust ${at.path(folder)}`)
  await trust(at, 'project/a/b')
  refused(at, await call(at, deep))
  await trust(at, 'project')
  expect(text(await call(at, deep))).toBe('inner whoami')
  expect(text(await call(at, 'project/a'))).toBe('outer whoami')
})

test(
  'nothing of a file is read before it is trusted: no message repeats it, no variable is filled in, no mistake in it is told',
  SLOW,
  async () => {
    await using at = new Case()
    at.write(
      'project/tapline.json',
      '{"mcpServers": {"${HOME}": {"command": "sh", "args": ["-c", "touch ran"], "secret": "word-in-the-file"}, }, }',
    )
    const out = await at.run(['tools'], { ...FOUND, cwd: at.path('project') })
    refused(at, out)
    expect(said(out)).not.toMatch(/word-in-the-file|touch ran/)
    expect(at.exists('project/ran')).toBe(false)
  },
)

test('a named pipe, a folder, a link to nowhere or in a circle, bytes that are no text: an error, and no waiting', SLOW, async () => {
  await using at = new Case()
  for (const folder of ['pipe', 'folder', 'nowhere', 'circle', 'bytes', 'empty']) mkdirSync(at.path(folder))
  execFileSync('mkfifo', [at.path('pipe/tapline.json')])
  mkdirSync(at.path('folder/tapline.json'))
  symlinkSync('/no/such/file', at.path('nowhere/tapline.json'))
  symlinkSync('tapline.json', at.path('circle/tapline.json'))
  at.write('bytes/tapline.json', Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x00, 0xd8]))
  at.write('empty/tapline.json', '')
  for (const folder of ['pipe', 'folder', 'nowhere', 'circle', 'bytes', 'empty']) {
    const found = await at.run(['tools'], { ...FOUND, cwd: at.path(folder) })
    expect([folder, found.status, found.ms < 10_000]).toEqual([folder, 2, true])
    const named = await at.run(['tools'], { config: path.join(folder, 'tapline.json') })
    expect([folder, named.status, named.ms < 10_000]).toEqual([folder, 2, true])
    expect([folder, named.json.error.code]).toEqual([folder, expect.stringMatching(/^CONFIG_/)])
    expect(said(named) + said(found)).not.toMatch(/\n\s+at |bug in tapline/)
  }
})

test('a file with a byte order mark, and one in UTF-16, as editors on Windows write them', SLOW, async () => {
  await using at = new Case()
  const words = JSON.stringify(file('P'))
  at.write('bom.json', `\uFEFF${words}`)
  at.write('utf16.json', Buffer.from(`\uFEFF${words}`, 'utf16le'))
  expect(text(await at.run(['call', '--server', 's', 'whoami'], { config: 'bom.json' }))).toBe('P whoami')
  const out = await at.run(['call', '--server', 's', 'whoami'], { config: 'utf16.json' })
  expect([out.status, said(out)]).toEqual([2, expect.stringContaining('save it as UTF-8')])
})
