/** A session that its server forgot: a new one, and once more what does no harm. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { CallOutcome } from '../../src/index.ts'
import { openSession } from '../../src/index.ts'
import type { Behaviour, Served } from './fixtures/http.ts'
import { callTool, event, EVENTS, httpConnection, text } from './fixtures/http.ts'
import { cleanUp, failure, newPool, server } from './fixtures/http-kit.ts'
import { until } from './fixtures/pool.ts'

cleanUp()

const ends = ({ outcome, code, sent }: CallOutcome): unknown => [outcome, code, sent]

async function session(at: Served, more: object = {}): Promise<Awaited<ReturnType<typeof openSession>>> {
  return openSession({ mcpServers: { web: { url: at.url, defaultToolsApprovalMode: 'approve', ...more } } })
}

const kinds: readonly Behaviour[] = [{}, { lostStatus: 400, lostText: 'Bad Request: No valid session ID provided' }]
for (const kind of kinds)
  test(`an unknown session (${kind.lostStatus ?? 404}): a new one is opened and listed, and safe calls are sent once more`, async () => {
    const at = await server(kind)
    await using mine = await session(at)
    const call = (tool: string): Promise<CallOutcome> => mine.callTool({ server: 'web', tool, arguments: { a: 1 } })
    expect(ends(await call('echo'))).toEqual(['completed', 'OK', 'yes'])
    for (const tool of ['read', 'again']) {
      at.sessions.clear()
      const [starts, lists] = [at.count('initialize'), at.count('tools/list')]
      const outcome = await call(tool)
      expect([outcome.outcome, 'result' in outcome && outcome.result]).toEqual(['completed', text(`${tool} {"a":1}`)])
      expect([at.count('initialize'), at.count('tools/list')]).toEqual([starts + 1, lists + 1])
    }
    expect(at.calls()).toEqual(['echo', 'read', 'read', 'again', 'again'])
    // nobody can know what became of this one
    at.sessions.clear()
    const outcome = await call('echo')
    expect(ends(outcome)).toEqual(['server_failed', 'SERVER_EXITED', 'unknown'])
    expect(outcome.outcome !== 'completed' && outcome.message).toMatch(/no longer knows the session .*unknown/)
    expect(at.calls().slice(5)).toEqual(['echo'])
    expect(ends(await call('echo'))).toEqual(['completed', 'OK', 'yes'])
  })

test('lists and the status are asked once more too', async () => {
  const at = await server()
  await using mine = await session(at)
  await mine.listTools()
  at.sessions.clear()
  expect((await mine.listResources({ server: 'web' })).items.map(({ uri }) => uri)).toEqual(['x://1'])
  at.sessions.clear()
  const { data } = await mine.status()
  expect([data[0]?.runtimeStatus, data[0]?.resources, data[0]?.error]).toEqual(['connected', [{ uri: 'x://1', name: 'one' }], null])
  expect(at.count('initialize')).toBe(3)
})

test('what a server says of its tools counts only where it is believed', async () => {
  const at = await server()
  await using mine = await session(at, { trustAnnotations: false })
  expect(ends(await mine.callTool({ server: 'web', tool: 'read' }))).toEqual(['completed', 'OK', 'yes'])
  at.sessions.clear()
  expect(ends(await mine.callTool({ server: 'web', tool: 'read' }))).toEqual(['server_failed', 'SERVER_EXITED', 'unknown'])
  expect(at.calls()).toEqual(['read', 'read'])
})

test('a session that is lost again and again ends the call after one repetition', async () => {
  const at = await server({
    on: (method, { response }) => {
      if (method !== 'tools/call') return false
      response.writeHead(404).end()
      return true
    },
  })
  await using mine = await session(at)
  expect(ends(await mine.callTool({ server: 'web', tool: 'read' }))).toEqual(['server_failed', 'SERVER_EXITED', 'unknown'])
  expect(at.calls()).toEqual(['read', 'read'])
})

test('many calls that lose their session at once share the new one', async () => {
  const at = await server()
  await using mine = await session(at)
  await mine.listTools()
  at.sessions.clear()
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) => mine.callTool({ server: 'web', tool: n % 2 ? 'read' : 'echo', arguments: { n } })),
  )
  expect(at.count('initialize')).toBe(2)
  for (const [n, outcome] of outcomes.entries()) {
    expect(ends(outcome)).toEqual(n % 2 ? ['completed', 'OK', 'yes'] : ['server_failed', 'SERVER_EXITED', 'unknown'])
  }
  expect(at.calls().filter((tool) => tool === 'echo')).toHaveLength(10)
})

test('the arguments of the repetition are those that were judged, whatever the host did to its object meanwhile', async () => {
  const at = await server()
  await using mine = await session(at)
  await mine.listTools()
  at.sessions.clear()
  const args = { a: 1 }
  const call = mine.callTool({ server: 'web', tool: 'read', arguments: args })
  args.a = 2
  expect(await call).toMatchObject({ outcome: 'completed', result: text('read {"a":1}') })
})

test('a tool that is another one in the new session is not called', async () => {
  let tools: object[] = [{ name: 'read', annotations: { readOnlyHint: true } }]
  const at = await server({
    on: (method, { give }) => {
      if (method === 'tools/list') give({ tools })
      return method === 'tools/list'
    },
  })
  await using mine = await session(at)
  await mine.listTools()
  for (const [next, what] of [
    [[{ name: 'read', annotations: { readOnlyHint: true }, description: 'new' }], 'definition'],
    [[{ name: 'other' }], 'tool_gone'],
  ] as const) {
    at.sessions.clear()
    tools = [...next]
    expect(await mine.callTool({ server: 'web', tool: 'read' })).toMatchObject({ outcome: 'authority_changed', what })
  }
  expect(at.calls()).toEqual(['read', 'read'])
})

test('404 without a session, and for the stream of its own, is no lost session', async () => {
  const at = await server({
    session: false,
    on: (method, { response }) => {
      if (method === 'tools/call') response.writeHead(404).end('no such thing')
      return method === 'tools/call'
    },
  })
  const bare = httpConnection(newPool(), at.url)
  await bare.ready()
  expect(await failure(callTool(bare, 'read'))).toMatchObject({ code: 'SERVER_FAILED', message: 'web answered HTTP 404: no such thing' })
  expect(bare.state).toBe('connected')
  const post = await server({ stream: (_, response) => void response.writeHead(404).end('Cannot GET /mcp') })
  const connection = httpConnection(newPool(), post.url)
  await connection.ready()
  await until(() => post.seen.some(({ method }) => method === 'GET'), 'the stream')
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
  expect(post.count('initialize')).toBe(1)
})

test('a session that ends while nobody calls is noticed by its stream', async () => {
  const open: ServerResponse[] = []
  const at = await server({
    stream: (request, response) => {
      if (!at.sessions.has(request.headers['mcp-session-id'] as string)) return void response.writeHead(404).end()
      response.writeHead(200, EVENTS)
      response.write(event('{}', 'e1', 'retry: 10\n'))
      open.push(response)
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  await until(() => open.length > 0, 'the stream')
  at.sessions.clear()
  open[0]!.end()
  await until(() => connection.state === 'failed', 'the end of the session')
  expect(connection.error).toMatchObject({ code: 'SERVER_EXITED', data: { sessionLost: true } })
  await connection.ready()
  expect(at.count('initialize')).toBe(2)
})

test('a server that is started again: the call that cannot reach it says so, the one after that has a new session', async () => {
  const first = await server()
  const { port } = first
  const connection = httpConnection(newPool(), first.url)
  await connection.ready()
  await first.close()
  let error = await failure(callTool(connection, 'echo'))
  // the end of a kept connection may cross the call
  if (error.data?.['sent'] === 'unknown') error = await failure(callTool(connection, 'echo'))
  expect(error).toMatchObject({
    code: 'SERVER_EXITED',
    message: expect.stringMatching(/^web cannot be reached at http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*nothing was sent$/) as string,
    data: { sent: 'no' },
  })
  expect(connection.state).toBe('failed')
  const second = await server({ port })
  await connection.ready()
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
  expect(second.calls()).toEqual(['echo'])
})
