/** `tapline environments` with places of every kind that needs nothing but this machine. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { Case, said, server, SLOW } from '../cases/driver.ts'

const FAR = (at: Case): object => ({ executor: 'command', prefix: ['env', '-i', 'HOME=/far', `PATH=${at.env['PATH']}`], cwd: at.dir })

test('list starts nothing and names kind, folder, selection and servers', SLOW, async () => {
  await using at = new Case()
  at.write('tapline.json', {
    environments: {
      box: { ...FAR(at), permissions: 'read-only', mcpServers: { a: server('echo.mjs') } },
      vm: { executor: 'exec-server', url: 'ws://127.0.0.1:9', cwd: '/srv' },
    },
    mcpServers: { wide: server('echo.mjs', [], { environment: 'box' }) },
    selectedEnvironments: ['box'],
  })
  const { status, json } = await at.run(['environments', 'list'])
  expect([status, json.environments]).toMatchObject([
    0,
    [
      { id: 'box', executor: 'command', cwd: at.dir, permissions: 'read-only', selected: true, servers: ['a (environment box)', 'wide'] },
      {
        id: 'vm',
        executor: 'exec-server',
        cwd: '/srv',
        permissions: null,
        selected: false,
        servers: [],
        where: expect.stringContaining('tapline.json:'),
      },
      { id: 'local', selected: false },
    ],
  ])
  expect(at.ledger()).toEqual([])
  expect((await at.run(['environments', 'list'], { json: false })).stdout).toMatch(
    /^box +command .* 2 servers\nvm +exec-server +\/srv +0 servers, not selected\n/,
  )
})

test('check says platform and times of what is there, and why the rest is not; status 4 then', SLOW, async () => {
  await using at = new Case()
  at.write('tapline.json', {
    environments: {
      here: { cwd: '.' },
      box: { ...FAR(at), mcpServers: { a: server('echo.mjs') } },
      gone: { executor: 'exec-server', url: 'ws://127.0.0.1:9', cwd: '/srv' },
      broken: { executor: 'command', prefix: ['sh', '-c', 'echo no such container >&2; exit 1'], cwd: '/srv' },
      missing: { executor: 'command', prefix: [path.join(at.dir, 'no-such-bridge')], cwd: '/srv' },
    },
  })
  const { status, json } = await at.run(['environments', 'check'])
  expect(status).toBe(4)
  const rows = Object.fromEntries(json.environments.map((row: any) => [row.id, row]))
  expect(Object.keys(rows)).toEqual(['here', 'box', 'gone', 'broken', 'missing'])
  expect(rows.here).toMatchObject({ state: 'ready', platform: process.platform, connectMs: expect.any(Number) })
  expect(rows.box).toMatchObject({ state: 'ready', platform: process.platform, home: '/far', latencyMs: expect.any(Number) })
  expect(rows.gone).toMatchObject({
    state: 'lost',
    error: { code: 'ENVIRONMENT_UNAVAILABLE', message: expect.stringContaining('nothing listens') },
  })
  expect(rows.broken.error).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE', message: expect.stringContaining('no such container') })
  expect(rows.missing.error.message).toContain('was not found')
  expect(at.ledger()).toEqual([])
  const one = await at.run(['environments', 'check', 'box'], { json: false })
  expect([one.status, one.stdout]).toEqual([
    0,
    expect.stringMatching(/^box +command .*connected in \d+ ms, answers in [\d.]+ ms +1 server\n$/),
  ])
  const none = await at.run(['environments', 'check', 'nowhere'])
  expect([none.status, none.json.error.code]).toEqual([2, 'ENVIRONMENT_UNKNOWN'])
  expect(said(await at.run(['environments', 'check'], { json: false }))).toContain('no such container')
})

test('check reads the plugin packages that are there, and tells what is wrong with them', SLOW, async () => {
  await using at = new Case()
  at.write('far/found/.codex-plugin/plugin.json', { name: 'probe', version: '1.0.0' })
  at.write('far/found/.mcp.json', { echo: server('echo.mjs'), pong: server('echo.mjs') })
  at.write('far/second/.mcp.json', { ping: server('echo.mjs') })
  at.write('far/broken/.mcp.json', '{')
  at.write('tapline.json', {
    environments: {
      box: { ...FAR(at), pluginRoots: ['far/found', 'far/broken'] },
      gone: { executor: 'exec-server', url: 'ws://127.0.0.1:9', cwd: '/srv', pluginRoots: ['/opt/*'] },
    },
    plugins: [{ path: 'far/second', environment: 'box', installation: 'two' }],
  })
  const { status, json } = await at.run(['environments', 'check'])
  expect([status, json.environments]).toMatchObject([
    4,
    [
      {
        id: 'box',
        state: 'ready',
        servers: [],
        packages: [
          { id: 'second', version: null, installationId: 'two', servers: ['ping (environment box, installation two)'] },
          { id: 'probe', version: '1.0.0', installationId: null, servers: ['echo (environment box)', 'pong (environment box)'] },
          { id: 'broken', servers: [] },
        ],
      },
      { id: 'gone', state: 'lost', error: { code: 'ENVIRONMENT_UNAVAILABLE' } },
    ],
  ])
  expect(json.diagnostics.map(({ message, where }: any) => `${message} ${where}`).join()).toContain('broken/.mcp.json')
  expect(at.ledger()).toEqual([])
  const text = await at.run(['environments', 'check', 'box'], { json: false })
  expect([text.status, text.stdout]).toEqual([0, expect.stringContaining('0 servers, 3 plugin packages')])
  expect(said(text)).toContain('broken/.mcp.json')
})

test('a token is in no output, whatever goes wrong', SLOW, async () => {
  await using at = new Case()
  at.write('tapline.json', {
    environments: { vm: { executor: 'exec-server', url: 'ws://127.0.0.1:9', bearerTokenEnvVar: 'VM_TOKEN', cwd: '/srv' } },
  })
  for (const args of [['environments', 'list'], ['environments', 'check'], ['config', 'show'], ['tools'], ['status']])
    expect(said(await at.run(args, { env: { VM_TOKEN: 'very-secret-token-1' } }))).not.toContain('very-secret-token-1')
})
