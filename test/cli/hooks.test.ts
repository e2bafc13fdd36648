import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive, Place, until } from './tapline.ts'

/** A module whose plugin has one tap. */
const module = (tap: string, before = ''): string =>
  `${before}\nexport default { name: 'checked', apply({ hooks }) { hooks.approve.tap({ name: 't', methods: ['tools/call'] }, ${tap}) } }\n`
const kinds = (json: any): string[] => json.findings.map((one: any) => one.kind)

test('hooks check: nothing found, something found, and no plugin at all', async () => {
  await using place = await Place.make()
  await place.write('good.mjs', module('() => undefined'))
  await place.write('bad.mjs', `export default ({ word }) => ({ name: 'bad', apply({ hooks }) { hooks.resolve.tap('t', () => word) } })`)
  await place.write('none.mjs', 'export const a = 1\n')
  const [good, bad, none, missing, file, options] = await Promise.all([
    place.run(['hooks', 'check', 'good.mjs', '--calls', '50', '--json']),
    place.run(['hooks', 'check', './bad.mjs', '--calls', '50', '--seed', '0', '--options', '{"word":"x"}']),
    place.run(['hooks', 'check', 'none.mjs', '--json']),
    place.run(['hooks', 'check', 'no-such-package']),
    place.run(['hooks', 'check', 'goood.mjs']),
    place.run(['hooks', 'check', 'good.mjs', '--options', '[]']),
  ])
  expect(good.json).toMatchObject({ ok: true, findings: [], plugin: 'checked', taps: [{ hook: 'approve', tap: 't' }], seed: 1 })
  expect(good.status).toBe(0)
  expect(bad.stdout).toMatch(
    /^bad_return {2}resolve\/t\n {2}tap "t" of plugin "bad" returned a string in resolve\n {2}call: tools\/call notes/,
  )
  expect(bad.stdout).toMatch(/\n {2}do: Return .*\n\nbad: 1 error, 0 warnings \(\d+ calls, 1 taps, seed 0\)\n$/)
  expect(bad.status).toBe(1)
  expect(none.json.error).toMatchObject({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining('has no default export') })
  expect([none.status, missing.status, file.status, options.status]).toEqual([2, 2, 2, 2])
  // a file that is not there is not looked for among packages
  expect(file.stderr).toMatch(/goood\.mjs does not exist \(HOOK_BAD_PLUGIN\)\nCorrect the path/)
  expect(missing.stderr).toContain('HOOK_BAD_PLUGIN')
  expect(options.stderr).toContain('--options is no JSON object')
})

test('hooks check: what can only be seen from outside of the process', async () => {
  await using place = await Place.make()
  await place.write('spins.mjs', module(`({ arguments: { text } }) => { if (text === '') for (;;); }`))
  await place.write('leaves.mjs', module('() => process.exit(0)'))
  await place.write('talks.mjs', module(`() => { setImmediate(() => { throw new Error('stray') }) }`, `console.log('{"ok":"loaded"}')`))
  await place.write('early.mjs', 'process.exit(0)\n')
  await place.write(
    'parent.mjs',
    module(
      '() => undefined',
      `import { spawn } from 'node:child_process'
import fs from 'node:fs'
const child = spawn('sleep', ['600'], { stdio: 'inherit', detached: true })
fs.writeFileSync('left', String(child.pid))
child.unref()`,
    ),
  )
  const check = (file: string, ...more: string[]) => place.run(['hooks', 'check', file, '--calls', '50', '--json', ...more])
  const [spins, leaves, talks, allowed, parent, early] = await Promise.all([
    check('spins.mjs', '--limit', '5'),
    check('leaves.mjs'),
    check('talks.mjs'),
    check('talks.mjs', '--allow', 'writes_to_stdout', '--allow', 'throws'),
    check('parent.mjs'),
    check('early.mjs'),
  ])
  expect(spins.json.findings).toMatchObject([{ kind: 'blocks_event_loop', hook: 'approve', tap: 't', call: { method: 'tools/call' } }])
  expect(leaves.json.findings).toMatchObject([{ kind: 'throws', tap: 't', message: 'ended the process' }])
  expect(kinds(talks.json)).toEqual(['writes_to_stdout', 'throws'])
  expect(talks.json.findings[1].message).toContain('stray')
  expect(allowed.json).toMatchObject({ ok: true, findings: [] })
  // it ends although what the plugin started holds its pipes
  process.kill(Number(readFileSync(place.path('left'), 'utf8')))
  expect(parent.json).toMatchObject({ ok: true, plugin: 'checked' })
  expect([spins, leaves, talks].map(({ status }) => status)).toEqual([1, 1, 1])
  expect(early.json.error).toMatchObject({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining('ended its process') })
})

test('hooks check: an interruption ends the process of the plugin', async () => {
  await using place = await Place.make()
  const pidFile = place.path('pid')
  await place.write(
    'spins.mjs',
    module(`() => { for (;;); }`, `import fs from 'node:fs'\nfs.writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`),
  )
  const { child, done } = place.start(['hooks', 'check', 'spins.mjs', '--limit', '60'])
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '')
  const pid = Number(readFileSync(pidFile, 'utf8'))
  child.kill('SIGINT')
  expect((await done).status).toBe(130)
  await until(() => !isAlive(pid))
})

test('hooks init: overwrites nothing, and names a package as npm does', async () => {
  await using place = await Place.make()
  await place.write('full/notes.txt', 'mine')
  const [full, odd, file, named] = await Promise.all([
    place.run(['hooks', 'init', 'full']),
    place.run(['hooks', 'init', 'My Guard!']),
    place.run(['hooks', 'init', 'full/notes.txt']),
    place.run(['hooks', 'init', 'deep/Guards', '--name', 'my-guard', '--json']),
  ])
  expect(full.stderr).toMatch(/full is not empty \(CLI_USAGE\)/)
  expect(odd.stderr).toContain('"my guard!" is no name for a package')
  expect(file.stderr).toContain('cannot be written')
  expect([full, odd, file, named].map(({ status }) => status)).toEqual([2, 2, 2, 0])
  expect(existsSync(place.path('My Guard!'))).toBe(false)
  expect(readFileSync(place.path('full/notes.txt'), 'utf8')).toBe('mine')
  expect(named.json).toMatchObject({ name: 'my-guard', files: expect.arrayContaining(['package.json', 'src/plugin.js']) })
  expect(JSON.parse(readFileSync(place.path('deep/Guards/package.json'), 'utf8'))).toMatchObject({ name: 'my-guard', type: 'module' })
})

test.runIf(process.platform === 'linux')('hooks init ends where no folder can be made', async () => {
  await using place = await Place.make()
  // the system says of every new folder here that its parent is not there
  const { status, stderr } = await place.run(['hooks', 'init', '/proc/tapline-guard'])
  expect([status, stderr]).toEqual([2, expect.stringContaining('/proc/tapline-guard cannot be written')])
})

test('hooks list does not say that there are none where a file cannot be read', async () => {
  await using place = await Place.make()
  await place.write('hooks.json', '{"hooks": ')
  await place.write('c.json', { hooks: [{ commandHooks: 'hooks.json' }] })
  const { status, stderr } = await place.run(['hooks', 'list', '--config', 'c.json'])
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: .*hooks\.json:1:\d+: the JSON is broken/)])
})
