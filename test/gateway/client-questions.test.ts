import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { newFolder } from '../new-folder.ts'
import { full, GatewayClient, textOf } from './client.ts'

let client: GatewayClient
afterEach(async () => {
  await client?.[Symbol.asyncDispose]()
})
const asked: any[] = []
async function open(capabilities: object, answers: Record<string, (params: any) => unknown>, options = {}): Promise<void> {
  asked.length = 0
  client = await GatewayClient.open(
    { mcpServers: { one: full('one') }, ...options },
    {
      capabilities,
      onRequest: (method, params) => {
        asked.push([method, params])
        return answers[method]?.(params)
      },
    },
  )
}
const elicitation = { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } }
const ask = async (method: string, params?: object): Promise<any> =>
  JSON.parse(textOf(await client.call('mcp__one__ask', { method, params })))

test('a question of a server goes to the client, with its owner in front and every field behind', async () => {
  await open({ elicitation: {} }, { 'elicitation/create': () => ({ action: 'accept', content: { ok: true } }) })
  const answer = await ask('elicitation/create', { ...elicitation, future: { kept: 1 }, _meta: { 'example.com/a': 1, persist: 'always' } })
  expect(answer).toEqual({ action: 'accept', content: { ok: true } })
  expect(asked).toEqual([
    [
      'elicitation/create',
      { ...elicitation, message: 'one: Sure?', future: { kept: 1 }, _meta: { 'example.com/a': 1, 'tapline/owner': 'one' } },
    ],
  ])
  // a client with forms alone is asked nothing else
  const url = { mode: 'url', message: 'x', url: 'https://example.com/', elicitationId: 'e' }
  expect(await ask('elicitation/create', url)).toMatchObject({ error: -32602 })
})

test('without the capability nothing is declared and nobody is asked', async () => {
  await open({}, {})
  expect(await ask('elicitation/create', elicitation)).toMatchObject({ error: -32601 })
  expect(await ask('sampling/createMessage', { messages: [] })).toMatchObject({ error: -32601 })
  expect(await ask('roots/list')).toMatchObject({ error: -32601 })
  expect(asked).toEqual([])
})

test('a URL goes to a client that has URLs, and so does the notice that it is done', async () => {
  await open({ elicitation: { url: {} } }, { 'elicitation/create': () => ({ action: 'accept' }) })
  const url = { mode: 'url', message: 'Log in', url: 'https://example.com/a', elicitationId: 'e1' }
  expect(await ask('elicitation/create', url)).toEqual({ action: 'accept' })
  expect(asked[0][1]).toMatchObject({
    mode: 'url',
    url: 'https://example.com/a',
    elicitationId: 'tapline:///one/~/~/e1',
    message: 'one: Log in',
  })
  await client.call('mcp__one__notify', { method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } })
  expect(client.notifications('notifications/elicitation/complete')[0].params).toEqual({ elicitationId: 'tapline:///one/~/~/e1' })
  // it has no forms, so nobody can be asked for approval
  expect((await client.call('mcp__one__write'))._meta['tapline/outcome'].outcome).toBe('no_approver')
})

test('a model is asked through the client; its refusal reaches the server with its code', async () => {
  const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' }, odd: 1 }
  let isWilling = true
  await open(
    { sampling: { tools: {} } },
    {
      'sampling/createMessage': () => {
        if (isWilling) return result
        throw new Error('not today')
      },
    },
  )
  const request = { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }], maxTokens: 9, odd: { kept: 1 } }
  expect(await ask('sampling/createMessage', request)).toEqual(result)
  expect(asked[0][1]).toEqual({ ...request, _meta: { 'tapline/owner': 'one' } })
  isWilling = false
  expect(await ask('sampling/createMessage', request)).toMatchObject({ error: -32000 })
})

test('roots of the client go to servers without folders of their own, and a change is passed on', async () => {
  const cwd = newFolder('tapline-roots-')
  const roots = [{ uri: 'file:///client', name: 'c', odd: 1 }]
  await open(
    { roots: { listChanged: true } },
    { 'roots/list': () => ({ roots }) },
    { environments: { vm: { cwd, mcpServers: { two: full('two') } } } },
  )
  expect(await ask('roots/list')).toEqual({ roots })
  const own = JSON.parse(textOf(await client.call('mcp__two__ask', { method: 'roots/list' })))
  expect(own.roots).toMatchObject([{ uri: pathToFileURL(cwd).href }])
  client.notify('notifications/roots/list_changed')
  let seen = ''
  while (seen !== '1') seen = textOf(await client.call('mcp__one__roots_changes'))
  expect(textOf(await client.call('mcp__two__roots_changes'))).toBe('0')
})

test('approvals are forms: yes once, yes for the session, no', async () => {
  const answers = [
    { action: 'accept', content: { decision: 'once' } },
    { action: 'accept', content: { decision: 'deny' } },
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: {} },
    { action: 'accept', content: { decision: 'forever' } },
    { action: 'accept', content: { decision: 'session' } },
  ]
  let turn = 0
  await open({ elicitation: {} }, { 'elicitation/create': () => answers[turn++] })
  const write = async (): Promise<any> => {
    const result = await client.call('mcp__one__write', { path: '/a' })
    return result._meta?.['tapline/outcome'].code ?? textOf(result)
  }
  const ends: string[] = []
  for (let i = 0; i < 8; i++) ends.push(await write())
  expect(ends).toEqual([
    'one:write',
    'CALL_DECLINED',
    'CALL_DECLINED',
    'CALL_DISMISSED',
    'CALL_DECLINED',
    'CALL_DECLINED',
    'one:write',
    'one:write',
  ])
  expect(asked).toHaveLength(7)
  const { message, requestedSchema } = asked[0][1]
  for (const part of ['write', 'one', 'local', '"/a"']) expect(message).toContain(part)
  expect(requestedSchema.properties.decision.enum).toEqual(['once', 'session', 'always', 'deny'])
})

test('in mode prompt nothing is remembered, and that is not offered', async () => {
  await open(
    { elicitation: { form: {} } },
    { 'elicitation/create': () => ({ action: 'accept', content: { decision: 'session' } }) },
    { mcpServers: { one: full('one', '', { defaultToolsApprovalMode: 'prompt' }) } },
  )
  expect((await client.call('mcp__one__echo'))._meta['tapline/outcome'].code).toBe('CALL_DECLINED')
  expect(asked[0][1].requestedSchema.properties.decision.enum).toEqual(['once', 'deny'])
})

test('a question that is no longer wanted is taken back at the client', async () => {
  let open_!: () => void
  const put = new Promise<void>((resolve) => (open_ = resolve))
  await open({ elicitation: {} }, { 'elicitation/create': () => (open_(), new Promise(() => {})) })
  const { id } = client.begin('tools/call', { name: 'mcp__one__write' })
  await put
  client.notify('notifications/cancelled', { requestId: id })
  await client.until(() => client.notifications('notifications/cancelled').length > 0, 'the question is taken back')
  const question = client.seen.find((message) => message.method === 'elicitation/create')
  expect(client.notifications('notifications/cancelled')[0].params.requestId).toBe(question.id)
})
