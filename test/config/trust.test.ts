import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { discoverConfig } from '../../src/config/discover.ts'
import { assertTrusted, trustFolder, untrustFolder } from '../../src/config/trust.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { failure, folderWith, load, write } from './files.ts'

const node = { command: 'node' }
const found = (folder: string, name = 'tapline.json') => [{ path: path.join(folder, name), kind: 'found' as const }]

test("the user's file is weakest, then the files from the root down to the working directory", async () => {
  const home = folderWith({
    '.config/tapline/tapline.json': {},
    'xdg/tapline/tapline.json': {},
    'p/tapline.json': {},
    'p/.mcp.json': {},
    'p/q/r/tapline.json': {},
    'p/q/.mcp.json/x': '',
  })
  const below = async (cwd: string, env: Record<string, string>) =>
    (await discoverConfig(path.join(home, cwd), env))
      .filter((file) => file.path.startsWith(home))
      .map(({ path: file, kind }) => `${kind} ${path.relative(home, file)}`)
  expect(await below('p/q/r', { HOME: home })).toEqual([
    'user .config/tapline/tapline.json',
    'found p/.mcp.json',
    'found p/tapline.json',
    'found p/q/r/tapline.json',
  ])
  expect(await below('p/q', { HOME: home, XDG_CONFIG_HOME: path.join(home, 'xdg') })).toEqual([
    'user xdg/tapline/tapline.json',
    'found p/.mcp.json',
    'found p/tapline.json',
  ])
  expect(await below('p', { HOME: home, XDG_CONFIG_HOME: 'relative' })).toEqual([
    'user .config/tapline/tapline.json',
    'found p/.mcp.json',
    'found p/tapline.json',
  ])
  expect(await below('.', { HOME: path.join(home, 'nobody') })).toEqual([])
})

test("in its own folder the user's file is not found a second time, by a link either", async () => {
  const home = folderWith({ '.config/tapline/tapline.json': {} })
  fs.symlinkSync(path.join(home, '.config/tapline'), path.join(home, 'link'))
  for (const cwd of ['.config/tapline', 'link']) {
    const files = await discoverConfig(path.join(home, cwd), { HOME: home })
    expect(files.filter((file) => file.path.startsWith(home))).toEqual([
      { path: path.join(home, '.config/tapline/tapline.json'), kind: 'user' },
    ])
  }
})

test('tapline.toml counts like tapline.json, for the user too; both in one folder are a mistake', async () => {
  const home = folderWith({ '.config/tapline/tapline.toml': '', 'p/tapline.toml': '', 'p/.mcp.json': {}, 'p/q/tapline.json': {} })
  const below = async (cwd: string): Promise<string[]> =>
    (await discoverConfig(path.join(home, cwd), { HOME: home }))
      .filter((file) => file.path.startsWith(home))
      .map(({ path: file, kind }) => `${kind} ${path.relative(home, file)}`)
  expect(await below('p/q')).toEqual([
    'user .config/tapline/tapline.toml',
    'found p/.mcp.json',
    'found p/tapline.toml',
    'found p/q/tapline.json',
  ])
  write(home, 'p/q/tapline.toml', '')
  expect(await failure(discoverConfig(path.join(home, 'p/q'), { HOME: home }))).toMatchObject({
    code: 'CONFIG_INVALID',
    message: `${path.join(home, 'p/q')} has both a tapline.json and a tapline.toml`,
  })
  write(home, '.config/tapline/tapline.json', {})
  expect((await failure(discoverConfig(home, { HOME: home }))).message).toContain(path.join(home, '.config/tapline'))
})

test('a tapline.toml is trusted with the hook modules that it names', async () => {
  const folder = folderWith({ 'tapline.toml': 'hooks = ["./guard.mjs"]\n', 'guard.mjs': '1' })
  const store = memoryStore()
  expect((await failure(assertTrusted(store, found(folder, 'tapline.toml')))).code).toBe('CONFIG_UNTRUSTED')
  expect(await trustFolder(store, folder)).toEqual([path.join(folder, 'tapline.toml')])
  const checked = await assertTrusted(store, found(folder, 'tapline.toml'))
  expect((await load(checked)).hooks).toMatchObject([{ module: path.join(folder, 'guard.mjs') }])
  write(folder, 'guard.mjs', '2')
  expect((await failure(assertTrusted(store, found(folder, 'tapline.toml')))).message).toContain('guard.mjs')
})

test('a file that was found is refused until it is trusted, after every change, and after untrust; the command is named', async () => {
  const store = memoryStore()
  const folder = folderWith({ 'my project/tapline.json': { mcpServers: { a: node } }, 'my project/.mcp.json': {} })
  const project = path.join(folder, 'my project')
  const all = [...found(project, '.mcp.json'), ...found(project)]
  const error = await failure(assertTrusted(store, all))
  expect(error).toMatchObject({
    code: 'CONFIG_UNTRUSTED',
    where: path.join(project, '.mcp.json'),
    data: { files: all.map((file) => file.path) },
  })
  expect(error.message).toContain(`${path.join(project, 'tapline.json')} is not trusted`)
  expect(error.message.match(/tapline trust/g)).toHaveLength(1)
  expect(error.message).toContain(`tapline trust '${project}'`)

  expect(await trustFolder(store, project)).toEqual(all.map((file) => file.path))
  const checked = await assertTrusted(store, all)
  expect(checked.every((file) => /^[0-9a-f]{64}$/.test(file.digest ?? ''))).toBe(true)
  expect((await load(checked)).registrations).toHaveLength(1)

  write(project, 'tapline.json', '{}')
  expect((await failure(assertTrusted(store, all))).message).toContain('tapline.json changed since it was trusted')
  await trustFolder(store, project)
  await assertTrusted(store, all)
  fs.rmSync(path.join(project, '.mcp.json'))
  expect(await untrustFolder(store, project)).toEqual(all.map((file) => file.path))
  expect(await untrustFolder(store, project)).toEqual([])
  expect((await failure(assertTrusted(store, found(project)))).message).toContain('is not trusted')
})

test("files that were named and the user's own need no trust", async () => {
  const files = [
    { path: '/absent/tapline.json', kind: 'user' as const },
    { path: '/absent/x.json', kind: 'named' as const },
  ]
  expect(await assertTrusted(memoryStore(), files)).toEqual(files)
})

test('trust binds the hook modules that the file names by path', async () => {
  const store = memoryStore()
  const folder = folderWith({
    'tapline.json': '{ // hooks\n "hooks": ["./hooks/a.mjs", { "module": "./late.cjs" }, { "package": "p" }] }',
    'hooks/a.mjs': 'export default 1',
  })
  await trustFolder(store, folder)
  await assertTrusted(store, found(folder))
  write(folder, 'hooks/a.mjs', 'export default 2')
  expect((await failure(assertTrusted(store, found(folder)))).message).toContain(`names ${path.join(folder, 'hooks/a.mjs')}, which changed`)
  await trustFolder(store, folder)
  write(folder, 'late.cjs', 'module.exports = 1')
  expect((await failure(assertTrusted(store, found(folder)))).message).toContain('late.cjs')
  await trustFolder(store, folder)
  await assertTrusted(store, found(folder))
  fs.rmSync(path.join(folder, 'hooks/a.mjs'))
  expect((await failure(assertTrusted(store, found(folder)))).code).toBe('CONFIG_UNTRUSTED')
})

test('nothing of an untrusted file is parsed, expanded or shown, however broken it is', async () => {
  const folder = folderWith({
    'tapline.json': '{ "mcpServers": { "leak": { "url": "http://127.0.0.1:9/${PARENT_SECRET}", BROKEN',
    '.mcp.json': Uint8Array.from([0xff, 0xfe]),
  })
  for (const name of ['tapline.json', '.mcp.json']) {
    const error = await failure(assertTrusted(memoryStore(), found(folder, name)))
    expect(error.code).toBe('CONFIG_UNTRUSTED')
    expect(JSON.stringify([error.message, error.remedy, error.data])).not.toMatch(/leak|PARENT_SECRET|BROKEN|127\.0\.0\.1/)
  }
})

test('the same content in another folder, or reached by a link from one, is not trusted with it', async () => {
  const store = memoryStore()
  const folder = folderWith({ 'a/tapline.json': { hooks: ['./x.mjs'] }, 'b/tapline.json': { hooks: ['./x.mjs'] }, 'c/x.mjs': 'evil' })
  await trustFolder(store, path.join(folder, 'a'))
  fs.symlinkSync('../a/tapline.json', path.join(folder, 'c/tapline.json'))
  fs.symlinkSync('a', path.join(folder, 'd'))
  await assertTrusted(store, found(path.join(folder, 'd')))
  for (const other of ['b', 'c'])
    expect((await failure(assertTrusted(store, found(path.join(folder, other))))).code).toBe('CONFIG_UNTRUSTED')
})

test('what changes between the check and the reading is refused', async () => {
  const store = memoryStore()
  const folder = folderWith({ 'tapline.json': {} })
  await trustFolder(store, folder)
  const checked = await assertTrusted(store, found(folder))
  write(folder, 'tapline.json', { mcpServers: { a: node } })
  expect(await failure(load(checked))).toMatchObject({
    code: 'CONFIG_UNTRUSTED',
    message: expect.stringContaining('changed while it was read'),
  })
})

test('a record that cannot be read is no trust; a folder without configuration cannot be trusted', async () => {
  const store = memoryStore()
  const folder = folderWith({ 'a/tapline.json': {}, 'b/x': '' })
  await trustFolder(store, path.join(folder, 'a'))
  for await (const { key } of store.list('trust')) {
    for (const value of ['', '{', '[]', '{"file":1}', '{"digest":"x","hooks":[]}']) {
      await store.put('trust', key, value)
      expect((await failure(assertTrusted(store, found(path.join(folder, 'a'))))).code).toBe('CONFIG_UNTRUSTED')
    }
  }
  expect(await failure(trustFolder(store, path.join(folder, 'b')))).toMatchObject({
    code: 'CONFIG_NOT_FOUND',
    message: expect.stringContaining('has no tapline.json and no tapline.toml and no .mcp.json'),
  })
})

test('trust binds what plugin packages of the file say is started', async () => {
  const folder = folderWith({
    'tapline.json': { plugins: [{ path: './p' }, { path: './bare' }] },
    'p/.codex-plugin/plugin.json': { name: 'p', mcpServers: './servers.json' },
    'p/servers.json': {},
  })
  const store = memoryStore()
  for (const [file, content] of [
    ['p/servers.json', { mcpServers: { a: { command: 'a' } } }],
    ['p/.codex-plugin/plugin.json', { name: 'q' }],
    ['bare/.mcp.json', {}],
  ] as const) {
    await trustFolder(store, folder)
    const files = [{ path: path.join(folder, 'tapline.json'), kind: 'found' as const }]
    await assertTrusted(store, files)
    write(folder, file, content)
    expect((await failure(assertTrusted(store, files))).message).toContain(`names ${path.join(folder, file)}, which changed`)
  }
})
