/** Variables of odd form, and secrets that come back by every way a server has. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Ended } from './driver.ts'
import { Case, end, said, server, SLOW } from './driver.ts'

const MODES = ['plain', 'noisy', 'refuses', 'dies'] as const
const COMMANDS = [
  ['tools'],
  ['status'],
  ['config', 'show'],
  ['call', '--server', 'plain', 'hello', '--trace'],
  ['call', '--server', 'plain', 'fails', '--trace'],
  ['call', '--server', 'plain', 'quits'],
  ['call', '--server', 'dies', 'hello'],
  ['call', '--server', 'refuses', 'hello'],
  ['explain', '--server', 'plain', 'hello'],
  ['resources', 'list'],
]
const SOME = COMMANDS.filter(([command, ...rest]) => ['status', 'config'].includes(command as string) || rest.includes('dies'))
/** The forms in which a value is read back out of text or JSON. */
const forms = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1),
]

/** Runs commands that show something, in JSON and for people, and gives those whose output holds one of the values. */
async function leaks(at: Case, env: Record<string, string>, values: readonly string[], commands = COMMANDS): Promise<string[]> {
  const found: string[] = []
  for (const args of commands) {
    for (const json of args[0] === 'config' || args[1] === 'list' ? [true] : [true, false]) {
      const out = said(await at.run(args, { env, json }))
      if (out.trim() === '') found.push(`${args.join(' ')}: says nothing`)
      for (const value of values.flatMap(forms)) if (out.includes(value)) found.push(`${args.join(' ')}: ${value} in ${out}`)
    }
  }
  return found
}
const leaky = (args: readonly string[], env: object): object => ({
  mcpServers: Object.fromEntries(MODES.map((mode) => [mode, server('leaky.mjs', [mode, ...args], { env })])),
})
const given = (at: Case, who = 'plain'): any => at.ledger({ ev: 'given', who })[0]

test('a secret with quotes, backslashes and line ends, in plain and in JSON-escaped form, in every place a server has', SLOW, async () => {
  const TOKEN = 'p"q\\r/s\nt-é€😀$&.*+?^{}()|[]'
  const SECOND = 'second-secret-77'
  await using at = new Case(
    leaky(['--header', 'Authorization: Bearer ${TOKEN}', '--both=${TOKEN}:${SECOND}'], { API_TOKEN: '${TOKEN}', SECOND: '${SECOND}' }),
  )
  expect(await leaks(at, { TOKEN, SECOND }, [TOKEN, SECOND, ...TOKEN.split('\n')])).toEqual([])
  // it did reach the server
  expect(given(at).args).toEqual(['--header', `Authorization: Bearer ${TOKEN}`, `--both=${TOKEN}:${SECOND}`])
  expect(given(at).env.API_TOKEN).toBe(TOKEN)
})

test('a token that was read from a file with Windows line ends is kept out in its trimmed form too', SLOW, async () => {
  const env = { TOKEN: 'tok-crlf-123456\r\n', SECOND: '  tok-spaces-98765 ' }
  await using at = new Case(leaky([], { API_TOKEN: '${TOKEN}', SECOND: '${SECOND}' }))
  const died = await at.run(['call', '--server', 'dies', 'hello'], { env })
  expect(said(died)).toContain('cannot go on')
  expect(said(died)).not.toMatch(/tok-crlf-123456|tok-spaces-98765/)
  expect(given(at, 'dies').env.API_TOKEN).toBe('tok-crlf-123456\r\n')
})

test('a secret that is written into the file itself, not taken from a variable', SLOW, async () => {
  const env = { API_TOKEN: 'sk-written-424242', SECOND: 'not-secret' }
  await using at = new Case(leaky([], env))
  expect(await leaks(at, {}, ['sk-written-424242'], SOME)).toEqual([])
})

test('a secret inside another one: the longer is not left half', SLOW, async () => {
  const env = { TOKEN: 'abcdef', SECOND: 'abcdef-ghijkl-mnopqr' }
  await using at = new Case(leaky([], { API_TOKEN: '${TOKEN}', SECOND: '${SECOND}' }))
  expect(await leaks(at, env, ['abcdef', 'ghijkl-mnopqr'], SOME)).toEqual([])
})

test('odd forms of references: what is none stays, values are not looked at again', SLOW, async () => {
  const written = [
    '${}',
    '${1A}',
    '${A B}',
    '$A',
    '$${A}',
    '${A-x}',
    '${A:?x}',
    '${ A }',
    '{A}',
    '%A%',
    '${A',
    '${A:-x}',
    '${NO:-}',
    '${NO:-x}y}',
    '${NO:-$A}',
    '${NO:-a:-b}',
    '${A}${A}',
    '${LOOP}',
  ]
  await using at = new Case({ mcpServers: { plain: server('leaky.mjs', ['plain', ...written]) } })
  const out = await at.run(['call', '--server', 'plain', 'hello'], { env: { A: 'va', LOOP: '${LOOP}' } })
  expect(end(out)).toEqual([0, 'completed', 'yes'])
  expect(given(at).args).toEqual([
    '${}',
    '${1A}',
    '${A B}',
    '$A',
    '$va',
    '${A-x}',
    '${A:?x}',
    '${ A }',
    '{A}',
    '%A%',
    '${A',
    'va',
    '',
    'xy}',
    '$A',
    'a:-b',
    'vava',
    '${LOOP}',
  ])
})

test('two variables that hold each other are put in once; names from Object.prototype are no variables', SLOW, async () => {
  await using at = new Case({
    mcpServers: {
      plain: server('leaky.mjs', ['plain', '${A}', '${B}']),
      proto: server('leaky.mjs', ['proto', '${toString}', '${__proto__}', '${constructor:-mine}']),
    },
  })
  const out = await at.run(['tools'], { env: { A: '${B}', B: '${A}' } })
  expect(given(at).args).toEqual(['${B}', '${A}'])
  expect(JSON.stringify(out.json.errors)).toMatch(/__proto__.*toString|toString.*__proto__/)
  expect(at.ledger({ who: 'proto' })).toEqual([])
})

test('a value with a zero byte cannot come from a variable; one in the file is a mistake of that server alone', SLOW, async () => {
  await using at = new Case({
    mcpServers: {
      bad: server('leaky.mjs', ['bad'], { env: { X: 'a\u0000b' } }),
      worse: server('leaky.mjs', ['a\u0000b']),
      plain: server('leaky.mjs', ['plain']),
    },
  })
  const out: Ended = await at.run(['tools'])
  expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['plain', 'plain', 'plain'])
  expect(out.json.errors.map((entry: any) => entry.owner.name).sort()).toEqual(['bad', 'worse'])
})

test('what is not named does not reach the server, in whatever way a variable is called', SLOW, async () => {
  await using at = new Case({
    mcpServers: { plain: server('leaky.mjs', ['plain'], { env_vars: ['CASE_LEDGER', 'CASE_MARK', 'NAMED', 'UNSET'] }) },
  })
  const env = { NAMED: 'n', AWS_SECRET_ACCESS_KEY: 'aws', NODE_OPTIONS: '', npm_config_token: 'npm', LD_PRELOAD: '', home: 'lower' }
  expect(end(await at.run(['call', '--server', 'plain', 'hello'], { env }))).toEqual([0, 'completed', 'yes'])
  const got = given(at).env
  expect([got.NAMED, 'UNSET' in got]).toEqual(['n', false])
  for (const name of ['AWS_SECRET_ACCESS_KEY', 'NODE_OPTIONS', 'npm_config_token', 'LD_PRELOAD', 'home'])
    expect(got).not.toHaveProperty(name)
})

test('approvals: not in a trace, the list, the store, nor anywhere else below the home folder', SLOW, async () => {
  const [TOKEN, PASSED] = ['tok-from-variable-31', 'passed-on-secret-32']
  const config = (more: readonly string[]): object => ({
    store: { file: './store' },
    mcpServers: {
      plain: server('leaky.mjs', ['plain', '--header', 'Authorization: Bearer ${TOKEN}', ...more], {
        env: { API_TOKEN: '${TOKEN}', SECOND: '${PASSED_KEY}', DB_PASSWORD: 'written-literal-33' },
        env_vars: ['CASE_LEDGER', 'CASE_MARK', 'PASSED_KEY'],
        defaultToolsApprovalMode: 'auto',
      }),
    },
  })
  await using at = new Case(config([]))
  at.write('changed.json', config(['--more']))
  const env = { TOKEN, PASSED_KEY: PASSED }
  const commands = [
    ['call', '--server', 'plain', 'hello', '--approve', 'always', '--trace'],
    ['call', '--server', 'plain', 'hello', '--trace'],
    ['explain', '--server', 'plain', 'hello'],
    ['approvals', 'list'],
    ['tools'],
    ['tools', '--cached'],
    ['status'],
    ['doctor'],
    ['config', 'show'],
  ]
  const values = [TOKEN, PASSED, 'written-literal-33']
  expect(await leaks(at, env, values, commands)).toEqual([])
  const changed = await at.run(['call', '--server', 'plain', 'hello', '--trace'], { config: 'changed.json', env })
  expect(end(changed)).toEqual([3, 'no_approver', 'no'])
  expect(values.filter((value) => said(changed).includes(value))).toEqual([])
  const revoked = await at.run(['approvals', 'revoke', (await at.run(['approvals', 'list'], { env })).json.approvals[0].id], { env })
  expect(values.filter((value) => said(revoked).includes(value))).toEqual([])

  await at.run(commands[0]!, { env })
  const files = [at.path('store'), at.home].flatMap((folder) =>
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => path.join(one.parentPath, one.name)),
  )
  expect(files.map((file) => path.basename(file))).toContain('approvals.json')
  const texts = files.map((file) => fs.readFileSync(file, 'utf8'))
  expect(files.filter((_file, index) => values.flatMap(forms).some((value) => texts[index]?.includes(value)))).toEqual([])
  // the server did get them
  expect(given(at).env).toMatchObject({ API_TOKEN: TOKEN, SECOND: PASSED, DB_PASSWORD: 'written-literal-33' })
})
