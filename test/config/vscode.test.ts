import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../src/config/inputs.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Secrets } from '../../src/secrets.ts'
import { failure, folderWith, load, loadText, placeOf, server, write } from './files.ts'

const INPUTS = [
  { type: 'promptString', id: 'api-key', description: 'The key', password: true },
  { type: 'promptString', id: 'team', description: 'Team', default: 'red' },
  { type: 'pickString', id: 'region', description: 'Where', options: ['eu', { label: 'United States', value: 'us' }], default: 'eu' },
]
const inWorkspace = (config: unknown, more: Record<string, unknown> = {}): { folder: string; file: string } => {
  const folder = folderWith({ '.vscode/mcp.json': config, ...more })
  return { folder, file: path.join(folder, '.vscode/mcp.json') }
}

test('variables of the editor, the environment and the inputs, each put in once', async () => {
  const { folder, file } = inWorkspace(
    {
      inputs: INPUTS,
      servers: {
        a: {
          type: 'stdio',
          command: '${workspaceFolder}/bin/run',
          args: [
            '${workspaceFolderBasename}',
            '${userHome}',
            '${env:TOKEN}',
            '${input:region}',
            'x${/}${pathSeparator}',
            '${cwd}',
            '${TOKEN}',
            '${OUTER}',
          ],
          env: { KEY: '${input:api-key}', TEAM: '${input:team}', PORT: 80, GONE: null, INNER: '${input:api-key}${input:team}' },
          envFile: '${workspaceFolder}/.env',
          dev: { watch: 'x' },
        },
        b: { type: 'http', url: 'https://x.test/${input:region}', headers: { Authorization: 'Bearer ${input:api-key}' } },
        c: { command: 'node', cwd: '${workspaceFolder}/sub' },
        d: { type: 'sse', url: 'https://x.test/sse' },
      },
    },
    { '.env': '# note\nFROM_FILE=plain value # not this\nexport QUOTED="a\\nb # c"\nSINGLE=\'x\\n\'\nTEAM=blue\nnonsense\nEMPTY=\n' },
  )
  const asked: ConfigInput[] = []
  const secrets = new Secrets()
  const answers: Record<string, string> = { 'api-key': 'k${TOKEN}-secret', team: 'green', region: 'us' }
  const loaded = await loadConfig({
    files: [{ path: file, kind: 'named' }],
    env: { TOKEN: 'tok-123456', OUTER: '${env:TOKEN}', HOME: '/home/u' },
    secrets,
    cwd: '/elsewhere',
    askInput: async (input) => {
      asked.push(input)
      return answers[input.id]
    },
  })
  expect(loaded.diagnostics.map(({ severity, message }) => `${severity} ${message}`)).toEqual([expect.stringMatching(/^info .*"dev"/)])
  expect(server(loaded, 'a')).toMatchObject({
    problem: null,
    launch: {
      command: path.join(folder, 'bin/run'),
      args: [path.basename(folder), '/home/u', 'tok-123456', 'us', `x${path.sep}${path.sep}`, '/elsewhere', 'tok-123456', '${env:TOKEN}'],
      env: {
        KEY: 'k${TOKEN}-secret',
        TEAM: 'green',
        PORT: '80',
        INNER: 'k${TOKEN}-secretgreen',
        FROM_FILE: 'plain value',
        QUOTED: 'a\nb # c',
        SINGLE: 'x\\n',
        EMPTY: '',
      },
      cwd: folder,
    },
  })
  expect(server(loaded, 'b').launch).toMatchObject({ url: 'https://x.test/us', headers: { Authorization: 'Bearer k${TOKEN}-secret' } })
  expect(server(loaded, 'c').launch).toMatchObject({ cwd: path.join(folder, 'sub') })
  expect(server(loaded, 'd').problem).toBeNull()
  // each once, in the order of their use, with what the file says
  expect(asked.map(({ id, password, default: fallback }) => [id, password, fallback])).toEqual([
    ['region', false, 'eu'],
    ['api-key', true, null],
    ['team', false, 'red'],
  ])
  expect(asked[0]?.options).toEqual([
    { value: 'eu', label: 'eu' },
    { value: 'us', label: 'United States' },
  ])
  expect(secrets.redact('k${TOKEN}-secret and plain value')).toBe('[redacted] and [redacted]')
})

test('nobody to ask: the variable of an input, then its default; without both that server alone has a problem', async () => {
  const config = {
    inputs: INPUTS,
    servers: {
      defaults: { command: 'node', args: ['${input:team}', '${input:region}'] },
      keyed: { command: 'node', args: ['${input:api-key}'] },
      off: { command: 'node', args: ['${input:api-key}'], disabled: true },
    },
  }
  const without = await loadText(config, { name: 'mcp.json' })
  expect(server(without, 'defaults')).toMatchObject({ problem: null, launch: { args: ['red', 'eu'] } })
  expect(server(without, 'keyed').problem?.message).toMatch(
    /the input "api-key" has no value; set TAPLINE_INPUT_API_KEY, or run the command at a terminal/,
  )
  expect(server(without, 'off').problem).toBeNull()
  const secrets = new Secrets()
  const given = await loadText(config, {
    name: 'mcp.json',
    secrets,
    env: { TAPLINE_INPUT_API_KEY: 'key-from-variable', TAPLINE_INPUT_REGION: 'us' },
  })
  expect(server(given, 'keyed')).toMatchObject({ problem: null, launch: { args: ['key-from-variable'] } })
  expect(server(given, 'defaults')).toMatchObject({ launch: { args: ['red', 'us'] } })
  expect(secrets.redact('key-from-variable')).toBe('[redacted]')
  const wrong = await loadText(config, { name: 'mcp.json', env: { TAPLINE_INPUT_REGION: 'mars' } })
  expect(server(wrong, 'defaults').problem?.message).toMatch(/the input "region" can only be "eu" or "us"/)
})

test.each([
  ['${input:api-kye}', /there is no input "api-kye" \(did you mean "api-key"\?\)/],
  ['${input:pick}', /runs a command of VS Code/],
  ['${file}', /\$\{file\} means something in an editor only/],
  ['${config:a.b}', /\$\{config:a\.b\} means something in an editor only/],
  ['${command:x}', /means something in an editor only/],
  ['${env:NOWHERE}', /the variable NOWHERE is not set/],
])('%s costs the server that uses it', async (text, message) => {
  const inputs = [...INPUTS, { id: 'pick', type: 'command', command: 'x.y', args: {} }]
  const loaded = await loadText(
    { inputs, servers: { bad: { command: 'node', args: [text] }, good: { command: 'node' } } },
    { name: 'mcp.json' },
  )
  expect(server(loaded, 'bad').problem?.message).toMatch(message)
  expect(server(loaded, 'good').problem).toBeNull()
})

test.each([
  ['a missing one', 'nothing.env', /there is no file .*nothing\.env/],
  ['a folder', '.vscode', /is no file/],
  ['bytes that are no text', 'bad.env', /is not UTF-8/],
])('an envFile that cannot be read costs the server: %s', async (_, envFile, message) => {
  const { file } = inWorkspace(
    { servers: { a: { command: 'node', envFile }, b: { command: 'node' } } },
    { 'bad.env': new Uint8Array([0xff, 0xfe]) },
  )
  const loaded = await load([{ path: file, kind: 'named' }])
  expect(server(loaded, 'a').problem?.message).toMatch(message)
  expect(server(loaded, 'b').problem).toBeNull()
})

test('a sandbox that is not there is not left out in silence', async () => {
  const loaded = await loadText(
    { servers: { a: { command: 'node', sandboxEnabled: true, sandbox: { network: {} } }, b: { command: 'node', sandboxEnabled: false } } },
    { name: 'mcp.json' },
  )
  expect(server(loaded, 'a').problem?.message).toMatch(/asks for the sandbox of VS Code/)
  expect(server(loaded, 'b').problem).toBeNull()
})

test('mistakes in inputs are those of the file, at their places', async () => {
  const text = `{ "servers": {}, "inputs": [
  { "type": "promptSting", "id": "a" },
  { "type": "promptString" },
  { "type": "pickString", "id": "b", "options": ["x"], "default": "y" },
  { "type": "pickString", "id": "c" },
  { "type": "promptString", "id": "d", "pasword": true },
  { "type": "promptString", "id": "e" }, { "type": "promptString", "id": "e" }
] }`
  const error = await failure(loadText(text, { name: 'mcp.json' }))
  const mistakes = error.data?.['mistakes'] as { where: string; message: string }[]
  expect(mistakes.map(({ where, message }) => `${where.replace(/^.*mcp\.json:/, '')} ${message}`)).toEqual([
    expect.stringMatching(new RegExp(`^${placeOf(text, '"promptSting"')} .*did you mean "promptString"`)),
    expect.stringMatching(/^3:3 .*needs "id"/),
    expect.stringMatching(new RegExp(`^${placeOf(text, '"y"')} .*one of the options`)),
    expect.stringMatching(/^5:3 .*needs "options"/),
    expect.stringMatching(new RegExp(`^${placeOf(text, '"pasword"')} .*did you mean "password"`)),
    expect.stringMatching(/two inputs with the id "e"/),
  ])
})

test('the shape tells a file of VS Code whatever its name; clients that follow it have its variables, without inputs', async () => {
  const servers = { a: { command: 'node', args: ['${env:X}'] } }
  for (const name of ['mcp.json', '.mcp.json', 'my-servers.json']) {
    const loaded = await loadText({ servers }, { name, env: { X: 'value' } })
    expect([name, server(loaded, 'a').launch]).toEqual([name, expect.objectContaining({ args: ['value'] })])
  }
  const folder = folderWith({ '.cursor/mcp.json': { mcpServers: { a: { command: '${workspaceFolder}/x', args: ['${input:k}'] } } } })
  const loaded = await load([{ path: path.join(folder, '.cursor/mcp.json'), kind: 'named' }])
  expect(server(loaded, 'a')).toMatchObject({ launch: { command: path.join(folder, 'x'), cwd: folder } })
  expect(server(loaded, 'a').problem?.message).toMatch(/there is no input "k"/)
  // a server that is called "servers" is one
  expect(server(await loadText({ servers: { command: 'node' } }, { name: '.mcp.json' }), 'servers').problem).toBeNull()
  await expect(loadText({ servers: {}, hooks: ['./guard.mjs'] }, { name: 'mcp.json' })).rejects.toThrow(/"hooks" does not belong/)
})

test('a file that was found with inputs is read only once it is trusted, and its envFile with it', async () => {
  const { folder, file } = inWorkspace({ servers: { a: { command: 'node', envFile: 'x.env' } } })
  write(folder, 'x.env', 'A=1')
  fs.chmodSync(file, 0o600)
  const loaded = await load([{ path: file, kind: 'found' }])
  expect(server(loaded, 'a')).toMatchObject({ launch: { env: { A: '1' } }, policy: { trustAnnotations: false } })
})

test('another default of an input, or another place that a word stands for, is another definition; what a person answers is not', async () => {
  const text = (fallback: string): unknown => ({
    inputs: [{ type: 'promptString', id: 'program', description: 'x', default: fallback }],
    servers: { a: { command: '${input:program}', args: ['${cwd}/run'] }, web: { type: 'http', url: 'https://x.test/${input:program}' } },
  })
  const template = async (fallback: string, { cwd = '/safe', answer = '', name = 'a' } = {}): Promise<unknown> => {
    const folder = folderWith({ '.vscode/mcp.json': text(fallback) })
    const files = [{ path: path.join(folder, '.vscode/mcp.json'), kind: 'named' as const }]
    const env = answer === '' ? {} : { TAPLINE_INPUT_PROGRAM: answer }
    const { template: written } = server(await loadConfig({ files, env, secrets: new Secrets(), cwd }), name)
    return JSON.parse(JSON.stringify(written).replaceAll(folder, 'FOLDER'))
  }
  const mine = await template('echo')
  expect(await template('echo', { answer: 'printf' })).toEqual(mine)
  expect(await template('rm')).not.toEqual(mine)
  expect(await template('rm', { answer: 'echo' })).not.toEqual(mine)
  expect(await template('echo', { cwd: '/evil' })).not.toEqual(mine)
  expect(await template('rm', { name: 'web' })).not.toEqual(await template('echo', { name: 'web' }))
})
