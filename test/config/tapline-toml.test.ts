import path from 'node:path'
import { expect, test } from 'vitest'
import { failure, folderWith, load, loadText, placeOf, write } from './files.ts'

const TOML = `selected_environments = ["two", "one"]
hooks = ["./guard.mjs"]

[environments.one]
cwd = "./one"
permissions = { type = "workspace-write", network_access = false, writable_roots = ["./out"] }
approval_policy = "never"
[environments.one.mcp_servers.files]
command = "node"
args = ["server.mjs"]
tool_timeout_sec = 5

[environments.two]
extra_roots = ["./extra"]

[mcp_servers.wide]
url = "http://127.0.0.1:1/"
http_headers = { A = "b" }

[features]
multi_environment_mcp = true

[naming]
max_length = 100
`
const JSON_FORM = {
  selectedEnvironments: ['two', 'one'],
  hooks: ['./guard.mjs'],
  environments: {
    one: {
      cwd: './one',
      permissions: { type: 'workspace-write', networkAccess: false, writableRoots: ['./out'] },
      approvalPolicy: 'never',
      mcpServers: { files: { command: 'node', args: ['server.mjs'], toolTimeoutSec: 5 } },
    },
    two: { extraRoots: ['./extra'] },
  },
  mcpServers: { wide: { url: 'http://127.0.0.1:1/', httpHeaders: { A: 'b' } } },
  features: { multi_environment_mcp: true },
  naming: { maxLength: 100 },
}

/** Everything but the places. */
const withoutPlaces = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      key === 'where' || key === 'files' ? undefined : member instanceof Set ? [...member] : member instanceof Map ? [...member] : member,
    ),
  )

test('a tapline.toml says what the same tapline.json says, in both spellings', async () => {
  const folder = folderWith({ 'tapline.toml': TOML, 'tapline.json': JSON_FORM })
  const snake = JSON.parse(
    JSON.stringify(JSON_FORM).replace(
      /"([a-z]+(?:[A-Z][a-z]+)+)":/g,
      (_, name: string) => `"${name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)}":`,
    ),
  ) as unknown
  const camelToml = TOML.replace(/\b(?!multi)([a-z]+(?:_[a-z]+)+)(?= =|\.|\])/g, (name) =>
    name.replace(/_([a-z])/g, (_, one: string) => one.toUpperCase()),
  )
  write(folder, 'snake/tapline.json', snake)
  const one = async (name: string): Promise<unknown> =>
    withoutPlaces(await load([{ path: path.join(folder, name), kind: 'named' }], { cwd: folder }))
  const expected = await one('tapline.json')
  expect(await one('tapline.toml')).toEqual(expected)
  expect(camelToml).toContain('selectedEnvironments')
  expect(camelToml).toContain('mcpServers.files')
  write(folder, 'tapline.toml', camelToml)
  expect(await one('tapline.toml')).toEqual(expected)
  const inSub = JSON.stringify(await one('snake/tapline.json')).replaceAll(`${folder}/snake`, folder)
  expect(JSON.parse(inSub)).toEqual(expected)
})

test('every mistake of a tapline.toml has its line and column, with the nearest key', async () => {
  const text = `selected_enviroments = ["a"]
[environments.a]
approval_policy = "nevr"
[mcp_servers.x]
command = "node"
tool_timeout_sec = 0
[naming]
"max length" = 3
`
  const { message } = await failure(loadText(text, { name: 'tapline.toml' }))
  for (const [piece, about] of [
    ['selected_enviroments', 'did you mean "selectedEnvironments"?'],
    ['"nevr"', 'did you mean "never"?'],
    ['"max length"', 'did you mean "maxLength"?'],
  ] as const) {
    expect(message).toMatch(new RegExp(`tapline\\.toml:${placeOf(text, piece)}: .*${about.replace(/[?"]/g, '.')}`))
  }
  const loaded = await loadText('[mcp_servers.x]\ncommand = "node"\ntool_timeout_sec = 0\n', { name: 'tapline.toml' })
  expect(loaded.diagnostics.map(({ where }) => where)).toEqual([`${loaded.file}:3:20`])
})

test('files of all kinds go together, the later one stronger', async () => {
  const folder = folderWith({
    'a.json': { mcpServers: { one: { command: 'a' }, two: { command: 'a' } } },
    'tapline.toml': '[mcp_servers.two]\ncommand = "b"\n[mcp_servers.three]\ncommand = "b"\n',
    'claude_desktop_config.json': { mcpServers: { three: { command: 'c' }, four: { command: 'c' } }, globalShortcut: 'x' },
    'config.toml': 'model = "m"\n[mcp_servers.four]\ncommand = "d"\n[mcp_servers.five]\ncommand = "d"\n',
    '.vscode/mcp.json': { servers: { five: { type: 'stdio', command: 'e' } } },
  })
  const files = ['a.json', 'tapline.toml', 'claude_desktop_config.json', 'config.toml', '.vscode/mcp.json']
  const loaded = await load(files.map((name) => ({ path: path.join(folder, name), kind: 'named' })))
  const strongest = new Map(loaded.registrations.map(({ key, launch }) => [key.name, launch.type === 'stdio' ? launch.command : '']))
  expect([...strongest]).toEqual([
    ['one', 'a'],
    ['two', 'b'],
    ['three', 'c'],
    ['four', 'd'],
    ['five', 'e'],
  ])
  expect(loaded.diagnostics.filter((one) => one.severity !== 'info')).toEqual([])
})
