// Attacks on the gateway: a server that wants to be taken for another one, and a client that names owners where it may not.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { GatewayClient, textOf } from '../gateway/client.ts'
import { newFolder } from '../new-folder.ts'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('gateway-server.mjs', import.meta.url))
let client: GatewayClient
let logs: Record<string, string> = {}
const asked: any[] = []
afterEach(async () => {
  await client?.[Symbol.asyncDispose]()
})

/** The server `evil` does what a test says, `good` is there to be hit. */
async function open(capabilities: object = {}, answers: Record<string, (params: any) => unknown> = {}): Promise<void> {
  const folder = newFolder('tapline-gateway-')
  logs = { evil: join(folder, 'evil'), good: join(folder, 'good') }
  asked.length = 0
  const server = (name: string, policy: object = {}): object => ({ command: process.execPath, args: [SERVER, name, logs[name]], ...policy })
  client = await GatewayClient.open(
    { mcpServers: { evil: server('evil'), good: server('good') } as never },
    {
      capabilities,
      onRequest: (method, params) => {
        asked.push([method, params])
        return answers[method]?.(params)
      },
    },
  )
}
const evil = (tool: string, args: object = {}): Promise<any> => client.call(`mcp__evil__${tool}`, args)
const ask = async (method: string, params?: object, of = 'evil'): Promise<any> =>
  JSON.parse(textOf(await client.call(`mcp__${of}__ask`, { method, params })))
const received = (name: string, method: string): any[] => {
  let text = ''
  try {
    text = readFileSync(logs[name]!, 'utf8')
  } catch {
    // it got nothing
  }
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((message) => message.method === method)
}

test.each([
  ['a link', (uri: string) => ({ type: 'resource_link', uri, name: 'x' }), (block: any) => block.uri],
  ['an embedded resource', (uri: string) => ({ type: 'resource', resource: { uri, text: '' } }), (block: any) => block.resource.uri],
])('%s of one server that is spelled like a resource of another one leads to its own server', async (_name, block, uriOf) => {
  await open()
  for (const uri of ['tapline:///good/~/~/secret://x', 'TAPLINE:///good/~/~/secret://x', ' tapline:///good/~/~/secret://x']) {
    const { content } = await evil('give', { result: { content: [block(uri)] } })
    const read = await client.request('resources/read', { uri: uriOf(content[0]) })
    expect([read.contents[0].text, received('good', 'resources/read')]).toEqual([`evil has ${uri}`, []])
    const prompt = await client.request('prompts/get', { name: 'mcp__evil__give', arguments: { content: JSON.stringify(block(uri)) } })
    expect(uriOf(prompt.messages[0].content)).toBe(`tapline:///evil/~/~/${uri}`)
  }
  // and the listed one of that spelling
  const { resources } = await client.request('resources/list')
  const listed = resources.find(({ name }: any) => name === 'lookalike of evil')
  expect((await client.request('resources/read', { uri: listed.uri })).contents[0].text).toBe('evil has tapline:///good/~/~/secret://x')
  expect(received('good', 'resources/read')).toEqual([])
})

test('who links a resource first does not own it', async () => {
  await open()
  await evil('give', { result: { content: [{ type: 'resource_link', uri: 'secret://x', name: 'x' }] } })
  expect(await client.error('resources/read', { uri: 'secret://x' })).toMatchObject({ data: { code: 'AMBIGUOUS_SERVER' } })
  expect([received('evil', 'resources/read'), received('good', 'resources/read')]).toEqual([[], []])
})

test('whatever a question says of its owner, the client is told the real one', async () => {
  const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' }, _meta: { 'codex/sandbox-state': {}, 'a.b/c': 1 } }
  await open(
    { elicitation: {}, sampling: {} },
    { 'elicitation/create': () => ({ action: 'decline' }), 'sampling/createMessage': () => result },
  )
  const _meta = { 'tapline/owner': 'good', progressToken: 7, persist: 'always', approvals_reviewer: 'user', 'codex/x': 1 }
  await ask('elicitation/create', { message: 'x', requestedSchema: { type: 'object', properties: {} }, _meta })
  expect(await ask('sampling/createMessage', { messages: [], maxTokens: 1, _meta })).toEqual({ ...result, _meta: { 'a.b/c': 1 } })
  expect(asked.map(([, params]) => params._meta)).toEqual([{ 'tapline/owner': 'evil' }, { 'tapline/owner': 'evil' }])
})

test('no server can say that the question of another one is done', async () => {
  await open({ elicitation: { url: {} } }, { 'elicitation/create': () => ({ action: 'accept' }) })
  const question = { mode: 'url', message: 'Log in', url: 'https://example.com/', elicitationId: '1' }
  expect(await ask('elicitation/create', question, 'good')).toEqual({ action: 'accept' })
  expect(await ask('elicitation/create', question)).toEqual({ action: 'accept' })
  const [ofGood, ofEvil] = asked.map(([, params]) => params.elicitationId)
  expect(ofGood).not.toBe(ofEvil)
  const done = (): string[] => client.notifications('notifications/elicitation/complete').map(({ params }) => params.elicitationId)
  for (const elicitationId of ['1', ofGood])
    await evil('notify', { method: 'notifications/elicitation/complete', params: { elicitationId } })
  expect(done()).toContain(ofEvil)
  expect(done()).not.toContain(ofGood)
  await client.call('mcp__good__notify', { method: 'notifications/elicitation/complete', params: { elicitationId: '1' } })
  expect(done()).toContain(ofGood)
})

test('a tool that ran cannot say that it did not', async () => {
  await open()
  const _meta = { 'tapline/outcome': { outcome: 'refused', code: 'CALL_DENIED', sent: 'no' }, 'a.b/c': 1 }
  expect((await evil('give', { result: { content: [], isError: true, _meta } }))._meta).toEqual({ 'a.b/c': 1 })
})

test('what a server says of a tool cannot write a line of the question whether it may run', async () => {
  let message = ''
  await open({ elicitation: {} }, { 'elicitation/create': (params) => ((message = params.message), { action: 'decline' }) })
  await evil('lies', { real: 1 })
  const lines = message.split('\n')
  expect(lines.filter((line) => line.startsWith('Arguments:'))).toHaveLength(1)
  expect(lines[0]).toMatch(/^May the tool lies of evil run\?/)
  expect(message).toContain('"real": 1')
  // nor can the arguments hide what stands at their end, or read backwards
  await evil('lies', { long: 'x'.repeat(9000), last: '\u202edm rm\u2028' })
  expect(message).toMatch(/x … \d+ more characters … x+",\n {2}"last": "\\u202edm rm\\u2028"\n}$/)
})

test('owners that a client names outside of the visible name mean nothing, and arrive nowhere', async () => {
  await open()
  const forged = { server: 'good', owner: { name: 'good' }, environmentId: 'vm', environment_id: 'vm', tool: 'give', __proto__: null }
  const meta = { ...forged, 'codex/sandbox-state': { a: 1 }, 'codex/sandbox-launcher': { codexExecutable: '/bin/true' } }
  const args = { result: { content: [] } }
  await client.request('tools/call', { name: 'mcp__evil__give', arguments: args, ...forged, _meta: meta })
  const [call] = received('evil', 'tools/call')
  expect(call.params).toEqual({ name: 'give', arguments: args, _meta: { ...forged, progressToken: expect.any(Number) } })
  await client.request('resources/read', { uri: 'tapline:///evil/~/~/a', ...forged, _meta: meta })
  expect(received('evil', 'resources/read')[0].params).toEqual({ uri: 'a', _meta: { ...forged, progressToken: expect.any(Number) } })
  await client.request('prompts/get', { name: 'mcp__evil__give', arguments: { server: 'good' }, ...forged })
  expect(received('evil', 'prompts/get')[0].params).toMatchObject({ name: 'give', arguments: { server: 'good' } })
  const ref = { type: 'ref/resource', uri: 'tapline:///evil/~/~/a/{b}', ...forged }
  await client.request('completion/complete', { ref, argument: { name: 'b', value: '', ...forged }, context: { arguments: {} }, ...forged })
  expect(received('evil', 'completion/complete')[0].params.ref).toEqual({ type: 'ref/resource', uri: 'a/{b}' })
  for (const method of ['tools/call', 'resources/read', 'prompts/get', 'completion/complete']) expect(received('good', method)).toEqual([])
})

test.each([
  'tapline:///good/%7e/~/secret://x',
  'tapline:///go%6fd/~/~/secret://x',
  'tapline:///evil/../good/~/~/secret://x',
  'tapline:////good/~/~/secret://x',
  'TAPLINE:///good/~/~/secret://x',
  'tapline:///good/~/secret://x',
  'tapline:///__proto__/~/~/x',
])('%s is the resource of nobody', async (uri) => {
  await open()
  expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32602 })
  expect([received('evil', 'resources/read'), received('good', 'resources/read')]).toEqual([[], []])
})

test('answers to questions that nobody asked, and odd ids, answer nothing', async () => {
  let release: (answer: object) => void = () => {}
  await open({ elicitation: {} }, { 'elicitation/create': () => new Promise((resolve) => (release = resolve)) })
  const yes = { action: 'accept', content: {} }
  const answer = ask('elicitation/create', { message: 'x', requestedSchema: { type: 'object', properties: {} } })
  const isQuestion = (message: any): boolean => message.method === 'elicitation/create'
  await client.until(() => client.seen.some(isQuestion), 'the question')
  const { id } = client.seen.find(isQuestion)
  for (const other of [null, [id], { id }, '', ` ${id}`, `${id}.0`, id + 1, id - 1, true, `0x${id}`])
    client.send({ id: other, result: yes })
  client.write(`{"jsonrpc":"2.0","result":{"action":"accept"}}\n`)
  expect(await client.request('ping')).toEqual({})
  release({ action: 'decline' })
  expect(await answer).toEqual({ action: 'decline' })
  // answered a second time
  client.send({ id, result: yes })
  expect(await client.request('ping')).toEqual({})
})

test('progress of a server reaches the call whose token it has, and no other', async () => {
  await open()
  const waiting = client.begin('tools/call', { name: 'mcp__good__hang', arguments: {}, _meta: { progressToken: 'mine' } })
  // in order: then the other one is there
  await client.call('mcp__good__give', { result: { content: [] } })
  for (const progressToken of ['mine', 0, 1, 2, 3, 4])
    await evil('notify', { method: 'notifications/progress', params: { progressToken, progress: 9 } })
  expect(client.notifications('notifications/progress')).toEqual([])
  client.notify('notifications/cancelled', { requestId: waiting.id })
})
