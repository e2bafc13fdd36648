/** Marked values given to servers, through every command that there is, in JSON and for people, and in the files that are left. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { MAIN } from '../cli/tapline.ts'
import { Case, said, server, SLOW, until } from './driver.ts'

const [TOKEN, PASSED, WRITTEN] = ['marked-variable-71', 'marked-passed-on-72', 'marked-literal-73']
const VALUES = [TOKEN, PASSED, WRITTEN]
const config = (more: object = {}): object => {
  const leaky = (mode: string): object =>
    server('leaky.mjs', [mode, '--header', 'Authorization: Bearer ${TOKEN}'], {
      env: { API_TOKEN: '${TOKEN}', SECOND: '${PASSED_KEY}', DB_PASSWORD: WRITTEN },
      env_vars: ['CASE_LEDGER', 'CASE_MARK', 'PASSED_KEY'],
      defaultToolsApprovalMode: 'auto',
    })
  return {
    environments: { vm: { cwd: '.', permissions: 'workspace-write', mcpServers: { plain: leaky('plain'), dies: leaky('dies') } } },
    mcpServers: { noisy: leaky('noisy'), refuses: leaky('refuses') },
    features: { multi_environment_mcp: true },
    ...more,
  }
}
const on = ['--server', 'plain', '--environment', 'vm']
const ALWAYS = ['call', ...on, 'hello', '--approve', 'always', '--trace', '--trace-file', 't.jsonl']
const COMMANDS = [
  ALWAYS,
  ['call', ...on, 'fails', '--approve', 'once', '--trace', '--trace-file', 't.jsonl'],
  ['call', ...on, 'quits', '--approve', 'session'],
  ['call', '--server', 'dies', 'hello'],
  ['trace', 'show', 't.jsonl'],
  ['trace', 'schema'],
  ['rollout', 'report', 't.jsonl'],
  ['explain', ...on, 'hello'],
  ['tools'],
  ['tools', '--cached'],
  ['status'],
  ['status', '--detail', 'tools_and_auth', '--limit', '2'],
  ['doctor'],
  ['environments', 'list'],
  ['environments', 'check'],
  ['resources', 'list'],
  ['resources', 'templates'],
  ['resources', 'read', ...on, 'case://one'],
  ['prompts', 'list'],
  ['prompts', 'get', ...on, 'one'],
  ['plugins', 'list'],
  ['flags', 'list'],
  ['flags', 'explain', 'multi_environment_mcp'],
  // no flag file: what is wrong with it is told without what stands in it
  ['flags', 'simulate', 'tapline.json'],
  ['config', 'check'],
  ['config', 'show'],
  ['config', 'schema'],
  ['approvals', 'list'],
  ['approvals', 'revoke', 'no-such'],
]
/** Those of other tests here, the tour, which has servers of its own, and those for authors, which read no configuration. */
const OTHERS = ['demo', 'serve', 'trust', 'untrust', 'hooks list', 'hooks trust', 'hooks untrust', 'hooks check', 'hooks init']
const env = { TOKEN, PASSED_KEY: PASSED }
const leaked = (text: string): string[] => VALUES.filter((value) => text.includes(value))

function leaves(command: Command, prefix: string[] = []): string[] {
  return command.commands.flatMap((one) => {
    const names = [...prefix, one.name()]
    return one.commands.length > 0 ? leaves(one, names) : [names.join(' ')]
  })
}
/** Every file below, but for the ledger of the servers and what the test wrote. */
const written = (at: Case, ...own: string[]): string[] =>
  [at.dir, at.home].flatMap((folder) =>
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && !own.includes(one.name))
      .map((one) => path.join(one.parentPath, one.name)),
  )

test('the list has every command of the program', () => {
  const nothing = (): void => {}
  const all = leaves(createProgram({ writeHelp: nothing, writeUsage: nothing, color: false, run: async () => {} }))
  const here = COMMANDS.map((args) => all.find((name) => args.join(' ').startsWith(name)) ?? `no command: ${args.join(' ')}`)
  expect(new Set([...here, ...OTHERS])).toEqual(new Set(all))
})

test('every command, and what it leaves on the disk', { timeout: 300_000 }, async () => {
  await using at = new Case(config())
  const found: string[] = []
  for (const args of COMMANDS)
    for (const ended of await Promise.all([true, false].map((json) => at.run(args, { env, json })))) {
      const out = said(ended)
      if (out.trim() === '') found.push(`${args.join(' ')}: says nothing`)
      for (const value of leaked(out)) found.push(`${args.join(' ')}: ${value} in ${out}`)
    }
  expect(found).toEqual([])
  const files = written(at, 'tapline.json')
  expect(files.map((file) => path.basename(file))).toContain('approvals.json')
  expect(files.filter((file) => leaked(fs.readFileSync(file, 'utf8')).length > 0)).toEqual([])
  // the servers did get them
  expect(at.ledger({ ev: 'given', who: 'plain' })[0]?.['env']).toMatchObject({ API_TOKEN: TOKEN, SECOND: PASSED, DB_PASSWORD: WRITTEN })
})

test('trust and untrust, which copy and compare whole files', SLOW, async () => {
  await using at = new Case()
  at.write('.mcp.json', { mcpServers: { plain: server('leaky.mjs', ['plain'], { env: { DB_PASSWORD: WRITTEN, API_TOKEN: '${TOKEN}' } }) } })
  const found: string[] = []
  const run = async (...args: string[]): Promise<void> => {
    for (const json of [true, false]) found.push(...leaked(said(await at.run(args, { env, json, config: null }))))
  }
  await run('tools')
  await run('trust')
  await run('tools')
  await run('untrust')
  expect(found).toEqual([])
  expect(written(at, '.mcp.json').filter((file) => leaked(fs.readFileSync(file, 'utf8')).length > 0)).toEqual([])
})

test('command hooks that are given a secret, and what they say of it', SLOW, async () => {
  const hook = (command: string): object => ({ hooks: [{ type: 'command', command }] })
  const context = `printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"%s"}}' "$PASSED_KEY"`
  const tells = 'echo "refused by $PASSED_KEY" >&2; exit'
  await using at = new Case(config({ hooks: [{ commandHooks: 'hooks.json', env: ['PASSED_KEY'] }] }))
  const found: string[] = []
  const all: string[] = []
  const run = async (args: string[]): Promise<void> => {
    for (const json of [true, false]) {
      const out = said(await at.run(args, { env, json }))
      all.push(out)
      found.push(...leaked(out))
    }
  }
  for (const PreToolUse of [[hook('echo "$PASSED_KEY"')], [hook(`${tells} 2`)], [hook(`${tells} 1`)]]) {
    at.write('hooks.json', { hooks: { PreToolUse, PostToolUse: [hook(context)] } })
    await run(['hooks', 'trust'])
    await run(['call', ...on, 'hello', '--approve', 'once', '--trace'])
  }
  await run(['hooks', 'list'])
  await run(['hooks', 'untrust'])
  expect(found).toEqual([])
  // it was there to be told
  for (const words of ['printed: [redacted]', 'refused by [redacted]', '"additionalContext":["[redacted]"]'])
    expect(all.join('\n')).toContain(words)
  expect(written(at, 'tapline.json').filter((file) => leaked(fs.readFileSync(file, 'utf8')).length > 0)).toEqual([])
})

test('serve: what the client and stderr see', SLOW, async () => {
  await using at = new Case(config())
  const child = spawn(process.execPath, [MAIN, '--config', 'tapline.json', 'serve', '--stdio', '--trace-file', 't.jsonl'], {
    cwd: at.dir,
    env: { ...at.env, ...env },
    stdio: 'pipe',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const answer = (id: number): any =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .find((message) => message.id === id)
  const exited = new Promise((resolve) => child.on('exit', resolve))
  const send = (id: number, method: string, params: object = {}): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '0' } })
  send(2, 'tools/list')
  await until(() => answer(2) !== undefined, 60_000)
  const names: string[] = answer(2).result.tools.map(({ name }: { name: string }) => name)
  expect(names.length).toBeGreaterThan(3)
  for (const [index, name] of names.entries()) send(10 + index, 'tools/call', { name, arguments: {} })
  send(90, 'resources/list')
  await until(() => [90, ...names.map((_name, index) => 10 + index)].every((id) => answer(id) !== undefined), 60_000)
  child.stdin.end()
  await exited
  expect(leaked(stdout + stderr)).toEqual([])
  const records = fs.readFileSync(path.join(at.dir, 't.jsonl'), 'utf8')
  expect(leaked(records)).toEqual([])
  expect(records.match(/^\{"v":1,"type":"call"/gm)?.length).toBeGreaterThanOrEqual(names.length)
})
