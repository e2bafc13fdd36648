import path from 'node:path'
import { expect, test } from 'vitest'
import { describeConfig } from '../../src/config/describe.ts'
import { Secrets } from '../../src/secrets.ts'
import { failure, folderWith, load, server } from './files.ts'

const ENV = { TOKEN: 'tok-456', NEVER: 'never-named' }
const SERVER = {
  command: 'node',
  args: ['--t=${TOKEN}', '--literal'],
  env: { API_TOKEN: '${TOKEN}', MODE: 'production', PASSWORD: 'pw', HALF: 'a-${TOKEN}-b' },
  envVars: ['PASSED'],
  tools: { x: { approvalMode: 'deny' } },
}
const WEB = {
  url: 'https://me:hidden@example.test/mcp',
  headers: { Authorization: 'Bearer abc', Accept: 'x/y' },
  bearer_token_env_var: 'TOKEN',
}

async function described() {
  const secrets = new Secrets()
  const folder = folderWith({
    'user.json': {
      environments: {
        vm: { executor: 'microvm', url: 'ws://127.0.0.1:1', bearerTokenEnvVar: 'VM_TOKEN', password: 'literal', cwd: '/srv' },
      },
      mcpServers: { a: { command: 'x' }, web: WEB },
    },
    'named.json': {
      mcpServers: { a: SERVER, bad: { command: 'node', args: ['${ABSENT}'] } },
      hooks: [{ package: 'p', options: { apiKey: 'k', n: 1 } }],
      features: { f: true },
    },
  })
  const loaded = await load(
    [
      { path: path.join(folder, 'user.json'), kind: 'user' },
      { path: path.join(folder, 'named.json'), kind: 'named' },
    ],
    { env: ENV, secrets },
  )
  return { folder, loaded, secrets, shown: describeConfig(loaded, secrets) }
}

test('values are shown as written; no secret is shown, literal or expanded', async () => {
  const { shown, folder } = await described()
  const text = JSON.stringify(shown)
  for (const secret of ['tok-456', 'never-named', '"pw"', 'literal"', ':hidden', 'Bearer abc', 'x/y', '"k"'])
    expect(text.replaceAll('--literal', '')).not.toContain(secret)
  const servers = shown['servers'] as { owner: { display: string }; effective: boolean }[]
  expect(servers.find((one) => one.owner.display === 'a' && one.effective)).toMatchObject({
    where: expect.stringContaining('named.json:3:5'),
    launch: {
      command: 'node',
      args: ['--t=${TOKEN}', '--literal'],
      env: { API_TOKEN: '${TOKEN}', MODE: 'production', PASSWORD: '[redacted]', HALF: 'a-${TOKEN}-b' },
      envVars: ['PASSED'],
      cwd: folder,
    },
    policy: { startupTimeoutSec: 30, toolTotalTimeoutSec: null, enabledTools: null, tools: { x: { approvalMode: 'deny' } } },
    problem: null,
  })
  expect(servers.find((one) => one.owner.display === 'web')).toMatchObject({
    launch: {
      url: 'https://[redacted]@example.test/mcp',
      headers: { Authorization: '[redacted]', Accept: '[redacted]' },
      bearerTokenEnvVar: 'TOKEN',
    },
  })
})

test('the file that is effective and the one that is shadowed are named; environments, hooks, features and problems are there', async () => {
  const { shown, folder } = await described()
  const servers = shown['servers'] as { owner: { display: string }; effective: boolean; shadowedBy?: string }[]
  expect(
    servers.filter((one) => one.owner.display === 'a').map((one) => [one.effective, one.shadowedBy?.replace(`${folder}/`, '')]),
  ).toEqual([
    [false, 'named.json:3:5'],
    [true, undefined],
  ])
  expect(servers.find((one) => one.owner.display === 'bad')).toMatchObject({
    problem: { code: 'CONFIG_INVALID', message: expect.stringContaining('ABSENT') },
  })
  expect(shown).toMatchObject({
    files: [{ kind: 'user' }, { kind: 'named' }],
    environments: [
      {
        id: 'vm',
        executor: 'microvm',
        options: { url: 'ws://127.0.0.1:1', bearerTokenEnvVar: 'VM_TOKEN', password: '[redacted]' },
        cwd: '/srv',
      },
      { id: 'local', executor: 'local' },
    ],
    selectedEnvironments: ['vm'],
    hooks: [{ module: 'p', options: { apiKey: '[redacted]', n: 1 } }],
    features: [{ name: 'f', value: true, where: expect.stringContaining('named.json') }],
    naming: { scheme: 'stable', maxLength: 64 },
    store: null,
    trace: null,
  })
  expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
})

test('no message of a mistake shows a value', async () => {
  const secrets = new Secrets()
  const folder = folderWith({
    'a.json': {
      mcpServers: {
        u: { url: 'ftp://${TOKEN}' },
        h: { url: 'http://x.test', headers: { A: '${BREAK}' } },
        c: { command: '${EMPTY}', protocol: 'tok-456' },
      },
    },
    'b.json': {
      environments: { a: { approvalPolicy: 'tok-456', permissions: 'tok-456' } },
      hooks: ['tok-456.ts'],
      mcpServers: { c: { command: '${TOKEN}' } },
    },
  })
  const env = { ...ENV, BREAK: 'tok-456\r\nX: y', EMPTY: '' }
  const loaded = await load([{ path: path.join(folder, 'a.json'), kind: 'named' }], { env, secrets })
  expect(['u', 'h', 'c'].map((name) => server(loaded, name).problem?.code)).toEqual(Array(3).fill('CONFIG_INVALID'))
  expect(JSON.stringify([loaded.diagnostics, loaded.registrations.map((one) => [one.problem?.message, one.problem?.data])])).not.toContain(
    'tok-456',
  )
  expect((await failure(load([{ path: path.join(folder, 'b.json'), kind: 'named' }], { env, secrets }))).message).not.toMatch(
    /policy.*tok-456/,
  )
})
