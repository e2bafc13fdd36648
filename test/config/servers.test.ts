import path from 'node:path'
import { expect, test } from 'vitest'
import { Secrets } from '../../src/secrets.ts'
import { folderWith, load, loadText, placeOf, server } from './files.ts'

test('every key of a server, in both spellings, gives the same registration', async () => {
  const camel = {
    command: 'node',
    args: ['a'],
    env: { A: '1' },
    envVars: ['B'],
    cwd: 'sub',
    startupTimeoutSec: 1.5,
    toolTimeoutSec: 2,
    toolTotalTimeoutSec: 3,
    enabledTools: ['x'],
    disabledTools: ['y'],
    defaultToolsApprovalMode: 'prompt',
    tools: { x: { approvalMode: 'deny' } },
    trustAnnotations: false,
    outputSchema: 'report',
    required: true,
    enabled: true,
    protocol: '2025-11-25',
    supportsParallelToolCalls: false,
    sharing: 'runtime',
    maxResultBytes: 4096,
  }
  const snake = {
    command: 'node',
    args: ['a'],
    env: { A: '1' },
    env_vars: ['B'],
    cwd: 'sub',
    startup_timeout_sec: 1.5,
    tool_timeout_sec: 2,
    tool_total_timeout_sec: 3,
    enabled_tools: ['x'],
    disabled_tools: ['y'],
    default_tools_approval_mode: 'prompt',
    tools: { x: { approval_mode: 'deny' } },
    trust_annotations: false,
    output_schema: 'report',
    required: true,
    enabled: true,
    protocol: '2025-11-25',
    supports_parallel_tool_calls: false,
    sharing: 'runtime',
    max_result_bytes: 4096,
  }
  const loaded = await loadText({ mcpServers: { camel, snake } })
  expect(loaded.diagnostics).toEqual([])
  const { launch, policy, template, problem, provenance, executesOn } = server(loaded, 'camel')
  expect(launch).toEqual({
    type: 'stdio',
    command: 'node',
    args: ['a'],
    env: { A: '1' },
    envVars: ['B'],
    cwd: path.join(loaded.folder, 'sub'),
  })
  expect(policy).toEqual({
    enabled: true,
    required: true,
    startupTimeoutMs: 1500,
    toolTimeoutMs: 2000,
    toolTotalTimeoutMs: 3000,
    enabledTools: new Set(['x']),
    disabledTools: new Set(['y']),
    defaultApprovalMode: 'prompt',
    toolApprovalModes: new Map([['x', 'deny']]),
    trustAnnotations: false,
    outputSchema: 'report',
    protocol: '2025-11-25',
    supportsParallelToolCalls: false,
    sharing: 'runtime',
    maxResultBytes: 4096,
  })
  expect([problem, executesOn, provenance.source]).toEqual([null, 'local', 'file'])
  expect(server(loaded, 'snake')).toMatchObject({ launch, policy, template })
})

test('defaults', async () => {
  const { policy, launch } = server(await loadText({ mcpServers: { a: { command: 'node' } } }), 'a')
  expect(policy).toMatchObject({
    enabled: true,
    required: false,
    startupTimeoutMs: 30_000,
    toolTimeoutMs: 300_000,
    toolTotalTimeoutMs: null,
    enabledTools: null,
    defaultApprovalMode: 'auto',
    trustAnnotations: true,
    outputSchema: 'enforce',
    protocol: 'auto',
    supportsParallelToolCalls: true,
    sharing: 'session',
    maxResultBytes: 8 * 1024 * 1024,
  })
  expect(launch).toMatchObject({ args: [], env: {}, envVars: [] })
})

test('a mistake in one server costs that server only: diagnostics with place, a registration that explains, siblings as they are', async () => {
  const text = `{ "mcpServers": {
  "good": { "command": "node" },
  "typo": { "comand": "node" },
  "both": { "command": "node", "toolTimeoutSec": 1, "tool_timeout_sec": 1 },
  "long": { "command": "node", "toolTimeoutSec": 86401 },
  "zero": { "command": "node", "startupTimeoutSec": 0 },
  "huge": { "command": "node", "toolTotalTimeoutSec": 1e999 },
  "mixed": { "command": "node", "url": "http://127.0.0.1/" },
  "number": { "command": "node", "env": { "A": 1 } },
  "mode": { "command": "node", "tools": { "x": { "approvalMode": "aprove" } } },
  "elsewhere": { "command": "node", "environment": "nowhere" },
  "nothing": 7,
  "repeated": { "command": "node" },
  "later": { "url": "http://127.0.0.1/", "oauth": {} },
  "repeated": { "command": "sh" },
  "ftp": { "url": "ftp://127.0.0.1/" },
  "args": { "url": "http://127.0.0.1/", "args": [] },
  "new": { "command": "node", "protocol": "2026-07-28" }
} }`
  const loaded = await loadText(text)
  expect(server(loaded, 'good').problem).toBeNull()
  const expected: Record<string, [string, number, RegExp]> = {
    typo: ['"comand"', 0, /unknown key "comand" in mcpServers\.typo \(did you mean "command"\?\)/],
    both: ['"tool_timeout_sec"', 0, /two spellings of one key/],
    long: ['86401', 0, /at most 86400/],
    zero: ['0 }', 0, /above 0/],
    huge: ['1e999', 0, /at most 86400/],
    mixed: ['{ "command": "node", "url"', 0, /both "command" and "url"/],
    number: ['1 } }', 0, /must be text; put it between quotes/],
    mode: ['"aprove"', 0, /\(did you mean "approve"\?\)/],
    elsewhere: ['"nowhere"', 0, /names no environment/],
    nothing: ['7', 0, /must be an object, not a number/],
    repeated: ['"repeated"', 1, /is there twice/],
    later: ['"oauth"', 0, /not supported by this version/],
    ftp: ['"ftp://', 0, /must be an http:\/\/ or https:\/\/ URL/],
    args: ['[]', 0, /belongs to servers with "command"/],
    new: ['"2026-07-28"', 0, /not supported by this version/],
  }
  for (const [name, [piece, nth, message]] of Object.entries(expected)) {
    const place =
      name === 'zero'
        ? placeOf(text, '"startupTimeoutSec": 0').replace(/\d+$/, (column) => String(Number(column) + 21))
        : name === 'nothing'
          ? placeOf(text, '7,')
          : placeOf(text, piece, nth)
    const found = loaded.diagnostics.filter((one) => one.owner?.name === name)
    expect(
      found.some(
        (one) =>
          one.where === `${loaded.file}:${place}` && message.test(one.message) && one.code === 'CONFIG_INVALID' && one.severity === 'error',
      ),
      `${name} at ${place}: ${JSON.stringify(found)}`,
    ).toBe(true)
    const { problem } = server(loaded, name)
    expect(problem, name).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) })
    expect(problem?.message).toContain(`server ${name} cannot be used`)
  }
  expect(loaded.registrations).toHaveLength(Object.keys(expected).length + 1)
})

test('a wrong name fails that server alone, at its place', async () => {
  const text = `{ "mcpServers": {\n  "a b": { "command": "node" },\n  "": { "command": "node" },\n  "${'x'.repeat(129)}": { "command": "node" },\n  "ok": { "command": "node" } } }`
  const loaded = await loadText(text)
  expect(loaded.registrations.map((one) => one.key.name)).toEqual(['ok'])
  expect(loaded.diagnostics.map((one) => one.where)).toEqual(['2:3', '3:3', '4:3'].map((place) => `${loaded.file}:${place}`))
  expect(loaded.diagnostics[0]).toMatchObject({
    code: 'CONFIG_INVALID',
    severity: 'error',
    message: expect.stringContaining('"a b" is no name for a server'),
  })
})

test('names and keys of Object.prototype are names like any other', async () => {
  const text =
    '{"mcpServers":{"__proto__":{"command":"node","env":{"__proto__":"x","A":"1"}},"constructor":{"command":"node"},"toString":{"command":"node","__proto__":{"polluted":true}}},"features":{"__proto__":true}}'
  const loaded = await loadText(text)
  expect(loaded.registrations.map((one) => one.key.name)).toEqual(['__proto__', 'constructor', 'toString'])
  const { launch } = server(loaded, '__proto__')
  expect(Object.entries((launch as { env: object }).env)).toEqual([
    ['__proto__', 'x'],
    ['A', '1'],
  ])
  expect(server(loaded, 'toString').problem?.message).toContain('unknown key "__proto__"')
  expect(loaded.features).toEqual([{ name: '__proto__', value: true, where: expect.any(String) }])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  expect(Object.getPrototypeOf((launch as { env: object }).env)).toBe(Object.prototype)
})

test('a file of another client: its keys do no harm, and loosen nothing', async () => {
  const loaded = await loadText(
    {
      mcpServers: {
        a: {
          type: 'stdio',
          command: 'node',
          args: [],
          env: null,
          autoApprove: ['*'],
          alwaysAllow: ['x'],
          timeout: 60,
          description: 'd',
          custom: 1,
        },
        b: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer ${T}' } },
        c: { command: 'node', disabled: true },
        d: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
        e: { type: 'stdio', url: 'http://127.0.0.1:1/sse' },
        f: { command: 'node', disabledTool: ['x'] },
      },
      inputs: [],
    },
    { name: '.mcp.json', env: { T: 'token-1' } },
  )
  expect(loaded.diagnostics.filter((one) => one.severity === 'error').map((one) => one.owner?.name)).toEqual(['e'])
  expect(server(loaded, 'a')).toMatchObject({ problem: null, policy: { defaultApprovalMode: 'auto' } })
  for (const key of ['autoApprove', 'alwaysAllow', 'timeout', 'description', 'custom', 'inputs']) {
    expect(loaded.diagnostics.find((one) => one.message.includes(`"${key}"`))).toMatchObject({ code: 'ignored_key', severity: 'info' })
  }
  expect(loaded.diagnostics.find((one) => one.message.includes('"disabledTool"'))).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('did you mean "disabledTools"'),
  })
  expect(server(loaded, 'b').launch).toEqual({
    type: 'http',
    url: 'http://127.0.0.1:1/mcp',
    headers: { Authorization: 'Bearer token-1' },
    envHeaders: {},
    bearerTokenEnvVar: null,
  })
  expect(server(loaded, 'c').policy.enabled).toBe(false)
  expect(server(loaded, 'd').problem).toBeNull()
})

test('.mcp.json may be the bare map; our own sections are refused there, not dropped', async () => {
  expect(server(await loadText({ a: { command: 'node' } }, { name: '.mcp.json' }), 'a').problem).toBeNull()
  await expect(loadText({ mcpServers: {}, hooks: ['./guard.mjs'] }, { name: '.mcp.json' })).rejects.toThrow(/"hooks" does not belong/)
  await expect(loadText({ mcpServers: {}, flags: { file: 'flags.json' } }, { name: '.mcp.json' })).rejects.toThrow(
    /"flags" does not belong/,
  )
})

test('the cwd of a server, and what relative commands start from', async () => {
  const folder = folderWith({
    'conf dir ü/tapline.json': {
      environments: {
        a: {
          cwd: './place',
          mcpServers: {
            plain: { command: 'node' },
            rel: { command: './bin/my tool', cwd: 'in' },
            abs: { command: '/bin/sh', cwd: '/tmp' },
          },
        },
      },
      mcpServers: {
        wide: { command: '../x/run', args: ['./stays'] },
        there: { command: 'node', environment: 'a' },
        deep: { command: 'bin/run', cwd: '${SUB}' },
      },
    },
  })
  const base = path.join(folder, 'conf dir ü')
  const loaded = await load([{ path: path.join(base, 'tapline.json'), kind: 'named' }], { env: { SUB: 'sub' } })
  expect(server(loaded, 'plain', 'a').launch).toMatchObject({ command: 'node', cwd: path.join(base, 'place') })
  expect(server(loaded, 'rel', 'a').launch).toMatchObject({
    command: path.join(base, 'place/bin/my tool'),
    cwd: path.join(base, 'place/in'),
  })
  expect(server(loaded, 'abs', 'a').launch).toMatchObject({ command: '/bin/sh', cwd: '/tmp' })
  expect(server(loaded, 'wide').launch).toMatchObject({ command: path.join(folder, 'x/run'), args: ['./stays'], cwd: base })
  expect(server(loaded, 'there')).toMatchObject({ executesOn: 'a', launch: { cwd: base } })
  expect(server(loaded, 'deep').launch).toMatchObject({ command: path.join(base, 'bin/run'), cwd: path.join(base, 'sub') })
  const host = await load([], { host: { mcpServers: { h: { command: './x' } } } })
  expect(server(host, 'h')).toMatchObject({
    launch: { command: path.resolve('x'), cwd: process.cwd() },
    provenance: { source: 'host', where: 'host' },
  })
})

test('on another machine paths are those of that machine', async () => {
  const environments = { box: { executor: 'command', prefix: ['env', '-i'], cwd: '/far', mcpServers: { a: { command: './bin/x' } } } }
  const loaded = await loadText({ environments, mcpServers: { wide: { command: 'x/y', environment: 'box' } } })
  expect(loaded.environments[0]).toMatchObject({
    id: 'box',
    executor: { kind: 'command', options: { prefix: ['env', '-i'] } },
    cwd: '/far',
  })
  expect(server(loaded, 'a', 'box').launch).toMatchObject({ command: '/far/bin/x', cwd: '/far' })
  expect(server(loaded, 'wide').launch).toMatchObject({ command: '/far/x/y', cwd: '/far' })
})

test('headers: literal, from variables and the bearer token; a repeated or broken one is a mistake', async () => {
  const secrets = new Secrets()
  const url = 'https://example.test/mcp?api_key=query-secret'
  const loaded = await loadText(
    {
      mcpServers: {
        a: {
          url,
          httpHeaders: { Accept: 'text/html', 'X-Api-Key': 'literal-key' },
          envHttpHeaders: { 'X-Team': 'TEAM' },
          bearerTokenEnvVar: 'TOK',
        },
        b: { url, httpHeaders: { authorization: 'x' }, bearerTokenEnvVar: 'TOK' },
        c: { url, httpHeaders: { 'a b': 'x' } },
        d: { url, bearerTokenEnvVar: '${TOK}' },
        e: { url, bearerTokenEnvVar: 'ABSENT_1', envHttpHeaders: { A: 'ABSENT_2' } },
        f: { url: 'https://user:hidden-password@example.test/' },
      },
    },
    { env: { TEAM: 'team-one', TOK: 'tok-456' }, secrets },
  )
  expect(server(loaded, 'a').launch).toEqual({
    type: 'http',
    url,
    headers: { Accept: 'text/html', 'X-Api-Key': 'literal-key' },
    envHeaders: { 'X-Team': 'TEAM' },
    bearerTokenEnvVar: 'TOK',
  })
  expect(server(loaded, 'b').problem?.message).toContain('set twice')
  expect(server(loaded, 'c').problem?.message).toContain('is no name of a header')
  expect(server(loaded, 'd').problem?.message).toContain('bare name of a variable')
  expect(server(loaded, 'e').problem?.message).toMatch(/ABSENT_2, ABSENT_1|ABSENT_1, ABSENT_2/)
  for (const secret of ['tok-456', 'team-one', 'literal-key', 'query-secret', 'hidden-password'])
    expect(secrets.redact(`<${secret}>`)).toBe('<[redacted]>')
  expect(secrets.redact('text/html')).toBe('text/html')
})

test('the template is what is written, bound to its folder', async () => {
  const definition = { command: './x', args: ['${A}'], env: { N: '${A}', L: 'literal' }, envVars: ['P'] }
  const one = await loadText({ mcpServers: { a: definition } }, { env: { A: 'first-value' } })
  const again = await load([{ path: one.file, kind: 'named' }], { env: { A: 'second-value' } })
  const elsewhere = await loadText({ mcpServers: { a: definition } }, { env: { A: 'first-value' } })
  expect(server(one, 'a').template).toEqual({
    type: 'stdio',
    command: './x',
    args: ['${A}'],
    cwd: null,
    base: one.folder,
    env: { N: '${A}', L: 'literal' },
    envVars: ['P'],
  })
  expect(server(again, 'a').template).toEqual(server(one, 'a').template)
  expect(server(elsewhere, 'a').template).not.toEqual(server(one, 'a').template)
})

test('an installation is part of the key; a wrong one leaves no registration', async () => {
  const loaded = await loadText({ mcpServers: { a: { command: 'x', installation: 'one' }, b: { command: 'x', installation: 'default' } } })
  expect(loaded.registrations.map((one) => one.key)).toEqual([{ name: 'a', environmentId: null, installationId: 'one' }])
  expect(loaded.diagnostics).toMatchObject([{ severity: 'error', message: expect.stringContaining('not "default"') }])
})

test('a default is proposed only where a reference could have one', async () => {
  const loaded = await loadText({
    mcpServers: {
      named: { url: 'https://a.example', bearerTokenEnvVar: 'NO_TOKEN' },
      written: { command: 'node', args: ['${NO_ARG}'] },
      both: { url: 'https://a.example/${NO_PATH}', envHttpHeaders: { 'X-A': 'NO_A' } },
    },
  })
  expect(server(loaded, 'named').problem?.message).toMatch(/the variable NO_TOKEN is not set; set it$/)
  expect(server(loaded, 'written').problem?.message).toMatch(/set it, or write \$\{NO_ARG:-default\}$/)
  expect(server(loaded, 'both').problem?.message).toMatch(/defaults as in \$\{NO_PATH:-default\}$/)
})
