import path from 'node:path'
import { expect, test } from 'vitest'
import { Secrets } from '../../src/secrets.ts'
import { folderWith, load, loadText, placeOf, server } from './files.ts'

const CONFIG = `model = "gpt-5"
approval_policy = "on-request"
[features]
web_search = true
[projects."/home/u/x"]
trust_level = "trusted"
[[hooks.PreToolUse]]
matcher = "x"

[mcp_servers.files]
command = "node"
args = ["server.mjs", "A"]
env_vars = ["PATH_LIKE", { name = "FAR", source = "remote" }]
cwd = "sub"
startup_timeout_ms = 1500
tool_timeout_sec = 2.5
enabled_tools = ["read"]
disabled_tools = ["write"]
default_tools_approval_mode = "prompt"
required = true
supports_parallel_tool_calls = false
environment_id = "local"
name = "Files"

[mcp_servers.files.env]
API_TOKEN = "literal-token"

[mcp_servers.files.tools.read]
approval_mode = "approve"

[mcp_servers.docs]
url = "https://docs.test/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "DOCS_KEY" }
startup_timeout_sec = 7
startup_timeout_ms = 1
enabled = false
scopes = ["a"]
oauth = { client_id = "x" }
enabled_tool = ["x"]
`

test('config.toml of Codex: every field of its servers, and nothing else of it', async () => {
  const secrets = new Secrets()
  const cwd = folderWith()
  const loaded = await loadText(CONFIG, { name: 'config.toml', secrets, cwd, env: { DOCS_TOKEN: 'tok-123456', DOCS_KEY: 'key-123456' } })
  expect(server(loaded, 'files')).toMatchObject({
    problem: null,
    launch: {
      command: 'node',
      args: ['server.mjs', 'A'],
      env: { API_TOKEN: 'literal-token' },
      envVars: ['PATH_LIKE', 'FAR'],
      // Codex starts servers in its working directory, not in that of its file
      cwd: path.join(cwd, 'sub'),
    },
    policy: {
      startupTimeoutMs: 1500,
      toolTimeoutMs: 2500,
      enabledTools: new Set(['read']),
      disabledTools: new Set(['write']),
      defaultApprovalMode: 'prompt',
      toolApprovalModes: new Map([['read', 'approve']]),
      required: true,
      supportsParallelToolCalls: false,
    },
    provenance: { where: `${loaded.file}:${placeOf(CONFIG, 'files]')}` },
  })
  expect(server(loaded, 'docs')).toMatchObject({
    problem: null,
    launch: {
      type: 'http',
      url: 'https://docs.test/mcp',
      headers: { 'X-Region': 'eu' },
      envHeaders: { 'X-Key': 'DOCS_KEY' },
      bearerTokenEnvVar: 'DOCS_TOKEN',
    },
    policy: { enabled: false, startupTimeoutMs: 7000 },
  })
  expect(loaded.registrations).toHaveLength(2)
  expect(loaded.hooks).toEqual([])
  expect(loaded.features).toEqual([])
  // unknown keys of a server are told with their place, the rest of the file is nobody's business
  expect(loaded.diagnostics.map(({ code, severity, where }) => [code, severity, where])).toEqual(
    ['scopes', 'oauth', 'enabled_tool ='].map((key) => ['ignored_key', 'warning', `${loaded.file}:${placeOf(CONFIG, key)}`]),
  )
  expect(loaded.diagnostics[2]?.message).toContain('did you mean "enabledTools"?')
  expect(secrets.redact('tok-123456 key-123456 literal-token')).toBe('[redacted] [redacted] [redacted]')
})

test.each([
  ['bearer_token = "x"', /must not be in a file.*bearer_token_env_var/],
  ['http_headers_helper = "x"', /not supported by this version.*env_http_headers/],
  ['environment_id = "vm"', /names an environment of Codex/],
  ['tool_timeout_sec = "5"', /number of seconds/],
  ['tools = { read = { approval_mode = "sometimes" } }', /must be "auto" or/],
])('a mistake in one server of Codex costs that server: %s', async (line, message) => {
  const text = `[mcp_servers.good]\ncommand = "node"\n[mcp_servers.bad]\nurl = "https://x.test/"\n${line}\n`
  const loaded = await loadText(text, { name: 'config.toml' })
  expect(server(loaded, 'good').problem).toBeNull()
  const { problem } = server(loaded, 'bad')
  expect(problem?.message).toMatch(message)
  expect(problem?.where?.startsWith(`${loaded.file}:5:`)).toBe(true)
})

test('a key twice is a mistake of the file', async () => {
  const text = '[mcp_servers.a]\nurl = "https://x.test/"\nurl = "https://y.test/"\n'
  await expect(loadText(text, { name: 'config.toml' })).rejects.toThrow(/config\.toml:3:1: the TOML is broken: trying to redefine/)
})

test.each([
  ['config.toml', 'x = 1', 0],
  ['my-codex.toml', '[mcp_servers.a]\ncommand = "node"', 1],
  ['.codex/x.toml', '[mcp_servers.a]\ncommand = "node"\n[tui]\nx = 1', 1],
  ['other.toml', 'model = "m"\n[mcp_servers.a]\ncommand = "node"\n', 1],
])('%s is a file of Codex', async (name, text, servers) => {
  const loaded = await load([{ path: path.join(folderWith({ [name]: text }), name), kind: 'named' }])
  expect([loaded.registrations.length, loaded.diagnostics]).toEqual([servers, []])
})

test.each([
  ['config.toml', '[environments.a]\n[mcp_serverz]'],
  ['config.toml', '[flags]\nfile = "flags.json"\n[mcp_serverz]'],
  ['my-codex.toml', '[flags]\nfile = "flags.json"\n[mcp_serverz]'],
  ['config.toml', 'hooks = ["./guard.mjs"]\n[mcp_serverz]'],
  ['tapline.toml', 'model = "m"'],
  ['other.toml', '[mcp_servers.a]\ncommand = "node"\n[mcp_serverz]'],
])('%s with sections of ours is ours, and held to it: %j', async (name, text) => {
  await expect(loadText(text, { name })).rejects.toThrow(/unknown key "(mcp_serverz|model)" at the top level/)
})
