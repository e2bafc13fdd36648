import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = path.join(import.meta.dirname, '..', '..')
/** Inside of the repository, so that `tapline` means the package that was built here. */
const COMPILED = path.join(ROOT, '.cache', `examples-${process.pid}`)

beforeAll(() => {
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', 'examples', '--outDir', COMPILED], { cwd: ROOT, stdio: 'pipe', timeout: 60_000 })
}, 60_000)

afterAll(() => fs.rmSync(COMPILED, { recursive: true, force: true }))

/** What an example prints; rejects where its exit status is not 0. */
async function run(name: string): Promise<string[]> {
  const file = path.join(COMPILED, `${name}.js`)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { cwd: ROOT, timeout: 25_000 })
  expect(stderr).toBe('')
  return stdout.trimEnd().split('\n')
}

/** Exit status and texts of the command line with a configuration of this test. */
async function tapline(config: object, args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const file = path.join(COMPILED, 'tapline.json')
  fs.writeFileSync(file, JSON.stringify(config))
  const command = [path.join(ROOT, 'dist', 'cli', 'main.js'), '--config', file, '--quiet', ...args]
  return promisify(execFile)(process.execPath, command, { timeout: 25_000 }).then(
    (texts) => ({ status: 0, ...texts }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ status: code, stdout, stderr }),
  )
}

/** Stands in for `@modelcontextprotocol/server-everything`, which the README starts from the registry. */
const EVERYTHING = `
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'
const server = new McpServer({ name: 'everything', version: '1.0.0' })
server.registerTool('echo', { inputSchema: { message: z.string() }, annotations: { readOnlyHint: true } }, ({ message }) => ({
  content: [{ type: 'text', text: 'Echo: ' + message }],
}))
await server.connect(new StdioServerTransport())
`

test('first-call runs as the README prints it, beside a .mcp.json', async () => {
  const folder = fs.mkdtempSync(path.join(COMPILED, 'first-call-'))
  fs.copyFileSync(path.join(ROOT, 'examples', 'first-call.mjs'), path.join(folder, 'first-call.mjs'))
  fs.writeFileSync(path.join(folder, 'everything.mjs'), EVERYTHING)
  const mcpServers = { everything: { command: process.execPath, args: ['everything.mjs'] } }
  fs.writeFileSync(path.join(folder, '.mcp.json'), JSON.stringify({ mcpServers }))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['first-call.mjs'], { cwd: folder, timeout: 25_000 })
  expect(stderr).toBe('')
  expect(stdout.trimEnd().split('\n')).toEqual(['mcp__everything__echo  of everything', 'completed - Echo: hello'])
})

test('harness-loop carries on through a broken request and a question', async () => {
  expect(await run('harness-loop')).toEqual([
    'assistant: I write it down and look.',
    'call-1: completed - note 1: buy milk',
    'call-2: invalid_request - arguments must be a JSON object, not a string',
    'assistant: Now I clear the list.',
    '? clear of notes: yes',
    'call-3: completed - 1 deleted',
    'assistant: Done.',
  ])
})

test('rollout: a flag and a guard for some users; switched off, the guard is gone from open sessions too', async () => {
  const file = path.join(ROOT, 'examples', 'rollout', 'rollout.mjs')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { timeout: 25_000 })
  expect([stderr, stdout.trimEnd().split('\n')]).toEqual([
    '',
    [
      'multi_environment_mcp: false 478, true 22',
      'user-9: true (on, TARGETING_MATCH, provider)',
      'off for everybody; the session that is open keeps true',
      'read_only_mode: shadow 99, off 370, enforce 31',
      'in shadow: completed, would have been refused',
      'in force: refused',
      'switched off while the session is open: completed',
    ],
  ])
})

test('approvals: reviewed, asked once, asked again after a change, revoked', async () => {
  expect(await run('approvals')).toEqual([
    '? clear of notes (environment staging), 0 changes since the last yes: always',
    'staging: completed - 0 deleted',
    'staging: completed - 0 deleted',
    'prod: refused - The call was refused: clear is not run in prod by an agent',
    '? clear of notes (environment staging), 1 changes since the last yes: always',
    'staging: completed - 0 deleted',
    'revoked always clear of notes (environment staging): true',
    'revoked always clear of notes (environment staging): true',
  ])
})

test.each([
  [
    'openai',
    '"note 1: buy milk"',
    '"arguments must be a JSON object, not a string"',
    '"The call needs approval, and nobody is there to give it."',
  ],
  [
    'anthropic',
    '[{"type":"text","text":"note 1: buy milk"}]',
    'error [{"type":"text","text":"arguments must be a JSON object, not a string"}]',
    'error [{"type":"text","text":"The call needs approval, and nobody is there to give it."}]',
  ],
])('harness-%s carries on through a broken request and a refusal', async (name, added, broken, refused) => {
  expect(await run(`harness-${name}`)).toEqual([
    'assistant: I write it down.',
    `tool: ${added}`,
    `tool: ${broken}`,
    'assistant: Now I clear the list.',
    `tool: ${refused}`,
    'assistant: Done.',
  ])
})

test('harness-ai-sdk lets the SDK run the loop', async () => {
  expect(await run('harness-ai-sdk')).toEqual([
    'assistant: I write it down.',
    'assistant: Now I clear the list.',
    'assistant: Done.',
    'tool: {"type":"text","value":"note 1: buy milk"}',
    'tool: {"type":"execution-denied","reason":"The call needs approval, and nobody is there to give it."}',
  ])
})

test('builtin-plugins lists, redacts, sends nothing that writes, and writes it down', async () => {
  expect(await run('builtin-plugins')).toEqual([
    'add: completed, sent: no - Dry run: add of notes was not called. Nothing was sent.',
    expect.stringMatching(/^list: completed, sent: yes - /),
    expect.stringMatching(/^clear: refused, sent: no - .*on the deny list of notes$/),
    'add OK {"text":"my key is [redacted]"}',
    'list OK {}',
    'clear CALL_REFUSED {}',
  ])
})

test('with-hooks refuses, rewrites and writes the audit', async () => {
  const [added, cleared, ...audit] = await run('with-hooks')
  expect(added).toBe('completed - note 1: the code is [redacted]')
  expect(cleared).toBe('refused - The call was refused: clear is off on notes')
  expect(audit.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      tool: 'add',
      code: 'OK',
      sent: 'yes',
      owner: { display: 'notes' },
      taps: ['redact-arguments/redact: rewrite', 'deny-tools/deny: none'],
    },
    { tool: 'clear', code: 'CALL_REFUSED', sent: 'no', taps: ['deny-tools/deny: deny'] },
  ])
})

test('two-environments keeps two servers of one name apart', async () => {
  const lines = await run('two-environments')
  const names = lines.slice(0, 6).map((line) => line.split('  of '))
  expect(names.map(([, owner]) => owner)).toEqual([
    ...Array<string>(3).fill('notes (environment here)'),
    ...Array<string>(3).fill('notes (environment there)'),
  ])
  expect(new Set(names.map(([name]) => name)).size).toBe(6)
  expect(lines.slice(6)).toEqual([
    'here: buy milk',
    'there: no notes',
    "AMBIGUOUS_SERVER [ 'notes (environment here)', 'notes (environment there)' ]",
  ])
})

test.each(['every-hook', 'one-environment'])('%s passes its own test', async (name) => {
  const command = ['--test', '--test-reporter=tap', path.join(COMPILED, `${name}.test.js`)]
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, timeout: 25_000 })
  expect(stdout).toMatch(/^# pass 1$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})

test('the plugins of the examples work as modules of a configuration, each with its kind of export', async () => {
  const config = {
    mcpServers: { notes: { command: process.execPath, args: [path.join(ROOT, 'examples', 'notes-server.mjs')] } },
    hooks: [
      path.join(ROOT, 'examples', 'read-only.mjs'),
      { module: './redact-arguments.js', options: { pattern: 'milk' } },
      { module: './deny-tools.js', options: { tools: ['list'] } },
      { module: './audit.js', options: { file: path.join(COMPILED, 'audit.jsonl') } },
    ],
  }
  const add = await tapline(config, ['call', '--server', 'notes', 'add', '{"text":"buy milk"}'])
  expect(add).toMatchObject({ status: 3, stdout: '' })
  expect(add.stderr).toContain('tap "only-reads" of plugin "read-only" refused the call: add of notes may write')
  const list = await tapline(config, ['call', '--server', 'notes', 'list'])
  expect(list.stderr).toContain('tap "deny" of plugin "deny-tools" refused the call: list is off on notes')
  const audit = fs.readFileSync(path.join(COMPILED, 'audit.jsonl'), 'utf8').trimEnd().split('\n')
  expect(audit.map((line) => (JSON.parse(line) as { code: string }).code)).toEqual(['CALL_REFUSED', 'CALL_REFUSED'])
})

/** A server of the examples in an environment with a launcher that stands in for the real one: it runs the command, unconfined. */
function sandboxed(script: string, args: readonly string[] = [], hasLauncher = true): object {
  const launcher = path.join(COMPILED, 'launcher')
  fs.writeFileSync(launcher, '#!/bin/sh\ncase "$*" in *--help) exit 0;; esac\nshift 4\nexec "$@"\n', { mode: 0o755 })
  const server = { command: process.execPath, args: [path.join(ROOT, 'examples', script), ...args], defaultToolsApprovalMode: 'approve' }
  return {
    environments: {
      here: { cwd: COMPILED, permissions: 'read-only', ...(hasLauncher && { codexExecutable: launcher }), mcpServers: { server } },
    },
  }
}

test('sandbox-server runs commands by way of the launcher, and none without it unless its operator said so', async () => {
  const call = ['call', '--server', 'server', 'run', '{"command":"echo","args":["a b","$HOME"]}']
  expect(await tapline(sandboxed('sandbox-server.mjs'), call)).toMatchObject({ status: 0, stdout: 'a b $HOME\nexit status 0\n' })
  const refused = await tapline(sandboxed('sandbox-server.mjs', [], false), call)
  expect(refused.status).toBe(1)
  expect(refused.stdout).toBe('SANDBOX_UNAVAILABLE: the host offers no sandbox launcher with this call: commands are not run\n')
  expect(await tapline(sandboxed('sandbox-server.mjs', ['--allow-unsandboxed'], false), call)).toMatchObject({
    status: 0,
    stdout: 'a b $HOME\nexit status 0\n',
  })
})

test('sandbox-repl keeps its shell and its cache for one authority', async () => {
  const { openSession } = await import('tapline')
  const session = await openSession(sandboxed('sandbox-repl.mjs'))
  try {
    const call = async (tool: string, args: object): Promise<string> =>
      (await session.callTool({ server: 'server', tool, arguments: args })).forModel.text
    const [first, second] = await Promise.all([call('line', { line: 'x=1; echo one' }), call('line', { line: 'echo "$x"; false' })])
    expect([first, second]).toEqual(['one\n-- 0', '1\n-- 1'])
    expect(await call('line', { line: 'exit' })).toBe('the shell has ended')
    expect(await call('line', { line: 'echo "again $x"' })).toBe('again \n-- 0')
    expect(await call('files', {})).toMatch(/^listed 1 times: /)
    expect(await call('files', {})).toMatch(/^listed 1 times: /)
  } finally {
    await session.close()
  }
})

test('options of a plugin that do not fit its schema are told with their place', async () => {
  const { status, stderr } = await tapline({ hooks: [{ module: './redact-arguments.js', options: { pattern: 1 } }] }, ['tools'])
  expect(status).toBe(2)
  expect(stderr).toMatch(/tapline\.json:1:\d+: .*redact-arguments\.js does not accept its options: .*pattern/)
})

test('the plugin package of the examples is installed twice', async () => {
  const config = path.join(ROOT, 'examples', 'plugins', 'tapline.json')
  const command = [path.join(ROOT, 'dist', 'cli', 'main.js'), '--config', config, '--quiet', '--json']
  const run = async (...args: string[]): Promise<any> =>
    JSON.parse((await promisify(execFile)(process.execPath, [...command, ...args], { timeout: 25_000 })).stdout)
  expect((await run('plugins', 'list')).plugins.map((one: any) => [one.id, one.installationId])).toEqual([
    ['notes', null],
    ['notes', 'drafts'],
  ])
  const added = await run('call', '--server', 'notes', '--installation', 'drafts', 'add', '{"text":"x"}')
  expect([added.outcome, added.owner.installationId]).toEqual(['completed', 'drafts'])
})

test('the command hooks of the examples run once they are trusted', async () => {
  const folder = path.join(ROOT, 'examples', 'command-hooks')
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-example-'))
  const run = async (...args: string[]): Promise<any> => {
    const command = [path.join(ROOT, 'dist', 'cli', 'main.js'), '--config', path.join(folder, 'tapline.json'), '--quiet', '--json']
    const options = { timeout: 25_000, env: { ...process.env, XDG_STATE_HOME: state } }
    // a call that is refused has its document all the same
    const { stdout } = await promisify(execFile)(process.execPath, [...command, ...args], options).catch(
      (ended: { stdout: string }) => ended,
    )
    return JSON.parse(stdout)
  }
  try {
    expect((await run('hooks', 'trust')).trusted).toEqual([path.join(folder, 'hooks.json')])
    expect(await run('call', 'mcp__notes__add', '{"text":"buy milk"}')).toMatchObject({
      outcome: 'completed',
      additionalContext: ['mcp__notes__add of notes is read by everybody in the team.'],
    })
    expect(await run('call', 'mcp__notes__add', '{"text":"my password"}')).toMatchObject({
      outcome: 'refused',
      reason: 'no passwords in notes',
    })
  } finally {
    fs.rmSync(state, { recursive: true, force: true })
  }
})
