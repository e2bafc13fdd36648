// Files of command hooks that a configuration names: nothing of them runs before somebody trusted them, and what changed asks again.
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { memoryStore, openRuntime } from '../../../src/index.ts'
import type { Store } from '../../../src/index.ts'
import { placesOf } from '../../../src/plugins/command-hooks/hook-env.ts'
import { readHookFile } from '../../../src/plugins/command-hooks/hook-file.ts'
import { distrustOf, trustHooks, untrustHooks } from '../../../src/plugins/command-hooks/hook-trust.ts'
import { newFolder, type Written, writeHooks } from './kit.ts'

const GUARD = { command: 'node ./scripts/guard.mjs "$CLAUDE_PROJECT_DIR"/scripts/list.txt', matcher: 'mcp__db__.*' }

function project(events: Readonly<Record<string, readonly Written[]>> = { PreToolUse: [GUARD] }): { folder: string; file: string } {
  const folder = newFolder()
  mkdirSync(path.join(folder, 'scripts'))
  writeFileSync(path.join(folder, 'scripts/guard.mjs'), '// guards\n')
  writeFileSync(path.join(folder, 'scripts/list.txt'), 'drop\n')
  return { folder, file: writeHooks(folder, events) }
}

const subject = async (file: string) => ({ path: file, hooks: (await readHookFile(file)).hooks, places: placesOf(path.dirname(file)) })
const why = async (store: Store, file: string): Promise<string | null> => distrustOf(store, await subject(file))
const trust = async (store: Store, file: string): Promise<string> => trustHooks(store, await subject(file))

test.each<[string, (folder: string) => void, string | null]>([
  ['nothing', () => {}, null],
  ['a status message', (folder) => writeHooks(folder, { PreToolUse: [{ ...GUARD, statusMessage: 'looking' }] }), null],
  ['hooks of other events', (folder) => writeHooks(folder, { PreToolUse: [GUARD], Stop: [{ command: 'say done' }] }), null],
  ['the command', (folder) => writeHooks(folder, { PreToolUse: [{ ...GUARD, command: 'true' }] }), 'PreToolUse[0].hooks[0] is another one'],
  ['the matcher', (folder) => writeHooks(folder, { PreToolUse: [{ ...GUARD, matcher: 'none' }] }), 'is another one'],
  ['what becomes of a failure', (folder) => writeHooks(folder, { PreToolUse: [{ ...GUARD, onFailure: 'continue' }] }), 'is another one'],
  ['async', (folder) => writeHooks(folder, { PreToolUse: [{ ...GUARD, async: true }] }), 'is another one'],
  ['the event', (folder) => writeHooks(folder, { PostToolUse: [GUARD] }), 'PostToolUse[0].hooks[0] is another one'],
  [
    'one more hook',
    (folder) => writeHooks(folder, { PreToolUse: [GUARD, { command: 'curl x' }] }),
    'PreToolUse[1].hooks[0] is another one',
  ],
  ['a script', (folder) => writeFileSync(path.join(folder, 'scripts/guard.mjs'), '// lets everything through\n'), 'scripts/guard.mjs'],
  ['a script that is gone', (folder) => rmSync(path.join(folder, 'scripts/guard.mjs')), 'scripts/guard.mjs'],
  ['a file that the command reads', (folder) => writeFileSync(path.join(folder, 'scripts/list.txt'), ''), 'scripts/list.txt'],
  ['a script that the command names and that was not there', (folder) => writeFileSync(path.join(folder, 'node'), '#!/bin/sh\n'), '/node'],
  [
    'a script replaced by a link to another',
    (folder) => {
      writeFileSync(path.join(folder, 'other.mjs'), '// other\n')
      rmSync(path.join(folder, 'scripts/guard.mjs'))
      symlinkSync(path.join(folder, 'other.mjs'), path.join(folder, 'scripts/guard.mjs'))
    },
    'scripts/guard.mjs',
  ],
])('after the trust changes: %s', async (_what, change, expected) => {
  const store = memoryStore()
  const { folder, file } = project()
  expect(await why(store, file)).toBe('is not trusted')
  expect(await trust(store, file)).toBe(file)
  expect(await why(store, file)).toBeNull()
  change(folder)
  expect((await why(store, file))?.includes(expected ?? '')).toBe(expected === null ? undefined : true)
  await trust(store, file)
  expect(await why(store, file)).toBeNull()
})

test('a hook that is taken away, and another order, ask again', async () => {
  const store = memoryStore()
  const second = { command: 'node ./scripts/guard.mjs second' }
  const { folder, file } = project({ PreToolUse: [GUARD, second] })
  await trust(store, file)
  writeHooks(folder, { PreToolUse: [GUARD] })
  expect(await why(store, file)).toContain('hooks are missing')
  writeHooks(folder, { PreToolUse: [second, GUARD] })
  expect(await why(store, file)).toContain('another order')
})

test('trust is one of a real path: a copy or a moved folder has none, a link has that of what it leads to; it can be taken back', async () => {
  const store = memoryStore()
  const { folder, file } = project()
  const link = path.join(newFolder(), 'link')
  symlinkSync(folder, link)
  await trust(store, path.join(link, 'hooks.json'))
  expect(await why(store, file)).toBeNull()
  expect(await untrustHooks(store, path.join(link, 'hooks.json'))).toBe(file)
  expect(await untrustHooks(store, file)).toBeNull()
  expect(await why(store, file)).toBe('is not trusted')
  await trust(store, file)
  const moved = `${folder}-moved`
  renameSync(folder, moved)
  expect(await why(store, path.join(moved, 'hooks.json'))).toBe('is not trusted')
  renameSync(moved, folder)
})

test.each(['', 'null', '{}', '[1]', '{"file":"x","hooks":[]}', '{"hooks":[{"digest":1}]}'])(
  'a record that says %j is no trust',
  async (value) => {
    const store = memoryStore()
    const { file } = project()
    await trust(store, file)
    for await (const { key } of store.list('trust')) await store.put('trust', key, value)
    expect(await why(store, file)).toBe('is not trusted')
  },
)

test('a runtime does not open on hooks that are not trusted, runs nothing of them, and says what to run', async () => {
  const store = memoryStore()
  const { folder, file } = project({ PreToolUse: [{ command: 'touch ran' }] })
  const config = path.join(folder, 'tapline.json')
  writeFileSync(config, JSON.stringify({ hooks: [{ commandHooks: 'hooks.json' }] }))
  await expect(openRuntime({ config, store })).rejects.toMatchObject({
    code: 'CONFIG_UNTRUSTED',
    message: `the hooks file ${file} is not trusted: read it, then run tapline hooks trust ${file}`,
    where: `${config}:1:11`,
    data: { files: [file], commands: [`tapline hooks trust ${file}`] },
  })
  await trust(store, file)
  await using runtime = await openRuntime({ config, store })
  expect(runtime.diagnostics).toEqual([])
  expect(existsSync(path.join(folder, 'ran'))).toBe(false)
  // the user's own file is trust enough
  await using own = await openRuntime({ config: [{ path: config, kind: 'user' }], store: memoryStore() })
  expect(own.diagnostics).toEqual([])
  // and so is an entry that is off, and a file without hooks of tool calls
  writeFileSync(config, JSON.stringify({ hooks: [{ commandHooks: 'stop.toml' }, { commandHooks: 'hooks.json', mode: 'off' }] }))
  writeFileSync(path.join(folder, 'stop.toml'), '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n')
  await using other = await openRuntime({ config, store: memoryStore() })
  expect(other.diagnostics.map(({ code }) => code)).toEqual(['hook_event_skipped'])
})

test('trust that comes later counts for the next session of the same runtime', async () => {
  const store = memoryStore()
  const { folder, file } = project({ PreToolUse: [{ command: 'true' }] })
  const config = path.join(folder, 'tapline.json')
  writeFileSync(config, JSON.stringify({ hooks: [{ commandHooks: 'hooks.json', mode: 'off' }] }))
  await using runtime = await openRuntime({ config, store })
  runtime.setPluginMode(file, 'enforce')
  await expect(runtime.openSession()).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' })
  await trust(store, file)
  expect((await runtime.openSession()).hookPlugins).toMatchObject([{ mode: 'enforce' }])
})
