import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const CLI = path.join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js')

/** Name → script; `npm run test:real` installs the servers and says where they are. */
const scripts = JSON.parse(process.env['TAPLINE_REAL_SERVERS'] ?? '{}') as Record<'everything' | 'filesystem' | 'memory', string>

let folder: string

beforeAll(() => {
  if (scripts.everything === undefined) throw new Error('run these tests with `npm run test:real`, which installs the servers')
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-real-')))
  fs.mkdirSync(path.join(folder, 'files'))
  fs.writeFileSync(path.join(folder, 'files', 'hello.txt'), 'good morning\n')
  // As other clients write it: absolute paths, a `type` that says stdio, variables of its own.
  const mcpServers = {
    everything: { type: 'stdio', command: 'node', args: [scripts.everything], env: {} },
    filesystem: { command: 'node', args: [scripts.filesystem, path.join(folder, 'files')] },
    memory: { command: 'node', args: [scripts.memory], env: { MEMORY_FILE_PATH: path.join(folder, 'memory.json') } },
  }
  fs.writeFileSync(path.join(folder, '.mcp.json'), JSON.stringify({ mcpServers }, null, 2))
})

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

interface Answer {
  readonly status: number | null
  readonly json: any
  readonly stderr: string
}

/** Runs the command line as a person would, in the folder of the file, with a home of its own. */
function tapline(...args: string[]): Promise<Answer> {
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, NO_COLOR: '1' }
  const child = spawn(process.execPath, [CLI, '--config', '.mcp.json', '--json', ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, json: stdout === '' ? null : JSON.parse(stdout), stderr }))
  })
}

const call = (server: string, tool: string, args: object, ...options: string[]): Promise<Answer> =>
  tapline('call', ...options, '--server', server, tool, JSON.stringify(args))

test('tools of three servers that were not written for us', async () => {
  const { status, json, stderr } = await tapline('tools')
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+/)
  expect(status).toBe(0)
  expect(json.errors).toEqual([])
  const count = (name: string): number => json.tools.filter((tool: any) => tool.owner.name === name).length
  expect(count('filesystem')).toBe(14)
  expect(count('memory')).toBe(9)
  expect(count('everything')).toBeGreaterThanOrEqual(12)
  expect(json.tools.map((tool: any) => tool.name)).toContain('mcp__filesystem__read_text_file')
})

test('a call by the visible name', async () => {
  const { status, json } = await tapline('call', 'mcp__everything__echo', '{"message":"one two three"}')
  expect(json).toMatchObject({
    outcome: 'completed',
    sent: 'yes',
    tool: 'echo',
    owner: { name: 'everything', environmentId: null, installationId: null },
  })
  expect(json.result.content[0].text).toContain('one two three')
  expect(status).toBe(0)
})

test('reading a file, and one outside of what the server allows', async () => {
  const inside = await call('filesystem', 'read_text_file', { path: path.join(folder, 'files', 'hello.txt') })
  expect(inside.json.result.content[0].text).toBe('good morning\n')
  expect(inside.status).toBe(0)
  const outside = await call('filesystem', 'read_text_file', { path: path.join(folder, '.mcp.json') })
  expect(outside.json).toMatchObject({ outcome: 'completed', result: { isError: true } })
  expect(outside.status).toBe(1)
})

test('what one call stores, another process of the server finds', async () => {
  const entity = { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }
  const stored = await call('memory', 'create_entities', { entities: [entity] }, '--approve', 'once')
  expect(stored.json).toMatchObject({ outcome: 'completed', sent: 'yes' })
  const found = await call('memory', 'search_nodes', { query: 'Ada' })
  expect(JSON.stringify(found.json.result)).toContain('wrote the first program')
  expect(found.status).toBe(0)
})

test('arguments that do not fit the schema of the tool reach no server', async () => {
  const { status, json } = await call('filesystem', 'read_text_file', { path: 7 })
  expect(json).toMatchObject({ outcome: 'invalid_request', code: 'CALL_INVALID_REQUEST', sent: 'no' })
  expect(status).toBe(2)
})

test('status has a row for each', async () => {
  const { status, json } = await tapline('status')
  expect(json.data.map((row: any) => row.owner?.name ?? row.name).sort()).toEqual(['everything', 'filesystem', 'memory'])
  expect(status).toBe(0)
})

test('resources of a server are listed and read', async () => {
  const listed = await tapline('resources', 'list', '--server', 'everything')
  expect(listed.status).toBe(0)
  expect(listed.json.resources.length).toBeGreaterThan(0)
  const { uri } = listed.json.resources[0]
  const read = await tapline('resources', 'read', '--server', 'everything', uri)
  expect(read.status).toBe(0)
  expect(read.json.contents[0].uri).toBe(uri)
})
