import { symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { localExecutor } from '../../src/connections/executors/local.ts'
import { defineExecutor, openRuntime } from '../../src/index.ts'
import type { Executor, ExecutorDefinition } from '../../src/index.ts'
import { z } from 'zod'
import { echo, info, newFolder, ON, told, writePackage } from './package-kit.ts'

const SECRET = 'TAPLINE_PACKAGES_TEST'
process.env[SECRET] = 'of this machine'
const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`

/** A bridge with a folder that only it has: descriptor 9 is open there and nowhere else. */
const bridge = (folder: string): object => ({
  executor: 'command',
  prefix: ['env', `PATH=${PATH}`, 'sh', '-c', 'exec 9<"$0"; exec "$@"', folder],
  cwd: '/',
})

test.runIf(process.platform === 'linux')('a package that only the other machine has, through a command; selected and found', async () => {
  const folder = newFolder()
  const far = join(folder, 'far ü')
  writePackage(join(far, 'probe'), {
    '.claude-plugin/plugin.json': { name: 'probe', version: '2.0.0' },
    'hooks/hooks.json': { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'exit 2' }] }] } },
    '.mcp.json': {
      mcpServers: {
        echo: echo({ env: { ROOT: '${PLUGIN_ROOT}', DATA: '${PLUGIN_DATA}' }, env_vars: [SECRET] }),
        out: echo({ cwd: './link' }),
        dots: echo({ cwd: '..' }),
      },
    },
  })
  symlinkSync('/usr', join(far, 'probe', 'link'))
  writePackage(join(far, 'found'), { '.mcp.json': { quiet: echo({ env_vars: [SECRET] }), nosy: echo({ env: { A: `\${${SECRET}}` } }) } })
  await using runtime = await openRuntime({
    ...ON,
    environments: { box: { ...bridge(far), pluginRoots: ['/proc/self/fd/9/*'] } },
    plugins: [{ path: '/proc/self/fd/9/probe', environment: 'box', installation: 'a' }],
  })
  await using session = await runtime.openSession({ approver: () => Promise.resolve({ action: 'accept' }) })
  expect((await runtime.packages()).map(({ id, version, root, installationId }) => [id, version, root, installationId])).toEqual([
    ['probe', '2.0.0', join(far, 'probe'), 'a'],
    ['found', null, join(far, 'found'), null],
  ])
  const said = await info(session, { server: 'echo' })
  expect([said.cwd, said.env.ROOT, said.env[SECRET]]).toEqual([join(far, 'probe'), join(far, 'probe'), 'of this machine'])
  expect(said.env.DATA).toMatch(/^\/\.tapline\/plugin-data\/probe-/)
  for (const server of ['out', 'dots'])
    expect(await info(session, { server })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/box:\/.*probe\/\.mcp\.json:\d+:\d+.*cwd/),
    })
  // what was only found may have nothing of this machine
  expect((await info(session, { server: 'quiet' })).env).not.toHaveProperty(SECRET)
  expect(await info(session, { server: 'nosy' })).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(SECRET) })
  // nor does anything of its run here
  expect(told(runtime)).toContainEqual(expect.stringMatching(/^hooks_not_run: the hooks of the plugin package probe .*environment box/))
  expect(told(runtime)).toContainEqual(expect.stringMatching(new RegExp(`^variables_kept_back: ${SECRET} .*"quiet"`)))
})

test('an executor that refuses costs a diagnostic, and the next session tries again; others have their packages', async () => {
  const folder = newFolder()
  const root = writePackage(join(folder, 'p'), { '.mcp.json': { echo: echo() } })
  let isThere = false
  const box = defineExecutor({
    kind: 'box',
    options: z.object({}),
    connect: (_, context) => (isThere ? localExecutor.connect(context) : Promise.reject(new Error('nobody is at home'))),
  })
  await using runtime = await openRuntime({
    ...ON,
    environments: { a: { executor: box({}), cwd: folder, pluginRoots: [root] }, b: { cwd: folder, pluginRoots: [root] } },
  })
  const owners = async (): Promise<string[]> => {
    await using session = await runtime.openSession()
    return session.servers.map(({ owner }) => String(owner))
  }
  expect(await owners()).toEqual(['echo (environment b)'])
  expect(await owners()).toEqual(['echo (environment b)'])
  expect(told(runtime)).toEqual([expect.stringMatching(/^packages_unread: .*environment a were not read: nobody is at home/)])
  isThere = true
  expect(await owners()).toEqual(['echo (environment a)', 'echo (environment b)'])
})

test('an executor that never answers: the session opens without its packages, and later ones have them', { timeout: 60_000 }, async () => {
  const folder = newFolder()
  const root = writePackage(join(folder, 'p'), { '.mcp.json': { echo: echo() } })
  let goOn = (): void => {}
  const open = new Promise<void>((resolve) => (goOn = resolve))
  const slow: ExecutorDefinition = { kind: 'slow', connect: (context) => open.then(() => localExecutor.connect(context)) }
  await using runtime = await openRuntime({ ...ON, environments: { a: { executor: slow, cwd: folder, pluginRoots: [root] } } })
  {
    await using session = await runtime.openSession()
    expect(session.servers).toEqual([])
  }
  expect(told(runtime)).toEqual([expect.stringMatching(/^packages_unread: .*environment a were not read within 10 s/)])
  goOn()
  await using session = await runtime.openSession()
  expect(session.servers.map(({ owner }) => String(owner))).toEqual(['echo (environment a)'])
})

test('executors that can less: no files, no links, no discovery; one that answers nonsense', async () => {
  const folder = newFolder()
  const root = writePackage(join(folder, 'p'), { '.mcp.json': { echo: echo() } })
  const place = (change: (executor: Executor) => Partial<Executor>): ExecutorDefinition => ({
    kind: 'less',
    connect: async (context) => {
      const { startStdio, readFile, listDirectory, realPath } = await localExecutor.connect(context)
      const whole = {
        startStdio,
        readFile,
        listDirectory,
        realPath,
        lost: new Promise<never>(() => {}),
        dispose: async () => {},
      } as Executor
      return { ...whole, ...change(whole) }
    },
  })
  const { realPath: _, ...noLinks } = { realPath: undefined }
  await using runtime = await openRuntime({
    ...ON,
    environments: {
      files: { executor: place(() => ({ readFile: undefined as never })), cwd: folder, pluginRoots: [root] },
      links: { executor: place(() => ({ ...noLinks, realPath: undefined as never })), cwd: folder, pluginRoots: [root], discover: true },
      nonsense: { executor: place(() => ({ listDirectory: async () => 5 as never })), cwd: folder, pluginRoots: [root] },
      asked: { executor: place(() => ({ discoverPackages: async () => [root] })), cwd: folder, discover: true },
    },
  })
  await using session = await runtime.openSession()
  expect(session.servers.map(({ owner }) => String(owner))).toEqual(['echo (environment asked)', 'echo (environment links)'])
  const all = told(runtime).join('\n')
  expect(all).toMatch(/packages_unread: .*environment files were not read: .*reads no files/)
  expect(all).toMatch(/links_unchecked: .*environment links/)
  expect(all).toMatch(/ENVIRONMENT_UNSUPPORTED: .*environment links knows of no plugin packages/)
  expect(all).toMatch(/packages_unread: .*environment nonsense were not read/)
})
