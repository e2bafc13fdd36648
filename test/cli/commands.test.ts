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

test('help about a command that does not exist names it, and the nearest one', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  for (const [args, message] of [
    [['help', 'nosuch'], /there is no command "nosuch"/],
    [['help', 'tols'], /there is no command "tols" \(did you mean "tools"\?\)/],
    [['config', 'help', 'chek'], /there is no command "chek" \(did you mean "check"\?\)/],
    [[], /no command was given/],
    [['config'], /no command was given/],
  ] as const) {
    const { status, stdout, stderr } = await at.run(args)
    expect([args, status, stdout]).toEqual([args, 2, ''])
    expect(stderr).toMatch(message)
  }
})

test('a mistake of usage names the help of the command that was meant', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  for (const [args, command] of [
    [['tols'], 'tapline'],
    [['call'], 'tapline call'],
    [['--config', 'x.json', 'resources', 'read'], 'tapline resources read'],
    [['config'], 'tapline config'],
  ] as const)
    expect((await at.run([...args, '--json'])).json.error.remedy).toBe(`Run \`${command} --help\` to see the commands and options.`)
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
  [['call', 'x', '{"a":}', '--config', 'c.json'], /the arguments are not JSON: value expected/],
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

test('config check tells mistakes of servers and of built-in plugins in the same round', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const servers = { mcpServers: { a: { comand: 'x' } } }
  await at.write('c.json', { ...servers, mcpServer: {} })
  await at.write('d.json', { ...servers, hooks: [{ builtin: 'tool-list', options: { dny: ['x'] } }, { builtin: 'dry-run' }] })
  const codes = async (file: string): Promise<string[]> => {
    const { status, json } = await at.run(['config', 'check', '--config', file, '--json'])
    expect(status).toBe(2)
    return json.diagnostics.map(({ message }: any) => message)
  }
  expect(await codes('c.json')).toEqual([
    expect.stringContaining('unknown key "mcpServer"'),
    expect.stringContaining('unknown key "comand"'),
    expect.stringContaining('needs "command"'),
  ])
  expect(await codes('d.json')).toContainEqual(expect.stringMatching(/tool-list does not accept its options: .*dny: is no option/))
})

test('config check tells who loses a bare name, as the flag is now', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const environments = { a: { mcpServers: { files: server('a') } }, b: { mcpServers: { files: server('b'), Files: server('c') } } }
  await at.write('c.json', { environments })
  const codes = async (...more: string[]): Promise<string[]> => {
    const { status, json } = await at.run(['config', 'check', '--config', 'c.json', '--json', ...more])
    expect(status).toBe(0)
    return json.diagnostics.map((one: any) => `${one.code} ${one.owner?.display ?? ''}`.trim())
  }
  expect(await codes()).toEqual(['names_differ_only_in_case', 'shadowed files (environment b)'])
  expect(await codes('--enable', 'multi_environment_mcp')).toEqual(['names_differ_only_in_case'])
  const bad = await at.run(['config', 'check', '--config', 'c.json', '--json', '--flag', 'multi_environment_mcp=maybe'])
  expect([bad.status, bad.json.diagnostics[0].message]).toEqual([2, expect.stringContaining('it is one of true, false, on, off, 1, 0')])
  await at.write('d.json', { environments, selectedEnvironments: ['c'] })
  const absent = await at.run(['config', 'check', '--config', 'd.json', '--json'])
  expect([absent.status, absent.json.diagnostics]).toMatchObject([
    2,
    [{ where: expect.stringMatching(/d\.json:1:\d+$/), message: expect.stringContaining('there is no environment "c"') }],
  ])
})

test('config schema is JSON Schema, on stdout alone', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  for (const more of [[], ['--json']]) {
    const { status, json, stderr } = await at.run(['config', 'schema', ...more])
    expect([status, json.$schema, json.properties.mcpServers.$ref, stderr]).toEqual([
      0,
      'http://json-schema.org/draft-07/schema#',
      '#/definitions/servers',
      '',
    ])
  }
})

test('config show and check on files of every format', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('tapline.toml', '[mcp_servers.toml]\ncommand = "node"\nenv = { API_TOKEN = "literal-1" }\n')
  await at.write(
    'config.toml',
    'model = "m"\n[mcp_servers.codex]\nurl = "https://x.test/"\nhttp_headers = { Authorization = "literal-2" }\n',
  )
  await at.write('claude_desktop_config.json', { mcpServers: { claude: { command: 'node', env: { MY_KEY: 'literal-3' } } } })
  await at.write('.vscode/mcp.json', {
    inputs: [{ type: 'promptString', id: 'key', description: 'Key', password: true }],
    servers: { vscode: { command: 'node', args: ['${input:key}'], env: { A: '${input:key}' } } },
  })
  const files = ['tapline.toml', 'config.toml', 'claude_desktop_config.json', '.vscode/mcp.json'].flatMap((name) => ['--config', name])
  const { status, json, stdout } = await at.run(['config', 'show', '--json', ...files], { env: { TAPLINE_INPUT_KEY: 'given-secret' } })
  expect(status).toBe(0)
  expect(stdout).not.toMatch(/literal-|given-secret/)
  expect(json.servers.map((one: any) => `${one.owner.name} ${one.where.replace(/^.*work\//, '')} ${one.problem}`)).toEqual([
    'toml tapline.toml:1:14 null',
    'codex config.toml:2:14 null',
    expect.stringMatching(/^claude claude_desktop_config\.json:1:\d+ null$/),
    expect.stringMatching(/^vscode \.vscode\/mcp\.json:1:\d+ null$/),
  ])
  const check = await at.run(['config', 'check', '--json', ...files])
  expect(
    check.json.diagnostics.find((one: any) => one.code === 'server_will_not_start' && /TAPLINE_INPUT_KEY/.test(one.message)),
  ).toBeTruthy()
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
