// Hooks that plugin packages bring: each installation's own, for its own calls, once; and none of them before somebody trusted it.
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryStore, openRuntime } from '../../src/index.ts'
import type { RuntimeOptions, SessionOptions, Store } from '../../src/index.ts'
import { placesInPackage } from '../../src/plugins/command-hooks/hook-env.ts'
import { readHookFile } from '../../src/plugins/command-hooks/hook-file.ts'
import { trustHooks } from '../../src/plugins/command-hooks/hook-trust.ts'
import { echo, info, newFolder, ON, told, writePackage } from './package-kit.ts'

const accept: SessionOptions = { approver: () => Promise.resolve({ action: 'accept' }) }
const hook = (command: string, matcher?: string): object => ({ ...(matcher && { matcher }), hooks: [{ type: 'command', command }] })

/** Notes who is called, from where, into `ran.jsonl` of the package. */
const NOTES = `const fs = require('fs')
const { hook_event_name: event, mcp_server: server } = JSON.parse(fs.readFileSync(0, 'utf8'))
const { PLUGIN_ROOT, CLAUDE_PLUGIN_ROOT, PLUGIN_DATA, CLAUDE_PROJECT_DIR } = process.env
fs.appendFileSync(PLUGIN_ROOT + '/ran.jsonl', JSON.stringify({ event, server, same: PLUGIN_ROOT === CLAUDE_PLUGIN_ROOT, data: PLUGIN_DATA, project: CLAUDE_PROJECT_DIR, cwd: process.cwd() }) + '\\n')
`

function guarded(folder: string, more: Readonly<Record<string, unknown>> = {}): string {
  return writePackage(folder, {
    '.claude-plugin/plugin.json': { name: 'guarded' },
    '.mcp.json': { mcpServers: { echo: echo() } },
    'scripts/notes.cjs': NOTES,
    'hooks/hooks.json': {
      hooks: { PreToolUse: [hook('node "${CLAUDE_PLUGIN_ROOT}/scripts/notes.cjs"', 'mcp__echo__.*')], SessionStart: [hook('never')] },
    },
    ...more,
  })
}
async function trust(store: Store, root: string, file = join(root, 'hooks/hooks.json')): Promise<void> {
  await trustHooks(store, { path: file, hooks: (await readHookFile(file)).hooks, places: placesInPackage(join(file, '..'), root) })
}
const ran = (root: string): any[] =>
  existsSync(join(root, 'ran.jsonl'))
    ? readFileSync(join(root, 'ran.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
const open = (options: RuntimeOptions) => openRuntime({ ...ON, ...options })

test('two installations: both sets run, each for its own environment and installation, once a call', async () => {
  const folder = newFolder()
  const root = guarded(join(folder, 'package'))
  const store = memoryStore()
  await trust(store, root)
  await using runtime = await open({
    store,
    environments: { a: { cwd: folder }, b: { cwd: folder }, c: { cwd: folder, mcpServers: { echo: echo() as never } } },
    plugins: [
      { path: root, environment: 'a' },
      { path: root, environment: 'b', installation: 'second' },
      { path: root, environment: 'b' },
    ],
  })
  await using session = await runtime.openSession(accept)
  expect(told(runtime).filter((line) => !line.startsWith('hook_event_skipped'))).toEqual([])
  for (const [environmentId, installationId] of [
    ['a', null],
    ['b', 'second'],
    ['b', null],
    ['c', null],
  ] as const) {
    const before = ran(root).length
    await info(session, { server: 'echo', environmentId, installationId })
    const now = ran(root).slice(before)
    // nobody brings hooks to c
    expect(now).toHaveLength(environmentId === 'c' ? 0 : 1)
    for (const one of now)
      expect(one).toMatchObject({
        event: 'PreToolUse',
        same: true,
        cwd: join(root, 'hooks'),
        project: folder,
        server: { environment_id: environmentId, installation_id: installationId, plugin_id: 'guarded' },
      })
  }
  // a data folder for each
  expect(new Set(ran(root).map(({ data }) => data)).size).toBe(3)
})

test('hooks that are not trusted refuse the calls that they were for, and only those; trust counts for the next session', async () => {
  const folder = newFolder()
  const root = guarded(join(folder, 'package'), {
    'hooks/hooks.json': { hooks: { PostToolUse: [hook('node "$PLUGIN_ROOT/scripts/notes.cjs"', 'mcp__echo__info')] } },
  })
  const store = memoryStore()
  await using runtime = await open({ store, plugins: [{ path: root }], mcpServers: { other: echo() as never } })
  await using session = await runtime.openSession(accept)
  const refused: any = await session.callTool({ server: 'echo', tool: 'info', arguments: {} })
  expect(refused).toMatchObject({ outcome: 'refused', sent: 'no', by: 'tap' })
  expect(refused.reason).toContain(`${join(root, 'hooks/hooks.json')} is not trusted; a person has to run tapline hooks trust`)
  expect(await info(session, { server: 'other' })).toHaveProperty('args')
  expect(ran(root)).toEqual([])
  await trust(store, root)
  await using next = await runtime.openSession(accept)
  await info(next, { server: 'echo' })
  expect(ran(root)).toHaveLength(1)
  writeFileSync(join(root, 'scripts/notes.cjs'), `${NOTES}// changed\n`)
  await using changed = await runtime.openSession(accept)
  expect((await info(changed, { server: 'echo' })).reason).toContain('scripts/notes.cjs')
})

test('a script of the project that hooks of a package name is watched where they run', async () => {
  const folder = newFolder()
  const script = join(folder, 'guard.sh')
  writeFileSync(script, 'exit 0\n')
  const root = guarded(join(folder, 'package'), {
    'hooks/hooks.json': { hooks: { PreToolUse: [hook('sh "$CLAUDE_PROJECT_DIR/guard.sh"', 'mcp__echo__.*')] } },
  })
  const store = memoryStore()
  await trust(store, root)
  await using runtime = await open({ store, environments: { a: { cwd: folder } }, plugins: [{ path: root, environment: 'a' }] })
  await using session = await runtime.openSession(accept)
  expect(await info(session, { server: 'echo' })).toHaveProperty('args')
  writeFileSync(script, 'touch changed\n')
  const refused = await info(session, { server: 'echo' })
  expect(refused).toMatchObject({ outcome: 'refused', sent: 'no' })
  expect(refused.reason).toContain(`${script}, which the hook`)
  expect(existsSync(join(root, 'hooks/changed'))).toBe(false)
})

test('a change of the package.json of the project changes nothing for hooks that only go there', async () => {
  const folder = newFolder()
  const project = join(folder, 'project')
  writePackage(project, { 'package.json': {} })
  const command = 'cd "$CLAUDE_PROJECT_DIR" && sh "$CLAUDE_PLUGIN_ROOT/guard.sh" "$CLAUDE_PROJECT_DIR"'
  const root = guarded(join(folder, 'package'), { 'guard.sh': 'exit 0\n', 'hooks/hooks.json': { hooks: { PreToolUse: [hook(command)] } } })
  const store = memoryStore()
  await trust(store, root)
  await using runtime = await open({ store, environments: { a: { cwd: project } }, plugins: [{ path: root, environment: 'a' }] })
  await using session = await runtime.openSession(accept)
  expect(await info(session, { server: 'echo' })).toHaveProperty('args')
  writePackage(project, { 'package.json': { version: '2.0.0' } })
  expect(await info(session, { server: 'echo' })).toHaveProperty('args')
  writeFileSync(join(root, 'guard.sh'), 'exit 0 \n')
  expect((await info(session, { server: 'echo' })).reason).toContain('guard.sh')
})

test('hooks in the manifest, in a file that it names, and none; what cannot be read refuses every call', async () => {
  const folder = newFolder()
  const deny = hook('echo no >&2; exit 2')
  const inline = writePackage(join(folder, 'inline'), {
    '.claude-plugin/plugin.json': { name: 'inline', hooks: { PreToolUse: [deny] }, mcpServers: { inline: echo() } },
  })
  const named = writePackage(join(folder, 'named'), {
    '.codex-plugin/plugin.json': { name: 'named', hooks: './guards.json', mcpServers: { named: echo() } },
    'guards.json': { hooks: { PreToolUse: [deny] } },
  })
  const broken = writePackage(join(folder, 'broken'), { '.mcp.json': { broken: echo() }, 'hooks/hooks.json': '{ "hooks": ' })
  const outside = writePackage(join(folder, 'outside'), {
    '.codex-plugin/plugin.json': { name: 'outside', hooks: '../guards.json', mcpServers: { outside: echo() } },
  })
  for (const [name, root, file] of [
    ['inline', inline, join(inline, '.claude-plugin/plugin.json')],
    ['named', named, join(named, 'guards.json')],
    ['broken', broken, null],
    ['outside', outside, null],
  ] as const) {
    const store = memoryStore()
    if (file !== null) await trust(store, root, file)
    await using runtime = await open({ store, plugins: [{ path: root }] })
    await using session = await runtime.openSession(accept)
    const outcome = await info(session, { server: name })
    expect(outcome).toMatchObject({ outcome: 'refused', sent: 'no' })
    expect(outcome.reason).toMatch(file === null ? /cannot be read/ : /^no$/)
    expect(told(runtime).map((line) => line.split(':')[0])).toEqual(file === null ? ['hooks_unreadable'] : [])
  }
})

test.each<[string, object, string | null]>([
  ['hooks that are no hooks', { '.codex-plugin/plugin.json': { name: 'p', hooks: 5 } }, '.codex-plugin/plugin.json'],
  [
    'a list in which one is none',
    {
      '.codex-plugin/plugin.json': { name: 'p', hooks: ['./ok.json', true] },
      'ok.json': { hooks: { PreToolUse: [hook('true', 'none')] } },
    },
    '.codex-plugin/plugin.json',
  ],
  ['a folder of hooks that cannot be listed', { hooks: null }, 'hooks/hooks.json'],
  ['a file that is called hooks', { hooks: 'text' }, null],
])('%s: what is not known refuses every call', async (_what, files, where) => {
  const { hooks, ...written } = files as { readonly hooks?: string | null }
  const root = writePackage(join(newFolder(), 'package'), { '.mcp.json': { p: echo() }, ...written, ...(hooks && { hooks }) })
  // a link to itself can be neither listed nor read
  if (hooks === null) symlinkSync('hooks', join(root, 'hooks'))
  await using runtime = await open({ store: memoryStore(), plugins: [{ path: root }], mcpServers: { other: echo() as never } })
  await using session = await runtime.openSession(accept)
  const outcome = await info(session, { server: 'p' })
  const refused = { outcome: 'refused', sent: 'no', reason: expect.stringContaining('cannot be read') }
  const ran = { args: expect.anything() }
  expect(outcome).toMatchObject(where === null ? ran : refused)
  expect(runtime.diagnostics.filter(({ code }) => code === 'hooks_unreadable').map((one) => one.where)).toEqual(
    where === null ? [] : [join(root, where)],
  )
  // thread-wide: of no installation of an environment with the package
  expect(await info(session, { server: 'other' })).toHaveProperty('args')
})

test('the mode that is set for hooks of a package lasts for later sessions', async () => {
  const root = guarded(join(newFolder(), 'package'))
  await using runtime = await open({ store: memoryStore(), plugins: [{ path: root }] })
  await using session = await runtime.openSession(accept)
  const { name } = session.hookPlugins[0]!
  runtime.setPluginMode(name, 'off')
  await using next = await runtime.openSession(accept)
  expect(next.hookPlugins).toMatchObject([{ name, mode: 'off', openedAs: 'off' }])
  await session.close()
  await next.close()
  // also where no session has them any more
  runtime.setPluginMode(name, null)
  await using last = await runtime.openSession(accept)
  expect(last.hookPlugins).toMatchObject([{ name, mode: 'enforce' }])
})
