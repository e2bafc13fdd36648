/** Streamable HTTP as it should be: sessions, both kinds of answers, the stream of its own, closing, idle close. */
import { expect, test } from 'vitest'
import type { Progress } from '../../src/mcp.ts'
import { callTool, event, EVENTS, httpConnection, httpRegistration, notice, rpc, text } from './fixtures/http.ts'
import { cleanUp, failure, newPool, server } from './fixtures/http-kit.ts'
import { environment, keys, until } from './fixtures/pool.ts'

cleanUp()

for (const sse of [false, true])
  test(`start, list and call; session and revision go with every request after the first (${sse ? 'events' : 'JSON'})`, async () => {
    const at = await server({ sse })
    const connection = httpConnection(newPool(), at.url, { headers: { 'X-Team': 'blue', Accept: 'text/html', Connection: 'close' } })
    const { tools } = await connection.ready()
    expect([connection.state, connection.transport, [...tools.keys()]]).toEqual(['connected', 'http', ['echo', 'read', 'again']])
    expect(connection.info).toMatchObject({ protocolVersion: '2025-11-25', pid: null })
    expect(await callTool(connection, 'echo', { a: 'ä😀' })).toEqual(text('echo {"a":"ä😀"}'))
    const { items } = await connection.list('resources')
    expect(items).toEqual([{ uri: 'x://1', name: 'one' }])
    const [first, ...others] = at.seen
    expect([first?.headers['mcp-session-id'], first?.headers['mcp-protocol-version']]).toEqual([undefined, undefined])
    for (const { method, headers } of others) {
      expect([headers['mcp-session-id'], headers['mcp-protocol-version'], headers['x-team']]).toEqual(['session-1', '2025-11-25', 'blue'])
      // what the configuration says does not take the place of what the protocol needs
      expect(headers.accept).toBe(method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream')
    }
  })

test('closing takes leave with DELETE, once; a server without sessions gets none', async () => {
  const [withSession, without] = [await server(), await server({ session: false })]
  const pool = newPool()
  await httpConnection(pool, withSession.url, { name: 'a' }).ready()
  await httpConnection(pool, without.url, { name: 'b' }).ready()
  await pool.close()
  expect(withSession.seen.filter(({ method }) => method === 'DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual([
    'session-1',
  ])
  expect(withSession.sessions.size).toBe(0)
  expect(without.seen.some(({ method }) => method === 'DELETE')).toBe(false)
})

test('a start that fails after initialize takes leave too, and a DELETE that is never answered holds up no close', async () => {
  const at = await server({
    first: (request) => request.method === 'DELETE',
    on: (method, { response }) => {
      if (method !== 'tools/list') return false
      response.writeHead(500).end('no list today')
      return true
    },
  })
  const pool = newPool()
  expect(await failure(httpConnection(pool, at.url).ready())).toMatchObject({
    code: 'SERVER_START_FAILED',
    message: 'web answered HTTP 500: no list today',
    data: { stage: 'tools/list' },
  })
  await until(() => at.seen.some(({ method }) => method === 'DELETE'), 'the DELETE')
  await pool.close()
}, 20_000)

test('connections are shared, closed after an idle time, and opened anew', async () => {
  const at = await server()
  const pool = newPool({ idleCloseMs: 30 })
  const registration = httpRegistration(at.url)
  const request = { key: keys.intern(registration.key), registration, environment: environment() }
  const [one, two] = [pool.lease(request), pool.lease(request)]
  expect(one.connection).toBe(two.connection)
  await Promise.all([one.connection.ready(), two.connection.ready()])
  one.release()
  two.release()
  await until(() => at.seen.some(({ method }) => method === 'DELETE'), 'the idle close')
  expect(at.count('initialize')).toBe(1)
  await pool.lease(request).connection.ready()
  expect(at.count('initialize')).toBe(2)
})

test('another URL, header or variable of a credential is another connection; the value of the variable is not', () => {
  const pool = newPool()
  const url = 'http://127.0.0.1:9/mcp'
  const connections = [
    httpConnection(pool, url),
    httpConnection(pool, `${url}/other`),
    httpConnection(pool, url, { headers: { 'x-team': 'a' } }),
    httpConnection(pool, url, { headers: { 'x-team': 'b' } }),
    httpConnection(pool, url, { envHeaders: { 'x-team': 'TEAM' } }),
    httpConnection(pool, url, { bearerTokenEnvVar: 'TEAM' }),
  ]
  expect(new Set(connections).size).toBe(connections.length)
  process.env['TEAM'] = 'value'
  try {
    expect(httpConnection(pool, url, { bearerTokenEnvVar: 'TEAM' })).toBe(connections.at(-1))
  } finally {
    delete process.env['TEAM']
  }
})

test('progress comes before the answer, and a call ends with the answer even where the stream stays open', async () => {
  const at = await server({
    on: (method, { message, response }) => {
      if (method !== 'tools/call') return false
      response.writeHead(200, EVENTS)
      const { progressToken } = message.params._meta
      response.write(': a comment\n\nid: e0\ndata:\n\n')
      for (const progress of [1, 2]) response.write(event(notice('notifications/progress', { progressToken, progress })))
      response.write(`event: ping\ndata: {"jsonrpc":"2.0","id":${message.id},"result":{}}\n\n`)
      response.write(event(rpc(message.id, text('done'))))
      return true
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  const seen: Progress[] = []
  expect(await callTool(connection, 'echo', {}, { onProgress: (progress) => seen.push(progress) })).toEqual(text('done'))
  expect(seen.map(({ progress }) => progress)).toEqual([1, 2])
})

test('a change of the tools comes by the stream of its own, and a question of the server is answered', async () => {
  let tell: ((text: string) => void) | null = null
  const at = await server({
    stream: (_, response) => {
      response.writeHead(200, EVENTS)
      tell = (line) => response.write(event(line))
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  await until(() => tell !== null, 'the stream')
  tell!(JSON.stringify({ jsonrpc: '2.0', id: 'q1', method: 'ping' }))
  tell!(notice('notifications/tools/list_changed'))
  await until(() => at.count('tools/list') === 2, 'the second list')
  await until(() => at.seen.some(({ message }) => message?.id === 'q1'), 'the answer')
  expect(at.seen.find(({ message }) => message?.id === 'q1')?.message).toEqual({ jsonrpc: '2.0', id: 'q1', result: {} })
})

test('32 calls at once, each with its own answer', async () => {
  for (const sse of [false, true]) {
    const at = await server({ sse })
    const connection = httpConnection(newPool(), at.url)
    await connection.ready()
    const answers = await Promise.all(Array.from({ length: 32 }, (_, n) => callTool(connection, 'echo', { n })))
    expect(answers).toEqual(Array.from({ length: 32 }, (_, n) => text(`echo {"n":${n}}`)))
  }
})

test('calls one after the other need no new connection', async () => {
  const at = await server()
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  await until(() => at.seen.some(({ method }) => method === 'GET'), 'the refused stream')
  await callTool(connection, 'echo')
  const before = at.connections()
  for (let n = 0; n < 20; n++) await callTool(connection, 'echo', { n })
  expect(at.connections()).toBe(before)
})

test('an abort sends one notice with a neutral reason and closes the request; one whose answer is there sends none', async () => {
  const closed: unknown[] = []
  const at = await server({
    on: (method, { message, response, request }) => {
      if (method !== 'tools/call' || message.params.name === 'echo') return false
      response.on('close', () => closed.push(message.id))
      if (message.params.name === 'read') response.writeHead(200, EVENTS).flushHeaders()
      return request !== null
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  for (const name of ['read', 'again']) {
    const caller = new AbortController()
    const call = failure(callTool(connection, name, {}, { signal: caller.signal }))
    await until(() => at.calls().includes(name), 'the call')
    caller.abort(new Error('my own reason'))
    expect(await call).toMatchObject({ code: 'CALL_CANCELLED', data: { sent: 'unknown' } })
  }
  await until(() => closed.length === 2 && at.count('notifications/cancelled') === 2, 'the notices')
  const done = new AbortController()
  await callTool(connection, 'echo', {}, { signal: done.signal })
  done.abort()
  await callTool(connection, 'echo')
  const notices = at.seen.filter(({ message }) => message?.method === 'notifications/cancelled')
  expect(notices.map(({ message }) => message.params.requestId)).toEqual(closed)
  expect(JSON.stringify(notices.map(({ message }) => message))).not.toContain('my own reason')
})

test('a call without a sign of life ends with its limit, and the next one works', async () => {
  const at = await server({ on: (method, { message }) => method === 'tools/call' && message.params.name === 'read' })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  expect(await failure(callTool(connection, 'read', {}, { idleTimeoutMs: 60 }))).toMatchObject({
    code: 'CALL_TIMED_OUT',
    data: { phase: 'idle', sent: 'unknown' },
  })
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
})
