/** `tapline doctor`: each thing that can be wrong, with what to do about it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkNode } from '../../src/cli/doctor/this-machine.ts'
import { Place, server, until } from './tapline.ts'

const LIMIT = 60_000
const of = (json: any, check: string): any[] => json.checks.filter((one: any) => one.check === check)

test('all in order: status 0, a line for each thing, versions and counts of the servers', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { mcpServers: { one: server('A'), off: { ...server('B'), enabled: false } } })
  const { status, json, stderr } = await at.run(['doctor', '--config', 'c.json', '--json', '--quiet'])
  expect([status, stderr, json.ok]).toEqual([0, '', true])
  expect(json.checks.map((one: any) => [one.check, one.status])).toEqual([
    ['node', 'ok'],
    ['store', 'ok'],
    ['configuration', 'ok'],
    ['flags', 'ok'],
    ['environment', 'ok'],
    ['server', 'skipped'],
    ['server', 'ok'],
  ])
  expect(of(json, 'server')[1]).toMatchObject({
    owner: { name: 'one', environmentId: null, installationId: null, display: 'one' },
    message: expect.stringMatching(/^connected in \d+\.\d s, .*MCP 20\d\d-\d\d-\d\d, 6 tools$/),
    found: { protocolVersion: expect.any(String), serverInfo: expect.any(Object), startMs: expect.any(Number), tools: 6 },
  })
  const people = await at.run(['doctor', '--config', 'c.json'])
  expect([people.status, people.stdout]).toEqual([0, expect.stringMatching(/^ok {7}node: Node [\s\S]*\n7 checks: 0 failed, 0 warnings\n$/)])
  // each server was started once for each of the two
  expect(at.ledger().filter(({ ev }) => ev === 'start')).toHaveLength(2)
})

test('servers that fail: status 4, cause with the end of stderr, remedy; the others are looked at all the same', {
  timeout: LIMIT,
}, async () => {
  await using at = await Place.make()
  await at.write('c.json', {
    mcpServers: {
      a: server('A', 'dies'),
      b: server('B'),
      c: { command: 'tapline-no-such-program' },
      d: { ...server('D', 'dies'), required: true },
    },
  })
  const { status, json } = await at.run(['doctor', '--config', 'c.json', '--json'])
  expect([status, json.ok]).toEqual([4, false])
  expect(of(json, 'server')).toMatchObject([
    { status: 'failed', code: 'SERVER_START_FAILED', message: expect.stringContaining('no key'), remedy: expect.stringMatching(/./) },
    { status: 'ok' },
    { status: 'failed', code: 'SERVER_START_FAILED', message: expect.stringContaining('tapline-no-such-program') },
    { status: 'failed' },
  ])
  const people = await at.run(['doctor', '--config', 'c.json'])
  expect(people.stdout).toMatch(/^failed {3}server a: a ended .*no key.*\(SERVER_START_FAILED\)\n {9}\S/m)
  expect(people.stdout).not.toContain('\u001b')
  // only what is asked for is started
  const one = await at.run(['doctor', '--config', 'c.json', '--json', '--server', 'b'])
  expect([one.status, of(one.json, 'server').length]).toEqual([0, 1])
  const none = await at.run(['doctor', '--config', 'c.json', '--json', '--server', 'bb'])
  expect([none.status, of(none.json, 'server')]).toMatchObject([4, [{ status: 'failed', code: 'UNKNOWN_SERVER' }]])
})

test.each<[string, (at: Place) => Promise<string[]>, object]>([
  ['no configuration', async () => [], { check: 'configuration', code: 'CONFIG_NOT_FOUND' }],
  [
    'a file that is not trusted',
    async (at) => (await at.write('tapline.json', { mcpServers: { a: server('A') } }), []),
    { check: 'trust', code: 'CONFIG_UNTRUSTED', remedy: expect.stringContaining('tapline trust') },
  ],
  [
    'a mistake in the file',
    async (at) => (await at.write('c.json', '{\n  "mcpServres": {}\n}'), ['--config', 'c.json']),
    {
      check: 'configuration',
      code: 'CONFIG_INVALID',
      where: expect.stringMatching(/c\.json:2:/),
      message: expect.stringContaining('mcpServers'),
    },
  ],
  [
    'a flag that does not exist',
    async (at) => (await at.write('c.json', { features: { multi_environment_mpc: true } }), ['--config', 'c.json']),
    { check: 'flags', code: 'FLAG_UNKNOWN', message: expect.stringContaining('multi_environment_mcp') },
  ],
  [
    'a hook module that is not there',
    async (at) => (await at.write('c.json', { hooks: ['./absent.js'] }), ['--config', 'c.json']),
    { check: 'configuration', code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining('absent.js') },
  ],
  [
    'a hook module that throws',
    async (at) => (
      await at.write('bad.mjs', 'throw new Error("not today")'), await at.write('c.json', { hooks: ['./bad.mjs'] }), ['--config', 'c.json']
    ),
    { check: 'hooks', code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining('not today') },
  ],
])('%s: status 2, told as a check', { timeout: LIMIT }, async (_, set, expected) => {
  await using at = await Place.make()
  const args = await set(at)
  const { status, json } = await at.run(['doctor', ...args, '--json'])
  expect([status, json.ok]).toEqual([2, false])
  const failures = json.checks.filter((one: any) => one.status === 'failed')
  expect(failures).toContainEqual(expect.objectContaining(expected))
  for (const failure of failures) expect(failure).toMatchObject({ remedy: expect.stringMatching(/./), message: expect.stringMatching(/./) })
  // machine and store are looked at whatever the files say
  expect(json.checks.slice(0, 2)).toMatchObject([{ check: 'node', status: 'ok' }, { check: 'store' }])
})

test.runIf(process.platform !== 'win32')('a store that others can read or write', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { mcpServers: {} })
  const folder = at.path('state/tapline')
  await mkdir(folder, { recursive: true })
  const check = async (): Promise<any> =>
    of((await at.run(['doctor', '--config', 'c.json', '--json'], { env: { XDG_STATE_HOME: at.path('state') } })).json, 'store')[0]
  await chmod(folder, 0o700)
  expect(await check()).toMatchObject({ status: 'ok' })
  await writeFile(`${folder}/trust.json`, '{}')
  await chmod(`${folder}/trust.json`, 0o644)
  expect(await check()).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('trust.json'),
    remedy: expect.stringContaining('chmod'),
  })
  await chmod(folder, 0o777)
  expect(await check()).toMatchObject({ status: 'failed', code: 'STORE_FAILED', remedy: `Run chmod 700 ${folder}.` })
})

test('a Node that is too old; the oldest one is that of package.json', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } }
  const oldest = engines.node.replace('>=', '')
  expect(checkNode(`${oldest}.0`)).toMatchObject({ status: 'ok' })
  for (const version of ['18.20.8', '20.18.3'])
    expect(checkNode(version)).toMatchObject({ status: 'failed', remedy: expect.stringMatching(/./) })
  expect(checkNode('21.0.0')).toMatchObject({ status: 'ok' })
  expect(checkNode('18.0.0').message).toContain(oldest)
})

test.runIf(process.platform === 'linux')('a server that an earlier run left behind', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const definition = server('left-behind') as { command: string; args: string[] }
  await at.write('c.json', { mcpServers: { a: definition } })
  // a shell that ends leaves it without a parent; a pipe that nobody closes keeps it alive
  const shell = spawn('sh', ['-c', 'tail -f /dev/null | "$@" >/dev/null & echo $! >&2', 'sh', definition.command, ...definition.args], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    let said = ''
    shell.stderr.on('data', (chunk: Buffer) => (said += String(chunk)))
    await until(() => /\d+\n/.test(said))
    const parent = (pid: string): string => /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!
    const pid = said.trim()
    await until(() => parent(pid) !== String(shell.pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('left-behind'))
    const { json } = await at.run(['doctor', '--config', 'c.json', '--json'])
    // in a session with a reaper of its own, orphans have another parent than 1 and are not told
    const told = of(json, 'process').filter(({ message }) => message.includes(`process ${pid} was started like a `))
    expect(told.map(({ status, owner }) => [status, owner.name])).toEqual(parent(pid) === '1' ? [['warning', 'a']] : [])
  } finally {
    process.kill(-shell.pid!, 'SIGKILL')
  }
})

test.runIf(process.platform !== 'win32')(
  'a codexExecutable that is not offered is told, by config check where it is not there',
  { timeout: LIMIT },
  async () => {
    await using at = await Place.make()
    const program = async (name: string, status: number): Promise<string> => {
      const file = await at.write(name, `#!/bin/sh\nexit ${status}\n`)
      await chmod(file, 0o755)
      return file
    }
    await at.write('c.json', {
      environments: {
        good: { cwd: '.', codexExecutable: await program('good', 0) },
        bad: { cwd: '.', codexExecutable: await program('bad', 2) },
        gone: { cwd: '.', codexExecutable: at.path('gone') },
      },
      mcpServers: { a: server('A') },
    })
    const { status, json } = await at.run(['doctor', '--config', 'c.json', '--json'])
    const launchers = of(json, 'environment').filter(({ message }) => /sandbox commands/.test(message))
    expect([status, launchers.map((one) => [one.environmentId, one.status, one.code])]).toEqual([
      0,
      [
        ['good', 'ok', undefined],
        ['bad', 'warning', 'launcher_not_offered'],
        ['gone', 'warning', 'launcher_not_offered'],
      ],
    ])
    const checked = await at.run(['config', 'check', '--config', 'c.json', '--json'])
    expect([checked.status, checked.json.diagnostics.map((one: any) => [one.code, one.message.includes('gone')])]).toEqual([
      0,
      [['launcher_not_offered', true]],
    ])
  },
)

test('an executor that no command knows is told, with the nearest kind', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { environments: { x: { executor: 'exec-servr', cwd: '/tmp', mcpServers: { a: server('A') } } } })
  const checked = await at.run(['config', 'check', '--config', 'c.json', '--json'])
  expect(checked.json.diagnostics).toMatchObject([{ code: 'executor_of_host', message: expect.stringContaining('"exec-server"') }])
  const tools = await at.run(['tools', '--config', 'c.json', '--json'])
  expect([tools.status, tools.json.errors]).toMatchObject([
    4,
    [{ code: 'ENVIRONMENT_UNSUPPORTED', remedy: expect.stringContaining('local, command, ssh, exec-server') }],
  ])
})

test('a server with a name that is none leaves nothing to list: status 4', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { mcpServers: { 'a b': server('A') } })
  expect(await at.run(['tools', '--config', 'c.json'])).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('is no name for a server'),
  })
})

test('a mistake in a server is told once: with the server', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { mcpServers: { bad: { url: 'ftp://x' }, good: server('A') } })
  const { status, stderr } = await at.run(['tools', '--config', 'c.json'])
  expect([status, stderr.match(/must be an http:/g)?.length]).toEqual([0, 1])
  // a command that lists no failures tells it at its end
  const called = await at.run(['call', '--config', 'c.json', '--server', 'good', 'echo', '{"a":1}'])
  expect([called.status, called.stderr.match(/must be an http:/g)?.length]).toEqual([0, 1])
})
