/** The built command line on real servers, where servers are started. */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive, MAIN, Place, server, until } from './tapline.ts'

const LIMIT = 60_000
const TWO = {
  environments: {
    'exec-a': { cwd: '.', permissions: 'workspace-write', mcpServers: { files: server('A') } },
    'exec-b': { cwd: '.', permissions: 'read-only', mcpServers: { files: server('B') } },
  },
  selectedEnvironments: ['exec-a', 'exec-b'],
  features: { multi_environment_mcp: true },
}
const OWNER_A = { name: 'files', environmentId: 'exec-a', installationId: null, display: 'files (environment exec-a)' }

async function place(config: unknown): Promise<Place> {
  const made = await Place.make()
  await made.write('c.json', config)
  return made
}
const CALL_A = ['--config', 'c.json', '--json', 'call', '--server', 'files', '--environment', 'exec-a']

test('tools: the shape of the specification, in JSON and for people', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const { status, json } = await at.run(['--config', 'c.json', '--json', 'tools'])
  expect(status).toBe(0)
  expect(json.tools).toHaveLength(12)
  expect(json.tools.find((row: any) => row.tool === 'echo')).toMatchObject({
    owner: OWNER_A,
    nameInNamespace: 'echo',
    annotations: { readOnlyHint: true },
    approval: 'auto',
  })
  expect([json.errors, Array.isArray(json.diagnostics)]).toEqual([[], true])
  const people = await at.run(['tools', '--config', 'c.json', '--server', 'files', '--environment', 'exec-b'])
  expect(people.stdout).toMatch(/^files \(environment exec-b\)\n +echo +mcp__\S+ +gives back what it gets\n/)
  expect(people.stdout).toContain('clears \\u001b[2J the screen')
  expect(people.stdout).not.toContain('exec-a')
})

test('tools --cached starts nothing, marks what it shows, and says what it does not know', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const cached = (...more: string[]): ReturnType<Place['run']> => at.run(['--config', 'c.json', 'tools', '--cached', ...more])
  const empty = await cached()
  expect([empty.status, empty.stdout, empty.stderr]).toEqual([0, '', '2 servers were never listed; tapline tools starts and lists them\n'])
  const live = await at.run(['--config', 'c.json', '--json', 'tools'])
  const before = at.ledger().length
  const { status, json } = await cached('--json')
  expect([status, json.tools]).toEqual([0, live.json.tools.map((tool: object) => ({ ...tool, cached: true }))])
  expect((await cached('--server', 'nope')).status).toBe(2)
  expect(at.ledger()).toHaveLength(before)
})

test('call: owner, raw name and result; by server and by visible name', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const called = await at.run([...CALL_A, 'echo', '{"a":1}'])
  expect([called.status, called.json]).toMatchObject([
    0,
    {
      outcome: 'completed',
      code: 'OK',
      sent: 'yes',
      owner: OWNER_A,
      tool: 'echo',
      message: null,
      result: { content: [{ type: 'text', text: '{"a":1}' }] },
    },
  ])
  const { json } = await at.run(['--config', 'c.json', '--json', 'tools', '--environment', 'exec-b'])
  const { name } = json.tools.find((row: any) => row.tool === 'echo')
  const byName = await at.run(['call', name, '-', '--config', 'c.json', '--json'], { input: '{"b":2}' })
  expect(byName.json).toMatchObject({
    outcome: 'completed',
    tool: 'echo',
    owner: { environmentId: 'exec-b' },
    result: { content: [{ text: '{"b":2}' }] },
  })
  const people = await at.run(['call', name, '{"c":3}', '--config', 'c.json'])
  expect([people.status, people.stdout]).toEqual([0, '{"c":3}\n'])
})

test('the exit statuses of a call, and nothing is sent where it should not be', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const ends = async (...args: string[]): Promise<[number | null, string, string]> => {
    const { status, json } = await at.run(args)
    return [status, json?.outcome, json?.code]
  }
  expect(await ends(...CALL_A, 'fails')).toEqual([1, 'completed', 'OK'])
  expect(await ends('--config', 'c.json', '--json', 'call', '--server', 'files', 'echo')).toEqual([
    2,
    'invalid_request',
    'AMBIGUOUS_SERVER',
  ])
  expect(await ends('--config', 'c.json', '--json', 'call', '--server', 'files', '--environment', 'exec-a', 'nosuch')).toEqual([
    2,
    'invalid_request',
    'UNKNOWN_TOOL',
  ])
  expect((await ends(...CALL_A, 'write')).slice(0, 2)).toEqual([3, 'no_approver'])
  expect((await ends(...CALL_A, 'write', '--approve', 'deny')).slice(0, 2)).toEqual([3, 'refused'])
  expect((await ends(...CALL_A, 'hangs', '--timeout', '2')).slice(0, 2)).toEqual([4, 'timed_out'])
  expect(at.ledger().filter((entry) => entry.tool === 'write')).toEqual([])
  expect((await ends(...CALL_A, 'write', '--approve', 'session')).slice(0, 2)).toEqual([0, 'completed'])
})

test('what people are told when a call is stopped', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const { status, stdout, stderr } = await at.run(['--config', 'c.json', 'call', '--server', 'files', 'echo'])
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(
    /invalid request: .*AMBIGUOUS_SERVER; nothing was sent\)\n {2}- files \(environment exec-a\)\n {2}- files \(environment exec-b\)\n/,
  )
  expect(stderr).not.toMatch(/\n\s+at /)
})

test('explain runs nothing and shows what would be sent', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const call = ['--server', 'files', '--environment', 'exec-a', 'echo', '{"a":1}', '--config', 'c.json', '--json']
  for (const args of [
    ['explain', ...call],
    ['call', '--explain', ...call],
  ]) {
    const { status, json } = await at.run(args)
    expect([status, json]).toMatchObject([
      0,
      {
        outcome: 'sent',
        sent: 'no',
        owner: OWNER_A,
        tool: 'echo',
        wouldSend: { method: 'tools/call' },
        trace: { taps: expect.any(Array) },
      },
    ])
  }
  expect(at.ledger().filter((entry) => entry.method === 'tools/call')).toEqual([])
})

test('a trace says what the hooks decided', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  expect((await at.run([...CALL_A, 'echo', '--trace'])).json.trace).toMatchObject({ timingsMs: expect.any(Object), candidates: [OWNER_A] })
})

test('status: rows, pages, filters, a bad cursor', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const status = (...args: string[]): ReturnType<Place['run']> => at.run(['--config', 'c.json', '--json', 'status', ...args])
  const first = await status('--limit', '1')
  expect(first.json).toMatchObject({
    data: [{ owner: OWNER_A, runtimeStatus: 'connected', authStatus: 'unsupported', error: null }],
    nextCursor: expect.any(String),
  })
  const second = await status('--limit', '1', '--cursor', first.json.nextCursor)
  expect(second.json).toMatchObject({ data: [{ owner: { environmentId: 'exec-b' } }], nextCursor: null })
  const bad = await status('--cursor', 'rubbish')
  expect([bad.status, bad.json]).toMatchObject([2, { error: { code: 'INVALID_CURSOR' } }])
  const none = await status('--server', 'nosuch')
  expect([none.status, none.json]).toEqual([0, { data: [], nextCursor: null }])
  expect((await at.run(['--config', 'c.json', 'status'])).stdout).toMatch(/^SERVER +STATUS.*\nfiles \(environment exec-a\) +connected/)
})

test('a server that fails costs itself; alone, or named, it is exit status 4', { timeout: LIMIT }, async () => {
  await using at = await place({ mcpServers: { good: server('good'), bad: server('bad', 'dies') } })
  const both = await at.run(['--config', 'c.json', '--json', 'tools'])
  expect([both.status, both.json.errors]).toMatchObject([
    0,
    [
      {
        owner: { display: 'bad' },
        code: expect.stringMatching(/^SERVER_/),
        message: expect.stringContaining('cannot go on'),
        remedy: expect.any(String),
      },
    ],
  ])
  for (const args of [
    ['tools', '--server', 'bad'],
    ['status', '--server', 'bad'],
    ['resources', 'list', '--server', 'bad'],
  ]) {
    const { status } = await at.run([...args, '--config', 'c.json', '--json'])
    expect([args[0], status]).toEqual([args[0], 4])
  }
  const people = await at.run(['tools', '--config', 'c.json'])
  expect(people.stderr).toContain('failed bad: ')
  expect(people.stderr).toContain(', cannot go on')
  expect(people.stderr).not.toContain('\u001b')
  const unknown = await at.run(['tools', '--server', 'nosuch', '--config', 'c.json', '--json'])
  expect([unknown.status, unknown.json]).toMatchObject([
    2,
    { error: { code: 'UNKNOWN_SERVER', message: expect.stringContaining('nosuch') } },
  ])
})

test('tools for resources: listed where they are configured, called, explained', { timeout: LIMIT }, async () => {
  await using at = await place({ ...TWO, resourceTools: true })
  const run = (...args: string[]): ReturnType<Place['run']> => at.run(['--config', 'c.json', ...args])
  const list = await run('--json', 'tools')
  expect(list.json.resourceTools.map(({ name }: { name: string }) => name)).toContain('read_mcp_resource')
  expect((await run('tools')).stdout).toMatch(/\nresources of all servers\n +list_mcp_resources +Lists the resources/)
  const args = (environment?: string): string => JSON.stringify({ server: 'files', environment_id: environment, uri: 'x://one' })
  const read = await run('--json', 'call', 'read_mcp_resource', args('exec-b'))
  expect([read.status, read.json.owner.environmentId]).toEqual([0, 'exec-b'])
  const missing = await run('--json', 'call', 'read_mcp_resource', args())
  expect([missing.status, missing.json.code]).toEqual([2, 'AMBIGUOUS_SERVER'])
  const explained = await run('--json', 'explain', 'list_mcp_resources')
  expect([explained.status, explained.json.trace.candidates.length]).toEqual([0, 2])
})

test('resources: whose they are, and a read names its server', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const list = await at.run(['--config', 'c.json', '--json', 'resources', 'list'])
  expect(list.json).toEqual({
    resources: ['exec-a', 'exec-b'].map((id) => ({ server: 'files', environment_id: id, uri: 'x://one', name: 'one', future: true })),
    errors: [],
    nextCursor: null,
  })
  const read = (...args: string[]): ReturnType<Place['run']> => at.run(['--config', 'c.json', '--json', 'resources', 'read', ...args])
  expect((await read('--server', 'files', '--environment', 'exec-b', 'x://one')).json.contents[0].text).toBe('x://one of B')
  const bare = await read('--server', 'files', 'x://one')
  expect([bare.status, bare.json.error.message]).toEqual([
    2,
    expect.stringMatching(/^environment_id is required for MCP server 'files' when multiple environments are selected/),
  ])
  const nobody = await read('x://one')
  expect([nobody.status, nobody.json.error.message]).toEqual([2, 'server must be provided'])
})

test('templates and prompts: whose they are, and a prompt names its server', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const run = (...args: string[]): ReturnType<Place['run']> => at.run(['--config', 'c.json', '--json', ...args])
  expect((await run('resources', 'templates')).json).toEqual({
    resourceTemplates: ['exec-a', 'exec-b'].map((id) => ({ server: 'files', environment_id: id, uriTemplate: 'x://{id}', name: 'any' })),
    errors: [],
    nextCursor: null,
  })
  const of = ['--server', 'files', '--environment', 'exec-b']
  const prompt = { server: 'files', environment_id: 'exec-b', name: 'hello', arguments: [{ name: 'who', required: true }, { name: 'how' }] }
  expect((await run('prompts', 'list', ...of)).json).toEqual({ prompts: [prompt], errors: [], nextCursor: null })
  const got = await run('prompts', 'get', ...of, 'hello', '{"who":"you"}')
  expect([got.status, got.json]).toEqual([
    0,
    {
      description: 'greets',
      messages: [{ role: 'user', content: { type: 'text', text: 'hello you\u001b[2J from B' } }],
      owner: { name: 'files', environmentId: 'exec-b', installationId: null, display: 'files (environment exec-b)' },
    },
  ])
  const people = (...args: string[]): ReturnType<Place['run']> => at.run(['--config', 'c.json', ...args])
  expect((await people('prompts', 'get', ...of, 'hello', '{"who":"you"}')).stdout).toBe('user:\nhello you\\u001b[2J from B\n')
  expect((await people('prompts', 'list', ...of)).stdout).toMatch(/files \(environment exec-b\) +hello +who \[how\]/)
  expect((await people('resources', 'templates', ...of)).stdout).toMatch(/files \(environment exec-b\) +x:\/\/\{id\} +any/)
  for (const [args, status, message] of [
    [['prompts', 'get', 'hello'], 2, /server must be provided/],
    [['prompts', 'get', '--server', 'files', 'hello'], 2, /^environment_id is required/],
    [['prompts', 'get', ...of, 'hello', '{"who":1}'], 2, /the arguments of a prompt are texts/],
    [['prompts', 'get', ...of, 'gone'], 4, /no such prompt/],
  ] as const) {
    const ended = await run(...args)
    expect([ended.status, ended.json.error.message]).toEqual([status, expect.stringMatching(message)])
  }
})

test('escape sequences of a server do not reach people, and JSON keeps them', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const people = await at.run(['--config', 'c.json', 'call', '--server', 'files', '--environment', 'exec-a', 'evil'])
  expect(people.stdout).toBe('a\\u001b[2Jb\\u009b1mc\\u007f\n')
  const { stdout, json } = await at.run([...CALL_A, 'evil'])
  expect(json.result.content[0].text).toBe('a\u001b[2Jb\u009b1mc\u007f')
  // oxlint-disable-next-line no-control-regex -- to find them is the point
  expect(stdout).not.toMatch(/[\u001b\u007f-\u009f]/)
})

test('an answer over the limit of its server is cut, and goes whole into the file of --output', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  const { status, json, stdout } = await at.run([...CALL_A, '--output', 'all.json', 'huge'])
  expect([status, json.outcome, json.overflow]).toEqual([
    0,
    'completed',
    { bytes: expect.any(Number), limitBytes: 8 * 1024 * 1024, file: at.path('all.json') },
  ])
  expect(stdout.length).toBeLessThan(9_000_000)
  expect(json.result.content[1].text).toMatch(/too large \(19\.1 MiB, the limit is 8\.0 MiB\)/)
  expect(JSON.parse(await readFile(at.path('all.json'), 'utf8')).content[0].text).toHaveLength(20_000_000)
  const small = await at.run([...CALL_A, '--output', 'small.json', 'echo', '{"a":1}'])
  expect([small.status, JSON.parse(await readFile(at.path('small.json'), 'utf8'))]).toEqual([0, small.json.result])
  const before = at.ledger().length
  for (const [file, why] of [
    ['no/folder.json', /could not be written to .*ENOENT; the tool was not called/],
    ['.', /is a folder/],
  ] as const) {
    const nowhere = await at.run([...CALL_A, '--output', file, 'echo', '{}'])
    expect([nowhere.status, nowhere.json.error.message]).toEqual([2, expect.stringMatching(why)])
  }
  expect(at.ledger()).toHaveLength(before)
})

test('a huge answer arrives whole through a pipe that is read slowly; a reader that goes away is no error', {
  timeout: LIMIT,
}, async () => {
  const files = { ...server('A'), maxResultBytes: 32 * 1024 * 1024 }
  await using at = await place({
    ...TWO,
    environments: { ...TWO.environments, 'exec-a': { ...TWO.environments['exec-a'], mcpServers: { files } } },
  })
  const { status, json } = await at.run([...CALL_A, 'huge'])
  expect([status, json.result.content[0].text.length]).toEqual([0, 20_000_000])
  const shell = spawn(
    'sh',
    [
      '-c',
      `"${process.execPath}" "${MAIN}" --quiet --config c.json call --server files --environment exec-a huge | head -c 5; echo; echo done`,
    ],
    {
      cwd: at.path('.'),
      env: { PATH: process.env['PATH'] ?? '', HOME: join(at.folder, 'home'), LEDGER: at.ledgerFile },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  shell.stdout.on('data', (chunk: Buffer) => (said += String(chunk)))
  shell.stderr.on('data', (chunk: Buffer) => (said += String(chunk)))
  expect(await new Promise((done) => shell.on('close', done))).toBe(0)
  expect(said).toBe('xxxxx\ndone\n')
})

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} cancels the call, closes the servers and ends with ${status}`, { timeout: LIMIT }, async () => {
    await using at = await place(TWO)
    const { child, done } = at.start([...CALL_A, 'hangs'])
    await until(() => at.ledger().some((entry) => entry.tool === 'hangs'))
    child.kill(signal)
    const ended = await done
    expect([ended.status, ended.json]).toMatchObject([status, { outcome: 'cancelled', code: 'CALL_CANCELLED', owner: OWNER_A }])
    for (const { pid } of at.ledger()) await until(() => !isAlive(pid))
  })
}

test('Ctrl-C while tools are listed: no advice to list them', { timeout: LIMIT }, async () => {
  await using at = await place({ mcpServers: { silent: { command: process.execPath, args: ['-e', 'process.stdin.resume()'] } } })
  const { child, done } = at.start(['--config', 'c.json', 'tools'])
  let said = ''
  child.stderr?.on('data', (text: string) => (said += text))
  await until(() => said.includes('starting servers'))
  child.kill('SIGINT')
  const { status, stderr } = await done
  expect([status, stderr]).toEqual([130, expect.not.stringMatching(/never listed|no tools/)])
})

test('a second Ctrl-C ends at once, and the servers do not outlive it', { timeout: LIMIT }, async () => {
  await using at = await place({ mcpServers: { files: server('deaf', 'deaf') } })
  const { child, done } = at.start(['--config', 'c.json', '--json', 'call', '--server', 'files', 'hangs'])
  await until(() => at.ledger().some((entry) => entry.tool === 'hangs'))
  child.kill('SIGINT')
  await new Promise((passed) => setTimeout(passed, 150))
  child.kill('SIGINT')
  expect((await done).status).toBe(130)
  for (const { pid } of at.ledger()) await until(() => !isAlive(pid))
})

test('after a command no server is left', { timeout: LIMIT }, async () => {
  await using at = await place(TWO)
  await at.run(['--config', 'c.json', 'tools'])
  expect(at.ledger().length).toBeGreaterThan(0)
  for (const { pid } of at.ledger()) expect(isAlive(pid)).toBe(false)
})

test('a file that was found starts nothing until it is trusted', { timeout: LIMIT }, async () => {
  await using at = await Place.make()
  await at.write('tapline.json', { mcpServers: { files: server('F') } })
  for (const args of [['tools'], ['status'], ['call', '--server', 'files', 'echo'], ['resources', 'list']]) {
    const { status, json } = await at.run(['--json', ...args])
    expect([status, json.error]).toMatchObject([
      2,
      { code: 'CONFIG_UNTRUSTED', message: expect.stringContaining('tapline.json'), remedy: expect.stringContaining('tapline trust ') },
    ])
  }
  expect(at.ledger()).toEqual([])
  expect((await at.run(['trust'])).status).toBe(0)
  // what a server of such a file says about its tools is not believed, so the call is asked about
  expect((await at.run(['--json', 'call', '--server', 'files', 'echo', '--approve', 'once'])).json.outcome).toBe('completed')
})
