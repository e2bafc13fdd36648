import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { HookPlugin } from '../../src/hooks/plugin.ts'
import { readLog, until } from '../connections/fixtures/pool.ts'
import { newFolder } from '../new-folder.ts'
import { full, GatewayClient, textOf } from './client.ts'

let client: GatewayClient
afterEach(async () => {
  await client?.[Symbol.asyncDispose]()
})
async function open(...args: Parameters<typeof GatewayClient.open>): Promise<GatewayClient> {
  client = await GatewayClient.open(...args)
  return client
}
const newLog = (): string => join(newFolder('tapline-gateway-'), 'log')
const names = (result: any): string[] => result.tools.map((tool: any) => tool.name)
const two = { mcpServers: { one: full('one'), two: full('two') } }

test('initialize is answered at once, with the revision of the client where we speak it', async () => {
  await open(two, { initialize: false })
  expect(await client.error('tools/list')).toMatchObject({ code: -32600 })
  expect(await client.request('ping')).toEqual({})
  expect(await client.error('initialize', { protocolVersion: 7 })).toMatchObject({ code: -32602 })
  const answer = await client.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', odd: 1 } })
  expect(answer).toMatchObject({
    protocolVersion: '2025-06-18',
    serverInfo: { name: 'tapline' },
    capabilities: { tools: { listChanged: true } },
  })
  expect(await client.error('initialize', { protocolVersion: '2025-06-18' })).toMatchObject({ code: -32600 })
  expect(await client.error('no/such')).toMatchObject({ code: -32601 })
})

test('another revision is answered with our newest', async () => {
  await open(two, { initialize: false })
  expect(await client.request('initialize', { protocolVersion: '1999-01-01', capabilities: {} })).toMatchObject({
    protocolVersion: '2025-11-25',
  })
})

test('tools under their visible names, every field as the server listed it', async () => {
  await open(two)
  const { tools } = await client.request('tools/list')
  expect(tools).toHaveLength(24)
  expect(tools.find((tool: any) => tool.name === 'mcp__two__echo')).toEqual({
    name: 'mcp__two__echo',
    title: 'Echo',
    description: 'gives back what it got',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { meta: {} } },
    annotations: { readOnlyHint: true },
    icons: [{ src: 'data:,' }],
    _meta: { 'example.com/ui': 1 },
    future: { kept: true },
  })
  // listed, not callable
  const long = tools.find((tool: any) => tool.name === 'mcp__one__long')
  expect(long.description).toMatch(/^\[Not callable here/)
  expect(await client.call('mcp__one__long')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('task') }] })
})

test('a call: arguments and `_meta` arrive, the result comes back whole, forged keys do not arrive', async () => {
  await open(two)
  const meta = { 'example.com/in': 1, 'codex/sandbox-state': { forged: true }, progressToken: 'mine' }
  const result = await client.call('mcp__one__echo', { a: 'ä😀' }, meta)
  expect(result).toEqual({
    content: [
      { type: 'text', text: 'one', annotations: { audience: ['user'] }, odd: 1 },
      { type: 'hologram', beam: 7 },
    ],
    structuredContent: { args: { a: 'ä😀' }, meta: { progressToken: expect.any(Number), 'example.com/in': 1 } },
    _meta: { 'example.com/out': 2 },
    future: { kept: true },
  })
})

test('progress under the token of the client, before the result; none without a token', async () => {
  await open(two)
  await client.call('mcp__one__steps')
  expect(client.notifications('notifications/progress')).toEqual([])
  const { id, done } = client.begin('tools/call', { name: 'mcp__one__steps', _meta: { progressToken: 'mine' } })
  await done
  const seen = client.seen.slice(-4)
  expect(seen.map((message) => message.params?.progress ?? message.id)).toEqual([1, 2, 3, id])
  expect(seen[0].params).toEqual({ progressToken: 'mine', progress: 1, total: 3, message: 'step 1' })
})

test('what does not run is a tool error that says why', async () => {
  await open({
    ...two,
    hooks: [
      {
        name: 'guard',
        apply: ({ hooks }) => hooks.resolve.tap({ name: 'no', tools: ['say'] }, () => ({ nonsense: 1 }) as never),
      } satisfies HookPlugin,
    ],
  })
  for (const [name, args, outcome, text] of [
    ['mcp__one__write', {}, 'no_approver', /needs approval/],
    ['mcp__one__nothing', {}, 'invalid_request', /no tool is named/],
    ['mcp__one__fails', {}, 'server_failed', /not in the mood/],
    ['mcp__one__say', {}, 'refused', /./],
  ] as const) {
    const result = await client.call(name, args)
    expect([name, result.isError, result._meta['tapline/outcome'].outcome]).toEqual([name, true, outcome])
    expect(textOf(result)).toMatch(text)
  }
  expect(textOf(await client.request('tools/call', { name: 'mcp__one__echo', arguments: 'text' }))).toMatch(/object/)
  expect(await client.error('tools/call', { name: 7 })).toMatchObject({ code: -32602 })
})

test('a cancelled call is cancelled at its server, and not answered', async () => {
  const log = newLog()
  await open({ mcpServers: { one: full('one', log) } })
  const { id } = client.begin('tools/call', { name: 'mcp__one__hang' })
  await client.request('tools/list')
  await until(() => readLog(log).some((entry) => entry['call'] === 'hang'), 'the server has seen it')
  client.notify('notifications/cancelled', { requestId: id, reason: 'a private reason' })
  await until(() => readLog(log).some((entry) => entry['method'] === 'notifications/cancelled'), 'the server has seen it')
  expect(JSON.stringify(readLog(log))).not.toContain('a private reason')
  expect(textOf(await client.call('mcp__one__echo'))).toBe('one\n')
  expect(client.seen.some((message) => message.id === id && message.method === undefined)).toBe(false)
})

test('changed tools are told once for many notices, and the next list has them', async () => {
  await open(two)
  const before = names(await client.request('tools/list'))
  await client.call('mcp__one__swap')
  const told = (): number => client.notifications('notifications/tools/list_changed').length
  await client.until(() => told() > 0, 'list_changed')
  const after = names(await client.request('tools/list'))
  expect(after.filter((name) => !before.includes(name))).toEqual(['mcp__one__extra'])
  expect(textOf(await client.call('mcp__one__extra'))).toBe('one:extra')
  expect(told()).toBeLessThanOrEqual(2)
})

test('a slow server does not hold up the list of the others; it is told of when it comes', async () => {
  await open({ mcpServers: { one: full('one'), slow: full('slow') } })
  const [tools, resources, prompts] = await Promise.all(['tools', 'resources', 'prompts'].map((what) => client.request(`${what}/list`)))
  expect(names(tools)).toHaveLength(12)
  expect([resources.resources.length, prompts.prompts.length]).toEqual([2, 1])
  for (const what of ['tools', 'resources', 'prompts'])
    await client.until(() => client.notifications(`notifications/${what}/list_changed`).length > 0, `${what} of the slow server`)
  expect(names(await client.request('tools/list'))).toHaveLength(24)
  expect((await client.request('resources/list')).resources).toHaveLength(4)
}, 60_000)

test('a server that does not start costs only itself, and is told on stderr once', async () => {
  await open({ mcpServers: { one: full('one'), gone: { command: process.execPath, args: ['-e', 'process.exit(3)'] } } })
  expect(names(await client.request('tools/list'))).toHaveLength(12)
  await client.request('tools/list')
  expect(client.notes.filter((line) => line.startsWith('gone: '))).toHaveLength(1)
})

test('resources of two servers with one URI are told apart and read; links in results stay as they are', async () => {
  await open(two)
  const { resources } = await client.request('resources/list')
  expect(resources.map(({ uri, name }: any) => [uri, name])).toEqual([
    ['tapline:///one/~/~/test://same', 'same of one'],
    ['tapline:///one/~/~/test://one/a b', 'own'],
    ['tapline:///two/~/~/test://same', 'same of two'],
    ['tapline:///two/~/~/test://two/a b', 'own'],
  ])
  expect(resources[0].odd).toBe(1)
  expect(await client.request('resources/read', { uri: resources[2].uri })).toEqual({
    contents: [{ uri: 'tapline:///two/~/~/test://same', text: 'two has test://same', odd: 3 }],
    _meta: { 'example.com/read': 1 },
  })
  const { resourceTemplates } = await client.request('resources/templates/list')
  expect(resourceTemplates[1]).toEqual({ uriTemplate: 'tapline:///two/~/~/test://item/{id}', name: 'item', odd: 2 })
  const item = await client.request('resources/read', { uri: 'tapline:///two/~/~/test://item/a%20b' })
  expect(item.contents[0].text).toBe('two has test://item/a%20b')
  // by the server's own URI, where one server alone can be meant
  const link = await client.call('mcp__one__link')
  expect(link.content[0].uri).toBe('only://one/hidden')
  expect((await client.request('resources/read', { uri: 'only://one/hidden' })).contents[0].text).toBe('one has only://one/hidden')
  expect((await client.request('resources/read', { uri: 'test://two/a b' })).contents[0].text).toBe('two has test://two/a b')
  const ambiguous = await client.error('resources/read', { uri: 'test://same' })
  expect(ambiguous).toMatchObject({ code: -32602, data: { code: 'AMBIGUOUS_SERVER' } })
  for (const uri of ['test://nobody', 'tapline:///three/~/~/x', 'tapline:///one'])
    expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32602, data: { code: 'UNKNOWN_SERVER' } })
  // the error of a server, with its code and data
  expect(await client.error('resources/read', { uri: 'tapline:///one/~/~/missing' })).toMatchObject({
    code: -32002,
    data: { uri: 'missing' },
  })
})

test('prompts and completions', async () => {
  await open(two)
  const { prompts } = await client.request('prompts/list')
  expect(prompts).toEqual(['one', 'two'].map((name) => ({ name: `mcp__${name}__greet`, arguments: [{ name: 'who' }], odd: 4 })))
  const greeting = await client.request('prompts/get', { name: 'mcp__two__greet', arguments: { who: 'me' } })
  expect(greeting).toEqual({ messages: [{ role: 'user', content: { type: 'text', text: 'two greets me' } }], odd: 5 })
  const argument = { name: 'who', value: 'x' }
  const ofPrompt = await client.request('completion/complete', { ref: { type: 'ref/prompt', name: 'mcp__two__greet' }, argument })
  expect(ofPrompt).toEqual({ completion: { values: ['two', '{"type":"ref/prompt","name":"greet"}', 'x'] }, odd: 6 })
  const uri = 'tapline:///one/~/~/test://item/{id}'
  const ofTemplate = await client.request('completion/complete', { ref: { type: 'ref/resource', uri }, argument })
  expect(ofTemplate.completion.values.slice(0, 2)).toEqual(['one', '{"type":"ref/resource","uri":"test://item/{id}"}'])
  for (const [method, params] of [
    ['prompts/get', { name: 'mcp__two__nothing' }],
    ['prompts/get', { name: 'mcp__two__greet', arguments: 7 }],
    ['completion/complete', { argument }],
    ['completion/complete', { ref: { type: 'ref/prompt' }, argument }],
  ] as const)
    expect([method, (await client.error(method, params)).code]).toEqual([method, -32602])
})

test('a prompt is found by its name although nobody listed it before', async () => {
  await open(two)
  expect((await client.request('prompts/get', { name: 'mcp__one__greet', arguments: { who: 'you' } })).messages).toHaveLength(1)
})

test('log messages of servers reach the client with their owner, from the level that it wants', async () => {
  await open(two)
  await client.call('mcp__one__say', { level: 'info', logger: 'db', data: { a: 1 } })
  await client.request('logging/setLevel', { level: 'error' })
  await client.call('mcp__two__say', { level: 'info', data: 'quiet' })
  await client.call('mcp__two__say', { level: 'critical', data: 'loud' })
  expect(client.notifications('notifications/message').map(({ params }) => params)).toEqual([
    { level: 'info', logger: 'one: db', data: { a: 1 } },
    { level: 'critical', logger: 'two', data: 'loud' },
  ])
  expect(await client.error('logging/setLevel', { level: 'shout' })).toMatchObject({ code: -32602 })
})

test('lines that are no messages, and messages that are too strange, end nothing', async () => {
  await open(two)
  client.write('hello\n\n{"jsonrpc":"1.0"}\n[]\n{"jsonrpc":"2.0","id":null,"method":"ping"}\n{"jsonrpc":"2.0","id":4711,"result":{}}\n')
  expect(await client.request('ping', { _meta: { progressToken: { odd: true } } })).toEqual({})
  expect(client.seen.filter((message) => message.id === null).map(({ error }) => error.code)).toEqual([-32700, -32700, -32700])
})

test('tools for resources are listed and called like any other, where they are configured', async () => {
  await open({ ...two, resourceTools: true })
  const { tools } = await client.request('tools/list')
  expect(
    tools.slice(24).map(({ name, annotations, inputSchema }: any) => [name, annotations, Object.keys(inputSchema.properties)]),
  ).toEqual([
    ['list_mcp_resources', { readOnlyHint: true }, ['server', 'cursor']],
    ['list_mcp_resource_templates', { readOnlyHint: true }, ['server', 'cursor']],
    ['read_mcp_resource', { readOnlyHint: true }, ['server', 'uri']],
  ])
  const call = async (name: string, args: object): Promise<any> =>
    (await client.request('tools/call', { name, arguments: args })).structuredContent
  const { resources } = await call('list_mcp_resources', {})
  expect(new Set(resources.map(({ server }: any) => server))).toEqual(new Set(['one', 'two']))
  const { server, uri } = resources.at(-1)
  expect(await call('read_mcp_resource', { server, uri })).toMatchObject({ server, contents: [{ uri }] })
  expect(await client.request('tools/call', { name: 'read_mcp_resource', arguments: { uri } })).toMatchObject({
    isError: true,
    _meta: { 'tapline/outcome': { outcome: 'invalid_request' } },
  })
})

test('the client is gone: running calls end and the servers are closed with the runtime', async () => {
  const log = newLog()
  await open({ mcpServers: { one: full('one', log) } })
  client.begin('tools/call', { name: 'mcp__one__hang' })
  await until(() => readLog(log).some((entry) => entry['call'] === 'hang'), 'the server has seen it')
  client.input.end()
  await client.served
  await client.runtime.close()
  expect(readLog(log).filter((entry) => entry['start'])).toHaveLength(1)
})

test('a required server that does not start ends the serving with its error', async () => {
  await open({ mcpServers: { gone: { command: process.execPath, args: ['-e', 'process.exit(3)'], required: true } } })
  expect((await client.error('tools/list')).message).toContain('gone')
  await expect(client.served).rejects.toMatchObject({ code: 'SERVER_START_FAILED' })
})
