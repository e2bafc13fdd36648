import path from 'node:path'
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { failure, folderWith, load, loadText, server } from './files.ts'

const node = { command: 'node' }

test('every registration of every source is kept, weakest first, with its rank and place', async () => {
  const folder = folderWith({
    'user.json': { mcpServers: { shared: { ...node, env: { A: '1' } }, Browser: node } },
    'project.json': { mcpServers: { browser: node, shared: node } },
  })
  const files = [
    { path: path.join(folder, 'user.json'), kind: 'user' },
    { path: path.join(folder, 'project.json'), kind: 'found' },
  ] as const
  const loaded = await load(files, { host: { mcpServers: { shared: node } } })
  expect(loaded.registrations.map(({ key, provenance }) => [key.name, provenance.source, provenance.rank])).toEqual([
    ['shared', 'file', 0],
    ['Browser', 'file', 0],
    ['browser', 'file', 1],
    ['shared', 'file', 1],
    ['shared', 'host', 2],
  ])
  expect(loaded.registrations[0]?.provenance.where).toMatch(/user\.json:3:5$/)
  expect(loaded.registrations[3]?.launch).toMatchObject({ env: {} })
  expect(loaded.files).toEqual(files)
})

test('without any source there is the implicit local', async () => {
  const loaded = await load([], { cwd: '/somewhere' })
  expect(loaded).toMatchObject({
    environments: [{ id: 'local', cwd: '/somewhere', permissions: null, approvalPolicy: 'on-request' }],
    selectedEnvironments: ['local'],
    registrations: [],
    hooks: [],
    features: [],
    naming: { scheme: 'stable', maxLength: 64 },
    storeFolder: null,
    trace: null,
    diagnostics: [],
  })
})

test('all declared environments are selected in file order; the implicit local is known, last and not selected', async () => {
  const loaded = await loadText(
    {
      environments: {
        b: { cwd: './b' },
        a: {
          executor: { kind: 'local' },
          permissions: 'workspace-write',
          approvalPolicy: { granular: { mcpElicitations: false } },
          codexExecutable: './as-written',
          extraRoots: ['r'],
        },
      },
    },
    { cwd: '/work-dir' },
  )
  expect(loaded.selectedEnvironments).toEqual(['b', 'a'])
  expect(loaded.environments.map((one) => one.id)).toEqual(['b', 'a', 'local'])
  expect(loaded.environments[0]).toMatchObject({ cwd: path.join(loaded.folder, 'b'), permissions: null, where: `${loaded.file}:3:5` })
  expect(loaded.environments[1]).toMatchObject({
    cwd: '/work-dir',
    permissions: 'workspace-write',
    approvalPolicy: { granular: { mcpElicitations: false } },
    codexExecutable: './as-written',
    extraRoots: [path.join(loaded.folder, 'r')],
  })
  expect((await loadText({ environments: { a: {} }, selectedEnvironments: ['local', 'a'] })).selectedEnvironments).toEqual(['local', 'a'])
  expect((await loadText({ environments: { local: { cwd: './l' } } })).environments).toMatchObject([
    { id: 'local', cwd: expect.stringMatching(/l$/) },
  ])
})

test('permissions are kept as given; an opaque state unchanged, text byte for byte', async () => {
  const state = { type: 'x', deep: [{ __proto__x: 1, n: 0.1, s: 'ü', nothing: null }], big: 9007199254740991 }
  const text = '{"b":1,  "a":[1.0]}'
  const loaded = await loadText({
    environments: {
      a: { permissions: { type: 'opaque', sandboxState: state } },
      b: { permissions: { type: 'opaque', sandboxState: text } },
      c: { permissions: { type: 'workspace-write', networkAccess: true, writableRoots: ['w', '/abs'], excludeSlashTmp: true } },
      d: { permissions: 'external' },
    },
  })
  expect(loaded.environments.map((one) => one.permissions)).toEqual([
    { type: 'opaque', sandboxState: state },
    { type: 'opaque', sandboxState: text },
    { type: 'workspace-write', networkAccess: true, writableRoots: [path.join(loaded.folder, 'w'), '/abs'], excludeSlashTmp: true },
    'external',
    null,
  ])
})

test('a named file replaces an environment whole, with its servers', async () => {
  const folder = folderWith({
    'a.json': { environments: { work: { permissions: 'read-only', approvalPolicy: 'never', mcpServers: { one: node } }, other: {} } },
    'b.json': { environments: { work: { mcpServers: { two: node } } } },
  })
  const loaded = await load(
    ['user', 'named'].map((kind, index) => ({ path: path.join(folder, `${'ab'[index]}.json`), kind: kind as 'user' | 'named' })),
  )
  expect(loaded.environments).toMatchObject([
    { id: 'work', permissions: null, approvalPolicy: 'on-request', where: expect.stringContaining('b.json') },
    { id: 'other' },
    { id: 'local' },
  ])
  expect(loaded.registrations.map((one) => one.key.name)).toEqual(['two'])
  expect(loaded.diagnostics).toMatchObject([{ code: 'environment_replaced', message: expect.stringMatching(/"work".*"one"/) }])
})

test.each([
  ['replace an environment of the user', { environments: { work: { permissions: 'full-access', mcpServers: { guarded: node } } } }],
  ['change one', { environments: { work: { approvalPolicy: 'on-request' } } }],
  ['add a server to one', { environments: { work: { mcpServers: { more: node } } } }],
  ['govern the servers that the user has on local', { environments: { local: { permissions: 'full-access', approvalPolicy: 'never' } } }],
  ['give a launcher to them', { environments: { local: { codexExecutable: '/tmp/x' } } }],
])('a project file cannot %s', async (_, project) => {
  const folder = folderWith({
    'user.json': { environments: { work: { permissions: 'read-only', approvalPolicy: 'never' } }, mcpServers: { mine: node } },
    'project.json': project,
  })
  const error = await failure(
    load([
      { path: path.join(folder, 'user.json'), kind: 'user' },
      { path: path.join(folder, 'project.json'), kind: 'found' },
    ]),
  )
  expect(error.code).toBe('CONFIG_INVALID')
  expect(error.message).toMatch(
    new RegExp(`project\\.json:3:5: the environment "${Object.keys(project.environments)[0]}" .*user\\.json.* cannot change it`),
  )
})

test('a project file may have environments of its own, and use those of the user', async () => {
  const folder = folderWith({
    'user.json': { environments: { work: {} } },
    'project.json': {
      environments: { mine: {}, local: { cwd: '.' } },
      mcpServers: { a: { ...node, environment: 'work' } },
      selectedEnvironments: ['mine'],
    },
  })
  const loaded = await load([
    { path: path.join(folder, 'user.json'), kind: 'user' },
    { path: path.join(folder, 'project.json'), kind: 'found' },
  ])
  expect(loaded.selectedEnvironments).toEqual(['mine'])
  expect(server(loaded, 'a').executesOn).toBe('work')
})

test('store and flag provider of a project file are ignored, and said so; those of a named file count', async () => {
  const project = await loadText({ store: { file: './store' }, flags: { flagd: 'x.json' } }, { kind: 'found' })
  expect(project.storeFolder).toBeNull()
  expect(project.flagFile).toBeNull()
  expect(project.diagnostics).toMatchObject([
    { severity: 'warning', message: expect.stringMatching(/"flags" in .*tapline\.json is ignored/) },
    { severity: 'warning', message: expect.stringMatching(/"store" in .*tapline\.json is ignored/) },
  ])
  const named = await loadText({ store: { file: './store' }, flags: { flagd: 'flags.json' } })
  expect(named.storeFolder).toBe(path.join(named.folder, 'store'))
  expect(named.flagFile).toBe(path.join(named.folder, 'flags.json'))
  expect((await loadText({ flags: { flagd: '~/f.json' } }, { env: { HOME: '/home/me' } })).flagFile).toBe('/home/me/f.json')
  expect((await loadText({ flags: { flagd: '/etc/f.json' } }, { kind: 'user' })).flagFile).toBe('/etc/f.json')
  expect((await loadText({ flags: {} })).flagFile).toBeNull()
  expect((await loadText({ store: { file: '~/s' } }, { env: { HOME: '/home/me' } })).storeFolder).toBe('/home/me/s')
})

test('a trace file of a project file is ignored, and said so; of named files the strongest counts', async () => {
  const project = await loadText({ trace: { file: './t.jsonl' } }, { kind: 'found' })
  expect([project.trace, project.diagnostics.map(({ message }) => message)]).toEqual([
    null,
    [expect.stringMatching(/"trace" in .*tapline\.json is ignored/)],
  ])
  const named = await loadText({ trace: { file: './t.jsonl', arguments: true } })
  expect(named.trace).toEqual({ file: path.join(named.folder, 't.jsonl'), arguments: true })
  const home = await loadText({ trace: { file: '~/t.jsonl' } }, { env: { HOME: '/home/me' } })
  expect(home.trace).toEqual({ file: '/home/me/t.jsonl', arguments: false })
})

test('annotations are trusted by default but for project files, unless the user says so for that key', async () => {
  const settings = { plain: {}, yes: { trustAnnotations: true }, no: { trustAnnotations: false } }
  const servers = (wanted: (key: keyof typeof settings) => object): object =>
    Object.fromEntries(Object.keys(settings).map((key) => [key, { ...node, ...wanted(key as keyof typeof settings) }]))
  const folder = folderWith({
    'user.json': { mcpServers: { ...servers((key) => settings[key]), strict: { ...node, trustAnnotations: false } } },
    'project.json': {
      mcpServers: { ...servers(() => ({})), own: { ...node, trustAnnotations: true }, strict: { ...node, trustAnnotations: true } },
    },
  })
  const user = { path: path.join(folder, 'user.json'), kind: 'user' } as const
  const trusted = async (kind: 'found' | 'named') => {
    const loaded = await load([user, { path: path.join(folder, 'project.json'), kind }])
    return loaded.registrations.filter((one) => one.provenance.rank === 1).map((one) => [one.key.name, one.policy.trustAnnotations])
  }
  expect(await trusted('found')).toEqual([
    ['plain', false],
    ['yes', true],
    ['no', false],
    ['own', true],
    ['strict', false],
  ])
  expect(await trusted('named')).toEqual([
    ['plain', true],
    ['yes', true],
    ['no', true],
    ['own', true],
    ['strict', true],
  ])
  expect((await load([user])).registrations.map((one) => one.policy.trustAnnotations)).toEqual([true, true, false, false])
  const host: Config = { mcpServers: { a: { command: 'x' } } }
  expect(server(await load([], { host }), 'a').policy.trustAnnotations).toBe(true)
})

test('hooks add up, features and naming: the strongest last', async () => {
  const folder = folderWith({
    'a.json': {
      hooks: [
        '/abs/guard.mjs',
        { package: '@me/guard', options: { deep: { x: [1] } }, environments: ['a', null], servers: ['s'], tools: ['t'], mode: 'enforce' },
      ],
      features: { f: true, g: 'x' },
      naming: { maxLength: 100 },
    },
    'sub/b.json': { hooks: [], features: { f: false } },
    'sub/c.json': {
      hooks: [
        { builtin: 'retry', options: { attempts: 2 } },
        './hooks/x y.cjs',
        { module: '../off.js', mode: 'off' },
        { module: './flag.js', mode: { flag: 'f', default: 'shadow' } },
      ],
    },
  })
  const loaded = await load(
    ['a.json', 'sub/b.json', 'sub/c.json'].map((name) => ({ path: name, kind: 'named' as const })),
    { cwd: folder },
  )
  expect(loaded.hooks).toMatchObject([
    { module: '/abs/guard.mjs', kind: 'path', options: null, folder },
    { module: '@me/guard', kind: 'package', options: { deep: { x: [1] } }, environments: ['a', null], servers: ['s'], tools: ['t'] },
    { module: 'retry', kind: 'builtin', options: { attempts: 2 }, folder: path.join(folder, 'sub') },
    { module: path.join(folder, 'sub/hooks/x y.cjs'), kind: 'path', folder: path.join(folder, 'sub'), mode: 'enforce' },
    { module: path.join(folder, 'off.js'), mode: 'off' },
    { module: path.join(folder, 'sub/flag.js'), mode: { flag: 'f', default: 'shadow' } },
  ])
  expect(loaded.features.map(({ name, value }) => [name, value])).toEqual([
    ['f', true],
    ['g', 'x'],
    ['f', false],
  ])
  expect(loaded.naming.maxLength).toBe(100)
})

test('a file that is named twice counts once', async () => {
  const folder = folderWith({ 'a.json': { mcpServers: { a: node } } })
  const loaded = await load(
    [
      { path: 'a.json', kind: 'named' },
      { path: path.join(folder, 'a.json'), kind: 'named' },
    ],
    { cwd: folder },
  )
  expect([loaded.files.length, loaded.registrations.length]).toEqual([1, 1])
})
