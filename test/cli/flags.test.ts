import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { rollout } from '../flags/flag-file.ts'
import { Place } from './tapline.ts'

const LIMIT = 60_000

test('flags alone lists; a targeting key decides a roll-out, on the command line before the variable', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('flags.json', rollout(50))
  await at.write('c.json', { flags: { flagd: 'flags.json' } })
  const value = async (args: readonly string[], env = {}): Promise<unknown> => {
    const { json } = await at.run(['flags', '--json', '--config', 'c.json', ...args], { env })
    return [json.flags[0].value, json.flags[0].source, json.flags[0].variant]
  }
  const [yes, no] = [
    [true, 'provider', 'on'],
    [false, 'provider', 'off'],
  ]
  // what these two keys get is fixed by the hash of flagd
  expect(await value(['--targeting-key', 'user-1'])).toEqual(yes)
  expect(await value(['--targeting-key', 'user-4'])).toEqual(no)
  expect(await value([], { TAPLINE_TARGETING_KEY: 'user-4' })).toEqual(no)
  expect(await value(['--targeting-key', 'user-1'], { TAPLINE_TARGETING_KEY: 'user-4' })).toEqual(yes)
  const tools = await at.run(['flags', '--config', 'c.json', '--targeting-key', 'user-1'])
  expect(tools.stdout).toMatch(/^multi_environment_mcp +true +provider +experimental/)
})

test('flags explain: every source with what it said, and which counts; a broken flag file is told', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('flags.json', rollout(100))
  await at.write('c.json', { features: { multi_environment_mcp: false }, flags: { flagd: 'flags.json' } })
  const args = ['flags', 'explain', 'multi_environment_mcp', '--config', 'c.json']
  const { json } = await at.run([...args, '--json', '--disable', 'multi_environment_mcp'], {
    env: { TAPLINE_FLAG_MULTI_ENVIRONMENT_MCP: 'on' },
  })
  expect(json.flag).toMatchObject({
    name: 'multi_environment_mcp',
    value: false,
    source: 'override',
    stage: 'experimental',
    description: expect.any(String),
  })
  expect(json.sources.map(({ source, value, counts }: any) => [source, value, counts])).toEqual([
    ['override', false, true],
    ['environment_variable', true, false],
    ['provider', true, false],
    ['configuration', false, false],
    ['default', false, false],
  ])
  expect(json.sources[3].where).toMatch(/c\.json:1:\d+$/)
  await at.write('flags.json', '{\n "flags": ')
  const broken = await at.run(args)
  expect([broken.status, broken.stdout]).toEqual([0, expect.stringMatching(/> +configuration +false/)])
  expect(broken.stderr).toMatch(/error: .*flags\.json:2:\d+: the flag file .* cannot be used: it is not JSON/)
  const unknown = await at.run(['flags', 'explain', 'multi_enviroment_mcp'])
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('did you mean "multi_environment_mcp"?')])
})

test('flags simulate: shares and bars; mistakes of the file have a place', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('flags.json', rollout(25))
  const { json } = await at.run(['flags', 'simulate', 'flags.json', '--keys', '4000', '--json'])
  expect(json).toMatchObject({ keys: 4000, flags: [{ name: 'multi_environment_mcp', enabled: true, errors: [] }] })
  const [on, off] = json.flags[0].shares
  expect([on.variant, on.value, off.variant, on.count + off.count]).toEqual(['on', true, 'off', 4000])
  expect(Math.abs(on.share - 0.25)).toBeLessThan(0.02)
  const text = await at.run(['flags', 'simulate', 'flags.json', 'multi_environment_mcp'])
  expect(text.stdout).toMatch(
    /multi_environment_mcp 10000 keys\n {2}on +2\d\.\d\d % +2\d\d\d {2}#{9,11}\n {2}off +7\d\.\d\d % +7\d\d\d {2}#{29,31}\n$/,
  )
  await at.write('broken.json', '{"flags":{"a":{"state":"ENABLED","variants":{"x":1}},}}')
  const failures = [
    [['broken.json'], 2, /broken\.json:1:\d+: the flag file cannot be used/],
    [['none.json'], 2, /none\.json cannot be read: it is not there \(CONFIG_NOT_FOUND\)/],
    [['.'], 2, /cannot be read: it is a folder \(CONFIG_INVALID\)/],
    [['flags.json', 'multi_environment'], 2, /has no flag "multi_environment": did you mean "multi_environment_mcp"/],
    [['flags.json', '--keys', '0'], 2, /from 1 to 1000000/],
  ] as const
  for (const [args, status, words] of failures) {
    const ended = await at.run(['flags', 'simulate', ...args])
    expect([ended.status, ended.stderr]).toEqual([status, expect.stringMatching(words)])
  }
})

test('config check reports a flag file that cannot be used', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('c.json', { flags: { flagd: 'flags.json' } })
  const { status, json } = await at.run(['config', 'check', '--json', '--config', 'c.json'])
  expect([status, json.diagnostics]).toEqual([2, [expect.objectContaining({ code: 'flag_file_unusable', where: at.path('flags.json') })]])
})

test.runIf(process.platform !== 'win32')('flags simulate does not wait for a pipe', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  execFileSync('mkfifo', [at.path('pipe.json')])
  const { status, stderr } = await at.run(['flags', 'simulate', 'pipe.json'])
  expect([status, stderr]).toEqual([2, expect.stringContaining('it is not a file (CONFIG_INVALID)')])
})

test('flags says why a flag file has no say: of a file that was only found, or a value that is none', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  const mode = (value: string): object => ({ state: 'ENABLED', variants: { all: value }, defaultVariant: 'all' })
  await at.write('flags.json', { flags: { guard: mode('shadw') } })
  const file = { flags: { flagd: 'flags.json' }, hooks: [{ module: './guard.mjs', mode: { flag: 'guard', default: 'enforce' } }] }
  await at.write('tapline.json', file)
  const named = await at.run(['flags', 'explain', 'guard', '--config', 'tapline.json'])
  expect([named.status, named.stdout]).toEqual([0, expect.stringContaining('guard = enforce')])
  expect(named.stderr).toMatch(/^warning: the provider has no say in guard, which is enforce \(default\): "shadw" is not one of/)
  await at.run(['trust'])
  const found = await at.run(['flags'])
  expect([found.status, found.stderr]).toEqual([0, expect.stringMatching(/^warning: .*tapline\.json:1:\d+: "flags" in .* is ignored/)])
})

test('config check: a mode flag that is named with two defaults, or is no mode, has a place', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('guard.mjs', '')
  const entry = (flag: string, otherwise: string): object => ({ module: './guard.mjs', mode: { flag, default: otherwise } })
  for (const hooks of [
    [entry('guard', 'shadow'), entry('guard', 'enforce')],
    [entry('guard', 'shadow'), entry('multi_environment_mcp', 'shadow')],
  ]) {
    const text = JSON.stringify({ hooks })
    const where = await at.write('c.json', text)
    const { status, json } = await at.run(['config', 'check', '--json', '--config', 'c.json'])
    const place = `${where}:1:${text.lastIndexOf('{"module"') + 1}`
    expect([status, json.diagnostics]).toEqual([2, [expect.objectContaining({ code: 'FLAG_BAD_VALUE', where: place })]])
  }
})
