import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRuntime, openSession } from '../../src/index.ts'
import type { SessionOptions } from '../../src/index.ts'
import { echo, info, newFolder, ON, SERVER, told, writePackage } from './package-kit.ts'

const accept: SessionOptions = { approver: () => Promise.resolve({ action: 'accept' }) }

test('both manifests, and .mcp.json alone in both shapes; variables, cwd and relative commands', async () => {
  const folder = newFolder()
  const servers = { echo: echo({ args: [SERVER, '${PLUGIN_ROOT}', '${CLAUDE_PLUGIN_ROOT}'], env: { DATA: '${PLUGIN_DATA}' } }) }
  writePackage(join(folder, 'codex'), {
    '.codex-plugin/plugin.json': { name: 'one', version: '1.2.3', description: 'It says', mcpServers: './servers/mine.json' },
    'servers/mine.json': { mcpServers: servers },
    '.mcp.json': { not: { command: 'never' } },
  })
  writePackage(join(folder, 'claude'), {
    '.claude-plugin/plugin.json': { name: 'two', mcpServers: { inline: echo({ cwd: './sub' }) } },
    'sub/x': '',
  })
  writePackage(join(folder, 'bare'), { '.mcp.json': { bare: echo({ command: './run', args: ['a b', ''] }) } })
  writeFileSync(join(folder, 'bare', 'run'), `#!/bin/sh\nexec node ${SERVER} "$@"\n`, { mode: 0o755 })
  writePackage(join(folder, 'wrapped'), { '.mcp.json': { mcpServers: { wrapped: echo() } } })
  const plugins = ['codex', 'claude', 'bare', 'wrapped'].map((name) => ({ path: join(folder, name) }))
  await using runtime = await openRuntime({ ...ON, plugins, store: { file: join(folder, 'store') } })
  await using session = await runtime.openSession(accept)
  expect(told(runtime)).toEqual([])
  expect(session.servers.map(({ owner }) => String(owner))).toEqual(
    ['bare', 'echo', 'inline', 'wrapped'].map((name) => `${name} (environment local)`),
  )
  const one = await info(session, { server: 'echo' })
  expect([one.cwd, one.args]).toEqual([join(folder, 'codex'), [join(folder, 'codex'), join(folder, 'codex')]])
  expect(one.env.DATA).toMatch(/plugin-data[\\/]one-[0-9a-f]{12}$/)
  expect((await info(session, { server: 'inline' })).cwd).toBe(join(folder, 'claude', 'sub'))
  const bare = await info(session, { server: 'bare' })
  expect([bare.cwd, bare.args]).toEqual([join(folder, 'bare'), ['a b', '']])
  expect((await runtime.packages()).map(({ id, version, description, root, source }) => [id, version, description, root, source])).toEqual([
    ['one', '1.2.3', 'It says', join(folder, 'codex'), 'selected'],
    ['two', null, null, join(folder, 'claude'), 'selected'],
    ['bare', null, null, join(folder, 'bare'), 'selected'],
    ['wrapped', null, null, join(folder, 'wrapped'), 'selected'],
  ])
  expect((await session.status({ server: 'echo', discover: false })).data[0]?.provenance).toEqual([
    `${join(folder, 'codex', 'servers/mine.json')}:3:5`,
  ])
})

test('what leaves the folder is an error that names file and key; siblings stay', async () => {
  const folder = newFolder()
  const root = join(folder, 'package')
  mkdirSync(join(folder, 'outside'))
  writeFileSync(join(folder, 'outside', 'tool'), '#!/bin/sh\n', { mode: 0o755 })
  writeFileSync(join(folder, 'outside', 'mcp.json'), JSON.stringify({ stolen: echo() }))
  writePackage(root, {
    '.mcp.json': {
      good: echo(),
      dots: echo({ cwd: '../outside' }),
      absolute: echo({ cwd: join(folder, 'outside') }),
      command: echo({ command: '../outside/tool' }),
      variable: echo({ command: '${PLUGIN_ROOT}/../outside/tool' }),
      linked: echo({ cwd: './link' }),
      linkedTool: echo({ command: './tool' }),
      program: echo({ command: process.execPath }),
    },
  })
  symlinkSync(join(folder, 'outside'), join(root, 'link'))
  symlinkSync(join(folder, 'outside', 'tool'), join(root, 'tool'))
  const other = writePackage(join(folder, 'other'), { '.codex-plugin/plugin.json': { name: 'other', mcpServers: '../outside/mcp.json' } })
  const link = writePackage(join(folder, 'third'), { '.codex-plugin/plugin.json': { name: 'third', mcpServers: './link.json' } })
  symlinkSync(join(folder, 'outside', 'mcp.json'), join(link, 'link.json'))
  await using session = await openSession({ ...ON, plugins: [root, other, link].map((path) => ({ path })) })
  const { tools, errors } = await session.listTools()
  expect([...new Set(tools.map(({ owner }) => owner.name))]).toEqual(['good', 'program'])
  const messages = Object.fromEntries(errors.map(({ owner, error }) => [owner.name, `${error.code} ${error.message}`]))
  expect(Object.keys(messages).sort()).toEqual(['absolute', 'command', 'dots', 'linked', 'linkedTool', 'variable'])
  for (const name of ['absolute', 'dots', 'linked']) expect(messages[name]).toMatch(/^CONFIG_INVALID .*\.mcp\.json:\d+:\d+.*cwd/)
  for (const name of ['command', 'variable', 'linkedTool']) expect(messages[name]).toMatch(/^CONFIG_INVALID .*\.mcp\.json:\d+:\d+.*command/)
  await using runtime = await openRuntime({ ...ON, plugins: [{ path: other }, { path: link }] })
  await using again = await runtime.openSession()
  expect(again.servers).toEqual([])
  expect(told(runtime)).toEqual([
    expect.stringMatching(
      /^CONFIG_INVALID: .*outside\/mcp\.json is not read: it leaves .*\[.*other\/\.codex-plugin\/plugin\.json:\d+:\d+\]$/,
    ),
    expect.stringMatching(
      /^CONFIG_INVALID: .*link\.json is not read: it is a link to .*\[.*third\/\.codex-plugin\/plugin\.json:\d+:\d+\]$/,
    ),
  ])
})

test('broken files, folders that are none, unknown values: each is told with its place, and costs itself only', async () => {
  const folder = newFolder()
  const plugins = {
    broken: { '.codex-plugin/plugin.json': '{ "name": ' },
    brokenServers: { '.claude-plugin/plugin.json': { name: 'b' }, '.mcp.json': '{ "mcpServers": { "a": ' },
    missing: { '.codex-plugin/plugin.json': { name: 'm', mcpServers: './absent.json' } },
    list: { '.mcp.json': [] },
    nothing: { 'README.md': 'hello' },
    latin: { '.mcp.json': '' },
    good: {
      '.codex-plugin/plugin.json': { name: 'good', hooks: './hooks.json' },
      '.mcp.json': { good: echo(), 'bad name!': echo(), typed: { command: 5 }, both: { command: 'a', url: 'http://x' }, twice: echo() },
    },
  }
  for (const [name, files] of Object.entries(plugins)) writePackage(join(folder, name), files)
  writeFileSync(join(folder, 'latin', '.mcp.json'), Buffer.from([0x7b, 0xff, 0x7d]))
  const paths = [...Object.keys(plugins), 'absent'].map((name) => ({ path: join(folder, name) }))
  await using runtime = await openRuntime({ ...ON, plugins: paths })
  await using session = await runtime.openSession()
  expect([...new Set((await session.listTools()).tools.map(({ owner }) => owner.name))]).toEqual(['good', 'twice'])
  const all = told(runtime).join('\n')
  for (const said of [
    /^CONFIG_INVALID: .*JSON is broken.*broken\/\.codex-plugin\/plugin\.json:1:\d+\]$/m,
    /^CONFIG_INVALID: .*JSON is broken.*brokenServers\/\.mcp\.json:1:\d+\]$/m,
    /^CONFIG_INVALID: .*absent\.json.*\[.*missing\/\.codex-plugin\/plugin\.json:\d+:\d+\]$/m,
    /^CONFIG_INVALID: .*must be an object, not a list.*list\/\.mcp\.json:1:1\]$/m,
    /^CONFIG_INVALID: .*not UTF-8.*latin\/\.mcp\.json\]$/m,
    /^no_package: .*nothing is no plugin package/m,
    /^no_package: .*absent is no plugin package/m,
    /^hooks_unreadable: the hooks of the plugin package good cannot be read.*hooks\.json/m,
    /^CONFIG_INVALID: "bad name!" is no name/m,
    /^CONFIG_INVALID: .*typed\.command must be text/m,
    /^CONFIG_INVALID: .*both has both/m,
  ])
    expect(all).toMatch(said)
})

test('a package cannot choose its owner, nor loosen what the host decides; the host sets policy, never how it starts', async () => {
  const folder = newFolder()
  writePackage(folder, {
    '.mcp.json': {
      echo: echo({
        environment_id: 'vm',
        environment: 'vm',
        installation: 'x',
        trustAnnotations: true,
        required: true,
        defaultToolsApprovalMode: 'approve',
        tools: { big: { approvalMode: 'deny' }, echo: { approvalMode: 'approve' } },
        disabledTools: ['slow'],
      }),
      off: echo(),
    },
  })
  const plugins = [
    {
      path: folder,
      mcpServers: { echo: { tools: { info: { approvalMode: 'approve' } }, disabledTools: ['crash'] }, off: { enabled: false }, absent: {} },
    },
  ] as const
  await using runtime = await openRuntime({ ...ON, plugins })
  await using session = await runtime.openSession()
  const { tools } = await session.listTools()
  const approvals = Object.fromEntries(tools.map(({ tool, approval }) => [tool, approval]))
  expect(approvals).toMatchObject({ info: 'approve', echo: 'auto', big: 'deny' })
  expect(approvals).not.toHaveProperty('crash')
  expect(session.servers.map(({ owner, enabled }) => [String(owner), enabled])).toEqual([
    ['echo (environment local)', true],
    ['off (environment local)', false],
  ])
  const all = told(runtime)
  for (const key of ['environment_id', 'environment', 'installation', 'trustAnnotations', 'required'])
    expect(all).toContainEqual(expect.stringContaining(`ignored_key: the key "${key}" of the server "echo" is ignored`))
  expect(all).toContainEqual(expect.stringMatching(/^ignored_key: approval modes of the server "echo"/))
  expect(all).toContainEqual(expect.stringMatching(/^overlay_fits_nothing: .* has no server "absent"/))
  for (const transport of [{ command: 'sh' }, { env: { A: 'b' } }, { url: 'http://x' }, { cwd: '/' }, { environment: 'local' }])
    await expect(openRuntime({ plugins: [{ path: folder, mcpServers: { echo: transport as never } }] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('the host sets policy alone'),
    })
})

test('two installations in one environment: a conflict without ids, two servers with them; flag off: one winner', async () => {
  const folder = newFolder()
  const at = (name: string): string =>
    writePackage(join(folder, name), {
      '.codex-plugin/plugin.json': { name: 'probe', mcpServers: { echo: echo({ args: [SERVER, name] }) } },
    })
  const [first, second] = [{ path: at('first') }, { path: at('second') }]
  const staging = { ...second, installation: 'staging' }
  const open = { mcpServers: { echo: echo({ args: [SERVER, 'wide'] }) as never } }
  {
    await using runtime = await openRuntime({ ...ON, plugins: [first, second] })
    await using session = await runtime.openSession(accept)
    expect((await info(session, { server: 'echo' })).args).toEqual(['first'])
    expect(told(runtime)).toEqual([
      expect.stringMatching(/^conflict: .*to have both installations of the plugin probe, give one of them an `installation` id/),
    ])
  }
  {
    await using runtime = await openRuntime({ ...ON, ...open, plugins: [first, staging] })
    await using session = await runtime.openSession(accept)
    expect(told(runtime)).toEqual([])
    const { tools } = await session.listTools()
    expect(new Set(tools.filter(({ tool }) => tool === 'info').map(({ name }) => name)).size).toBe(3)
    const args = async (more: object): Promise<unknown> => (await info(session, { server: 'echo', ...more })).args
    expect([
      await args({ environmentId: null }),
      await args({ environmentId: 'local', installationId: null }),
      await args({ environmentId: 'local', installationId: 'staging' }),
    ]).toEqual([['wide'], ['first'], ['second']])
    expect((await info(session, { server: 'echo' })).code).toBe('AMBIGUOUS_SERVER')
    expect((await info(session, { server: 'echo', environmentId: 'local' })).code).toBe('AMBIGUOUS_SERVER')
  }
  await using runtime = await openRuntime({ ...open, plugins: [first, staging] })
  await using session = await runtime.openSession(accept)
  expect((await info(session, { server: 'echo' })).args).toEqual(['wide'])
  expect(told(session).filter((one) => one.startsWith('shadowed'))).toHaveLength(2)
})

test('the same folder selected and found is one server with two provenances, and has the id that was selected', async () => {
  const folder = newFolder()
  for (const name of ['one', 'two']) writePackage(join(folder, 'plugins', name), { '.mcp.json': { [name]: echo() } })
  writePackage(join(folder, 'plugins', 'text'), { 'README.md': 'no package' })
  symlinkSync(join(folder, 'plugins', 'one'), join(folder, 'alias'))
  await using runtime = await openRuntime({
    ...ON,
    environments: { here: { cwd: folder, pluginRoots: [join(folder, 'plugins', '*')] } },
    plugins: [{ path: join(folder, 'alias'), environment: 'here', installation: 'mine' }],
  })
  await using session = await runtime.openSession()
  expect(told(runtime)).toEqual([])
  expect(session.servers.map(({ owner }) => String(owner))).toEqual(['one (environment here, installation mine)', 'two (environment here)'])
  const { data } = await session.status({ discover: false })
  expect(data.map(({ provenance }) => provenance.length)).toEqual([2, 1])
  expect((await runtime.packages()).map(({ id, source, where, installationId }) => [id, source, where.length, installationId])).toEqual([
    ['one', 'selected', 2, 'mine'],
    ['two', 'discovered', 1, null],
  ])
})

test('hints of tools are believed of a folder that the user points at, and of no other', async () => {
  const folder = newFolder()
  writePackage(join(folder, 'found', 'p'), { '.mcp.json': { found: echo() } })
  writePackage(join(folder, 'chosen'), { '.mcp.json': { chosen: echo() } })
  const plugins = [{ path: './chosen' }]
  writePackage(folder, { 'mine.json': { environments: { local: { pluginRoots: ['./found/*'] } }, plugins }, 'project.json': { plugins } })
  const trusted = async (file: string, kind: 'named' | 'found'): Promise<unknown> => {
    await using runtime = await openRuntime({ ...ON, config: [{ path: join(folder, file), kind }] })
    await runtime.packages()
    const { catalog } = runtime as unknown as {
      catalog: { entries: { key: { name: string }; registration: { policy: { trustAnnotations: boolean } } }[] }
    }
    return Object.fromEntries(catalog.entries.map(({ key, registration }) => [key.name, registration.policy.trustAnnotations]))
  }
  expect(await trusted('mine.json', 'named')).toEqual({ chosen: true, found: false })
  expect(await trusted('project.json', 'found')).toEqual({ chosen: false })
  await expect(trusted('mine.json', 'found')).rejects.toMatchObject({
    message: expect.stringContaining('pluginRoots cannot be in a project file'),
  })
})

test('packages are read once for all sessions, two at once included, and again for an environment that was replaced', async () => {
  const folder = newFolder()
  const root = writePackage(join(folder, 'p'), { '.mcp.json': { before: echo() } })
  await using runtime = await openRuntime({ ...ON, environments: { here: { cwd: folder, pluginRoots: [root] } } })
  expect(existsSync(join(root, '.mcp.json'))).toBe(true)
  const names = async (): Promise<string[]> => {
    await using session = await runtime.openSession()
    return session.servers.map(({ owner }) => owner.name)
  }
  expect(await Promise.all([names(), names()])).toEqual([['before'], ['before']])
  writePackage(root, { '.mcp.json': { after: echo() } })
  expect(await names()).toEqual(['before'])
  runtime.environments.replace('here', { cwd: folder, pluginRoots: [root] })
  expect(await names()).toEqual(['after'])
  runtime.environments.add('more', { cwd: folder, pluginRoots: [root] })
  await using session = await runtime.openSession({ environments: ['more'] })
  expect(session.servers.map(({ owner }) => String(owner))).toEqual(['after (environment more)'])
})

test('a session that is closed, cancelled or opened on a closed runtime while packages are read', async () => {
  const folder = newFolder()
  writePackage(folder, { '.mcp.json': { echo: echo() } })
  const runtime = await openRuntime({ ...ON, plugins: [{ path: folder }] })
  const cancelled = new AbortController()
  const opening = runtime.openSession({ signal: cancelled.signal })
  cancelled.abort()
  await expect(opening).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  const late = runtime.openSession()
  const closed = runtime.close()
  await expect(late).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await closed
  await expect(runtime.packages()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
})
