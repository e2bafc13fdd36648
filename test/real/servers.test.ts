/** Servers that were not written for us, from the configuration files of other clients. `npm run test:real` installs them. */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import type { Ended } from '../cases/driver.ts'
import { Case, end, said, text } from '../cases/driver.ts'
import { realServer } from './installed.ts'

/** Path of the script of an installed server. */
const script = (name: 'everything' | 'filesystem' | 'memory'): string => realServer(name, tmpdir()).args[0]!

/** A folder with a `.mcp.json` as another client writes it, and a file for the server to read. */
function place(): Case {
  const at = new Case()
  at.write('files/hello.txt', 'good morning\n')
  at.write('.mcp.json', {
    mcpServers: {
      everything: { type: 'stdio', command: 'node', args: [script('everything')], env: { ...at.servers } },
      filesystem: { command: 'node', args: [script('filesystem'), at.path('files')], env: { ...at.servers } },
      memory: { command: 'node', args: [script('memory')], env: { ...at.servers, MEMORY_FILE_PATH: at.path('memory.json') } },
    },
  })
  return at
}
const run = (at: Case, ...args: string[]): Promise<Ended> => at.run(args, { config: '.mcp.json' })
const call = (at: Case, server: string, tool: string, args: object, ...options: string[]): Promise<Ended> =>
  run(at, 'call', ...options, '--server', server, tool, JSON.stringify(args))
const names = (json: any, server: string): string[] =>
  json.tools.filter((tool: any) => tool.owner.name === server).map((tool: any) => tool.tool)

test('the tools of all three', async () => {
  await using at = place()
  const { status, json, stderr } = await run(at, 'tools')
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+/)
  expect([status, json.errors]).toEqual([0, []])
  // twelve, and one that it adds while it starts; more to clients that declare roots, sampling and elicitation
  expect(names(json, 'everything')).toHaveLength(13)
  expect(names(json, 'filesystem')).toHaveLength(14)
  expect(names(json, 'memory')).toHaveLength(9)
  expect(new Set(json.tools.map((tool: any) => tool.name)).size).toBe(36)
  for (const tool of json.tools) expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(json.tools.map((tool: any) => tool.name)).toContain('mcp__filesystem__read_text_file')
})

test('a call by the visible name; structured content that fits its output schema', async () => {
  await using at = place()
  const { status, json } = await run(at, 'call', 'mcp__everything__echo', '{"message":"one two three"}')
  const owner = { name: 'everything', environmentId: null, installationId: null }
  expect([status, json]).toMatchObject([0, { outcome: 'completed', sent: 'yes', tool: 'echo', owner }])
  expect(json.result.content[0].text).toContain('one two three')
  const weather = await call(at, 'everything', 'get-structured-content', { location: 'Chicago' })
  expect(end(weather)).toEqual([0, 'completed', 'yes'])
  expect(weather.json.result.structuredContent).toMatchObject({ temperature: expect.any(Number), conditions: expect.any(String) })
  const sum = await call(at, 'everything', 'get-sum', { a: 2, b: 40 })
  expect(text(sum)).toContain('42')
})

test('images and links come through whole; a long operation reports its progress', async () => {
  await using at = place()
  const image = await call(at, 'everything', 'get-tiny-image', {})
  expect(image.json.result.content.find((block: any) => block.type === 'image')).toMatchObject({
    mimeType: 'image/png',
    data: expect.stringMatching(/^iVBOR/),
  })
  const links = await call(at, 'everything', 'get-resource-links', { count: 3 })
  expect(links.json.result.content.filter((block: any) => block.type === 'resource_link')).toHaveLength(3)
  const long = await call(at, 'everything', 'trigger-long-running-operation', { duration: 2, steps: 4 })
  expect(end(long)).toEqual([0, 'completed', 'yes'])
  expect(long.ms).toBeGreaterThan(1500)
  const cut = await call(at, 'everything', 'trigger-long-running-operation', { duration: 30, steps: 3 }, '--timeout', '3')
  expect(end(cut)).toEqual([4, 'timed_out', 'yes'])
  expect(cut.ms).toBeLessThan(15_000)
})

test('a file is read, written after a yes only, and not outside of what the server allows', async () => {
  await using at = place()
  expect(text(await call(at, 'filesystem', 'read_text_file', { path: at.path('files/hello.txt') }))).toBe('good morning\n')
  const file = at.path('files/new.txt')
  const asked = await call(at, 'filesystem', 'write_file', { path: file, content: 'evening' })
  expect([...end(asked), asked.json.code]).toEqual([3, 'no_approver', 'no', 'CALL_NO_APPROVER'])
  expect(existsSync(file)).toBe(false)
  expect(end(await call(at, 'filesystem', 'write_file', { path: file, content: 'evening' }, '--approve', 'deny'))).toEqual([
    3,
    'refused',
    'no',
  ])
  expect(existsSync(file)).toBe(false)
  expect(end(await call(at, 'filesystem', 'write_file', { path: file, content: 'evening' }, '--approve', 'once'))).toEqual([
    0,
    'completed',
    'yes',
  ])
  expect(readFileSync(file, 'utf8')).toBe('evening')
  // a yes for once is no yes for the next time
  expect(end(await call(at, 'filesystem', 'write_file', { path: file, content: 'night' }))).toEqual([3, 'no_approver', 'no'])
  const edits = [{ oldText: 'evening', newText: 'night' }]
  expect(end(await call(at, 'filesystem', 'edit_file', { path: file, edits }, '--approve', 'once'))).toEqual([0, 'completed', 'yes'])
  expect(readFileSync(file, 'utf8')).toBe('night')
  const outside = await call(at, 'filesystem', 'read_text_file', { path: at.path('.mcp.json') })
  expect([...end(outside), outside.json.result.isError]).toEqual([1, 'completed', 'yes', true])
})

test('what one call stores, another process of the server finds', async () => {
  await using at = place()
  const entity = { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }
  expect(end(await call(at, 'memory', 'create_entities', { entities: [entity] }, '--approve', 'once'))).toEqual([0, 'completed', 'yes'])
  const found = await call(at, 'memory', 'search_nodes', { query: 'Ada' })
  expect(end(found)).toEqual([0, 'completed', 'yes'])
  expect(found.json.result.structuredContent.entities).toEqual([entity])
  expect(at.read('memory.json')).toContain('wrote the first program')
})

test('arguments that do not fit the schema of the tool, and names that are none, reach no server', async () => {
  await using at = place()
  const wrong = await call(at, 'filesystem', 'read_text_file', { path: 7 })
  expect([...end(wrong), wrong.json.code]).toEqual([2, 'invalid_request', 'no', 'CALL_INVALID_REQUEST'])
  const misspelt = await call(at, 'filesystem', 'read_text_fil', {})
  expect([...end(misspelt), misspelt.json.code]).toEqual([2, 'invalid_request', 'no', 'UNKNOWN_TOOL'])
  expect(said(misspelt)).toContain('read_text_file')
})

test('the status has a row for each, with what the server says of itself', async () => {
  await using at = place()
  const { status, json } = await run(at, 'status')
  expect(status).toBe(0)
  expect(json.data.map((row: any) => [row.owner?.name ?? row.name, row.runtimeStatus, row.protocolVersion, row.serverInfo.name])).toEqual([
    ['everything', 'connected', '2025-11-25', 'mcp-servers/everything'],
    ['filesystem', 'connected', '2025-11-25', 'secure-filesystem-server'],
    ['memory', 'connected', '2025-11-25', 'memory-server'],
  ])
  const [everything] = json.data
  expect([everything.tools.length, everything.resources.length, everything.resourceTemplates.length, everything.prompts.length]).toEqual([
    13, 7, 2, 4,
  ])
})

test('resources of one server and of all are listed and read', async () => {
  await using at = place()
  const listed = await run(at, 'resources', 'list', '--server', 'everything')
  expect([listed.status, listed.json.resources.length]).toEqual([0, 7])
  for (const { uri } of listed.json.resources.slice(0, 2)) {
    const read = await run(at, 'resources', 'read', '--server', 'everything', uri)
    expect([read.status, read.json.contents[0].uri]).toEqual([0, uri])
  }
  const all = await run(at, 'resources', 'list')
  expect(new Set(all.json.resources.map((item: any) => item.server))).toEqual(new Set(['everything', 'memory']))
  const missing = await run(at, 'resources', 'read', '--server', 'everything', 'nosuch://thing')
  expect(missing.status).not.toBe(0)
})

test('a claude_desktop_config.json with a shell in between, found files of a project, a server through a link', async () => {
  await using at = place()
  const wrapper = at.write('bin/serve files', `#!/bin/sh\nexec node '${script('filesystem')}' "$@"\n`)
  chmodSync(wrapper, 0o755)
  at.write('claude_desktop_config.json', {
    globalShortcut: '',
    mcpServers: {
      'my-files': { command: wrapper, args: [at.path('files')], env: { ...at.servers } },
      shell: {
        command: 'sh',
        args: ['-c', `node '${script('memory')}'; true`],
        env: { ...at.servers, MEMORY_FILE_PATH: at.path('m.json') },
      },
    },
  })
  const desktop = await at.run(['tools'], { config: 'claude_desktop_config.json' })
  expect([desktop.status, desktop.json.errors, names(desktop.json, 'my-files').length, names(desktop.json, 'shell').length]).toEqual([
    0,
    [],
    14,
    9,
  ])
  // as a project file it is found, and waits until it is trusted
  const found = { config: null }
  expect((await at.run(['tools'], found)).status).toBe(2)
  expect((await at.run(['trust'], found)).status).toBe(0)
  const read = ['call', '--server', 'filesystem', 'read_text_file', JSON.stringify({ path: at.path('files/hello.txt') })]
  // what a found file says of its servers is not taken for granted: their "read only" answers no question
  expect(end(await at.run(read, found))).toEqual([3, 'no_approver', 'no'])
  expect(text(await at.run([...read, '--approve', 'once'], found))).toBe('good morning\n')
})

test('one server on two environments: each has its own folder, the flag decides which are seen', async () => {
  await using at = place()
  for (const name of ['a', 'b']) {
    mkdirSync(at.path(name))
    at.write(`${name}/where.txt`, `folder ${name}`)
  }
  const files = (name: string): object => ({
    cwd: `./${name}`,
    permissions: 'workspace-write',
    mcpServers: { files: { command: 'node', args: [script('filesystem'), '.'], env: { ...at.servers } } },
  })
  at.write('tapline.json', { environments: { 'exec-a': files('a'), 'exec-b': files('b') }, features: { multi_environment_mcp: true } })
  const { json } = await at.run(['tools'])
  expect([json.errors, json.tools.length, new Set(json.tools.map((tool: any) => tool.name)).size]).toEqual([[], 28, 28])
  for (const name of ['a', 'b']) {
    const read = await at.run([
      'call',
      '--server',
      'files',
      '--environment',
      `exec-${name}`,
      'read_text_file',
      JSON.stringify({ path: at.path(name, 'where.txt') }),
    ])
    expect([text(read), read.json.owner.environmentId]).toEqual([`folder ${name}`, `exec-${name}`])
  }
  const crossed = await at.run([
    'call',
    '--server',
    'files',
    '--environment',
    'exec-a',
    'read_text_file',
    JSON.stringify({ path: at.path('b/where.txt') }),
  ])
  expect([crossed.status, crossed.json.result.isError]).toEqual([1, true])
  const byName = json.tools.find((tool: any) => tool.owner.environmentId === 'exec-b' && tool.tool === 'list_directory')
  expect(text(await at.run(['call', byName.name, JSON.stringify({ path: at.path('b') })]))).toContain('where.txt')
  const bare = await at.run(['call', '--server', 'files', 'list_directory', JSON.stringify({ path: at.path('a') })])
  expect([...end(bare), bare.json.code]).toEqual([2, 'invalid_request', 'no', 'AMBIGUOUS_SERVER'])
  const off = await at.run(['--disable', 'multi_environment_mcp', 'tools'])
  expect(off.json.tools).toHaveLength(14)
  expect(off.json.tools.every((tool: any) => tool.name.startsWith('mcp__files__') && tool.owner.environmentId === 'exec-a')).toBe(true)
})
