/** The built command line where no server is needed. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { MAIN, Place, server } from './tapline.ts'

const LIMIT = 60_000

test('help and version', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const help = await at.run(['--help'])
  expect(help.status).toBe(0)
  for (const command of ['tools', 'call', 'explain', 'status', 'resources', 'flags', 'config', 'trust', 'untrust', 'demo'])
    expect(help.stdout).toMatch(new RegExp(`^ +${command}\\b`, 'm'))
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  expect((await at.run(['--version'])).stdout).toBe(`${version}\n`)
  const bare = await at.run([])
  expect([bare.status, bare.stdout]).toEqual([2, ''])
  expect(bare.stderr).toContain('Usage: tapline')
})

test('the word help says what the option says, and is no failure', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  for (const [word, option] of [
    [['help'], ['--help']],
    [
      ['help', 'call'],
      ['call', '--help'],
    ],
  ] as const) {
    const [asked, expected] = await Promise.all([at.run(word), at.run(option)])
    expect(asked).toMatchObject({ status: 0, stderr: '', stdout: expected.stdout })
    expect(expected.stdout).toContain(`Usage: tapline${word[1] === undefined ? '' : ` ${word[1]}`} `)
  }
})

test('help loads nothing but the parser', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const loads = at.path('loads.txt')
  const hook = new URL('fixtures/log-loads.mjs', import.meta.url).href
  const { status } = spawnSync(process.execPath, ['--import', hook, MAIN, '--help'], { env: { ...process.env, LOADS: loads } })
  expect(status).toBe(0)
  const loaded = readFileSync(loads, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:') && url !== hook)
  expect(loaded.some((url) => url.includes('/commander/'))).toBe(true)
  expect(loaded.filter((url) => url.includes('/node_modules/') && !/\/(commander|picocolors)\//.test(url))).toEqual([])
  expect(loaded.filter((url) => /\/dist\/(?:cli\/)?(commands|config|runtime|connections|pipeline|plugins)\//.test(url))).toEqual([])
})

test.each([
  [['tols'], /unknown command 'tols' \(Did you mean tools\?\)/],
  [['tools', '--jsn'], /unknown option '--jsn' \(Did you mean --json\?\)/],
  [['call', 'x', '{"a":}', '--config', 'c.json'], /not JSON.*line 1, column 6/],
  [['call', 'x', '--approve', 'always', '--config', 'c.json'], /comes with a later version; use session/],
  [['tools', '--config', 'absent.json'], /absent\.json/],
  [['tools', '--config', 'bad.json'], /bad\.json:1:\d+/],
  [
    ['tools'],
    /no configuration: there is no tapline\.json or tapline\.toml or \.mcp\.json in \S+ or a folder above it, and no \S+tapline\.json/,
  ],
  [['flags', 'list', '--enable', 'multi_environment_mpc', '--config', 'c.json'], /multi_environment_mcp/],
])('one clear line, exit status 2, no stack: %j', { timeout: LIMIT }, async (args, message) => {
  await using at = await Place.make()
  await at.write('c.json', { mcpServers: {} })
  await at.write('bad.json', '{ "mcpServers": ')
  const people = await at.run(args)
  expect([people.status, people.stdout]).toEqual([2, ''])
  expect(people.stderr).toMatch(message)
  expect(people.stderr).not.toMatch(/\n\s+at /)
  const { status, json, stdout } = await at.run([...args, '--json'])
  expect(status).toBe(2)
  expect(json, stdout).toMatchObject({
    error: { code: expect.any(String), message: expect.stringMatching(message), remedy: expect.stringMatching(/./) },
  })
  expect((await at.run(args, { env: { TAPLINE_DEBUG: '1' } })).stderr).toMatch(/\n\s+at /)
})

test('trust and untrust', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const file = await realpath(await at.write('project/tapline.json', { mcpServers: { one: server('one') } }))
  const check = (): ReturnType<Place['run']> => at.run(['config', 'check', '--json'], { cwd: at.path('project') })
  const refused = await check()
  expect([refused.status, refused.json.error]).toMatchObject([
    2,
    { code: 'CONFIG_UNTRUSTED', remedy: expect.stringContaining('tapline trust') },
  ])
  expect(await at.run(['trust', 'project', '--json'])).toMatchObject({
    status: 0,
    json: { trusted: [file], servers: expect.any(Array), hooks: [] },
  })
  expect(await check()).toMatchObject({ status: 0, json: { ok: true, files: [{ kind: 'found' }], diagnostics: [] } })
  expect(await at.run(['untrust', 'project', '--json'])).toMatchObject({ status: 0, json: { trusted: [], untrusted: [file] } })
  expect((await check()).status).toBe(2)
  const nothing = await at.run(['trust', '--json'])
  expect([nothing.status, nothing.json.error.code]).toEqual([2, 'CONFIG_NOT_FOUND'])
})

test('config check tells every mistake with its place', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', '{\n  "mcpServres": {},\n  "features": 5\n}')
  const { status, json } = await at.run(['config', 'check', '--config', 'c.json', '--json'])
  expect([status, json.ok, json.diagnostics.length]).toEqual([2, false, 2])
  for (const line of [2, 3])
    expect(json.diagnostics.some((one: any) => one.severity === 'error' && new RegExp(`c\\.json:${line}:`).test(one.where))).toBe(true)
  const people = await at.run(['config', 'check', '--config', 'c.json'])
  expect(people.stdout).toMatch(/c\.json:2:\d+: .*mcpServers[\s\S]*not ok: 2 errors/)
  const tools = await at.run(['tools', '--config', 'c.json'])
  expect(tools.stderr).toMatch(/error: the configuration has 2 mistakes.*\n {2}\S*c\.json:2:\d+: [\s\S]*\n {2}\S*c\.json:3:\d+: /)
})

test('config show names places and hides secrets', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { mcpServers: { one: { ...server('one'), env: { API_TOKEN: '${TOKEN}', OTHER: 'plain-value' } } } })
  const { status, stdout, json } = await at.run(['config', 'show', '--config', 'c.json', '--json'], { env: { TOKEN: 'tok-456789' } })
  expect([status, json.servers[0]]).toMatchObject([0, { owner: { display: 'one' }, where: expect.stringMatching(/c\.json:1:/) }])
  expect(stdout).not.toContain('tok-456789')
  expect((await at.run(['config', 'show', '--config', 'c.json'])).stdout).toContain('"display": "one"')
})

test('flags list: value and source, also without a configuration', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const row = async (...args: string[]): Promise<unknown> =>
    (await at.run(['flags', 'list', '--json', ...args])).json.flags.find((one: any) => one.name === 'multi_environment_mcp')
  expect(await row()).toMatchObject({ value: false, source: 'default', reason: expect.any(String), stage: 'experimental' })
  await at.write('c.json', { features: { multi_environment_mcp: true } })
  expect(await row('--config', 'c.json')).toMatchObject({ value: true, source: 'configuration' })
  expect(await row('--config', 'c.json', '--disable', 'multi_environment_mcp')).toMatchObject({ value: false, source: 'override' })
  expect(await row('--config', 'c.json', '--flag', 'multi_environment_mcp=off')).toMatchObject({ value: false, source: 'override' })
  const variable = await at.run(['flags', 'list', '--json'], { env: { TAPLINE_FLAG_MULTI_ENVIRONMENT_MCP: 'on' } })
  expect(variable.json.flags[0]).toMatchObject({ value: true, source: 'environment_variable' })
})
