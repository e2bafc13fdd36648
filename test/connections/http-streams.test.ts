/** Streams that break, close early, come again or are too large: every call ends, nothing is delivered twice. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Progress } from '../../src/mcp.ts'
import type { Diagnostic } from '../../src/servers/diagnostic.ts'
import type { Behaviour, Exchange } from './fixtures/http.ts'
import { callTool, event, EVENTS, httpConnection, notice, rpc, text } from './fixtures/http.ts'
import { cleanUp, failure, newPool, server } from './fixtures/http-kit.ts'
import { sleep, until } from './fixtures/pool.ts'

cleanUp()

/** Calls of `read` go this way, `echo` works. */
const onRead = (read: (exchange: Exchange) => void, more: Behaviour = {}): Behaviour => ({
  ...more,
  on: (method, exchange) => {
    const { params } = exchange.message
    if (method !== 'tools/call' || params.name !== 'read') return false
    read(exchange)
    return true
  },
})
const progressOf = (message: Exchange['message'], progress: number): string =>
  notice('notifications/progress', { progressToken: message.params._meta.progressToken, progress })

test('a stream that breaks is taken up where it was, after the time that the server asks for; nothing comes twice', async () => {
  let call: Exchange['message'] = null
  const resumed: unknown[] = []
  const at = await server(
    onRead(
      ({ message, response }) => {
        call = message
        response.writeHead(200, EVENTS)
        response.write(event('', 'p0', 'retry: 5\n'))
        response.write(event(progressOf(message, 1), 'p1'))
        response.write(event(progressOf(message, 2), 'p2'), () => response.destroy())
      },
      {
        stream: (request, response) => {
          const last = request.headers['last-event-id']
          if (last === undefined) return void response.writeHead(405).end()
          resumed.push([last, request.headers['mcp-session-id']])
          response.writeHead(200, EVENTS)
          if (resumed.length === 1) return void response.end()
          // one too many: the server gives again what was there already
          response.write(event(progressOf(call, 2), 'p2'))
          response.write(event(progressOf(call, 3), 'p3'))
          response.end(event(rpc(call.id, text('done')), 'p4') + event(rpc(call.id, text('again')), 'p5'))
        },
      },
    ),
  )
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  const seen: Progress[] = []
  expect(await callTool(connection, 'read', {}, { onProgress: (progress) => seen.push(progress) })).toEqual(text('done'))
  expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3])
  expect(resumed).toEqual([
    ['p2', 'session-1'],
    ['p2', 'session-1'],
  ])
  expect(at.calls()).toEqual(['read'])
})

test('a stream that ends or breaks before its answer and has no ids: the call ends at once, the next one works', async () => {
  for (const end of ['end', 'destroy'] as const) {
    const at = await server(
      onRead(({ message, response }) => {
        response.writeHead(200, EVENTS)
        response.write(event(progressOf(message, 1)), () => response[end]())
      }),
    )
    const connection = httpConnection(newPool(), at.url)
    await connection.ready()
    expect(await failure(callTool(connection, 'read'))).toMatchObject({
      code: 'SERVER_EXITED',
      message: expect.stringMatching(/^web closed the stream before its answer.*unknown$/) as string,
      data: { sent: 'unknown' },
    })
    expect([connection.state, await callTool(connection, 'echo')]).toEqual(['connected', text('echo {}')])
  }
})

test('an answer that is cut off in the middle is none', async () => {
  const at = await server(
    onRead(({ message, response }) => {
      const body = rpc(message.id, text('x'.repeat(1000)))
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      response.write(body.slice(0, 500), () => response.destroy())
    }),
  )
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  expect(await failure(callTool(connection, 'read'))).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'unknown' } })
})

for (const [what, status] of [
  ['no longer wanted', 405],
  ['refused', 400],
  ['forbidden', 403],
] as const)
  test(`taking up a stream is ${what} (${status}): the call ends, its outcome unknown`, async () => {
    const at = await server(
      onRead(({ response }) => void response.writeHead(200, EVENTS).end(event('', 'p0', 'retry: 1\n')), {
        stream: (_, response) => void response.writeHead(status).end(),
      }),
    )
    const connection = httpConnection(newPool(), at.url)
    await connection.ready()
    expect(await failure(callTool(connection, 'read'))).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'unknown' } })
    expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
  })

test('a stream that brings nothing new is taken up five times; one that is cancelled meanwhile no more', async () => {
  let tries = 0
  const at = await server(
    onRead(({ response }) => void response.writeHead(200, EVENTS).end(event('', 'p0', 'retry: 1\n')), {
      stream: (request, response) => {
        if (request.headers['last-event-id'] === undefined) return void response.writeHead(405).end()
        tries++
        if (tries % 2) response.writeHead(503).end()
        else response.writeHead(200, EVENTS).end()
      },
    }),
  )
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  expect(await failure(callTool(connection, 'read'))).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'unknown' } })
  expect(tries).toBe(5)
  const long = await server(onRead(({ response }) => void response.writeHead(200, EVENTS).end(event('', 'p0', 'retry: 600000\n'))))
  const other = httpConnection(newPool(), long.url)
  await other.ready()
  const caller = new AbortController()
  const waiting = failure(callTool(other, 'read', {}, { signal: caller.signal }))
  await until(() => long.calls().length === 1, 'the call')
  caller.abort()
  expect(await waiting).toMatchObject({ code: 'CALL_CANCELLED' })
})

test('an answer for a request that came to its end, and a second one, are dropped; an id may come back as text', async () => {
  const at = await server(
    onRead(({ message, response }) => {
      response.writeHead(200, EVENTS)
      response.write(event(rpc(4711, text('nobody asked'))))
      response.write(event(rpc(String(message.id), text('first'))))
      response.end(event(rpc(message.id, text('second'))))
    }),
  )
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  expect(await callTool(connection, 'read')).toEqual(text('first'))
  expect(await callTool(connection, 'read')).toEqual(text('first'))
})

test('202 for a request: the answer comes by the stream of its own', async () => {
  let own: ServerResponse | null = null
  const at = await server(
    onRead(
      ({ message, response }) => {
        response.writeHead(202).end()
        own!.write(event(rpc(message.id, text('by the other way'))))
      },
      {
        stream: (_, response) => {
          own = response
          response.writeHead(200, EVENTS).flushHeaders()
        },
      },
    ),
  )
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  await until(() => own !== null, 'the stream')
  expect(await callTool(connection, 'read')).toEqual(text('by the other way'))
})

test('the stream of its own is opened again with the id of its last event, and given up where it is refused', async () => {
  const ids: unknown[] = []
  let up = (): void => {}
  const isUp = new Promise<void>((resolve) => {
    up = resolve
  })
  const at = await server({
    stream: (request, response) => {
      ids.push(request.headers['last-event-id'])
      if (ids.length === 4) return void response.writeHead(405).end()
      response.writeHead(200, EVENTS)
      const last = event(ids.length === 2 ? '' : notice('notifications/tools/list_changed'), `own-${ids.length}`, 'retry: 1\n')
      // the first list must be there before it changes
      void isUp.then(() => response.end(last))
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  up()
  await until(() => ids.length === 4, 'four tries')
  expect(ids).toEqual([undefined, 'own-1', 'own-2', 'own-3'])
  await until(() => at.count('tools/list') >= 2, 'the lists')
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
})

test('a question on the stream of its own that comes again after a break is answered once', async () => {
  const opened: ServerResponse[] = []
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 'q', method: 'ping' })
  const at = await server({
    stream: (_, response) => {
      opened.push(response)
      response.writeHead(200, EVENTS)
      if (opened.length === 1) response.write(event(ping, 'own-1', 'retry: 1\n'))
      else response.write(event(ping, 'own-1') + event(notice('notifications/tools/list_changed'), 'own-2'))
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  await until(() => at.seen.some(({ message }) => message?.id === 'q'), 'the answer')
  opened[0]!.end()
  await until(() => opened.length === 2 && at.count('tools/list') === 2, 'the second stream')
  expect(at.seen.filter(({ message }) => message?.id === 'q')).toHaveLength(1)
})

test('a message over the limit costs its own request only, as JSON and as an event', async () => {
  const diagnostics: Diagnostic[] = []
  let own: ServerResponse | null = null
  const big = 'x'.repeat(300_000)
  const at = await server(
    onRead(
      ({ message, response }) => {
        const body = rpc(message.id, text(big))
        if (message.params.arguments.as === 'json') response.writeHead(200, { 'content-type': 'application/json' }).end(body)
        else response.writeHead(200, EVENTS).end(event(body))
      },
      {
        stream: (_, response) => {
          own = response
          response.writeHead(200, EVENTS).flushHeaders()
        },
      },
    ),
  )
  const connection = httpConnection(newPool({ frameLimit: 200_000, diagnostics }), at.url)
  await connection.ready()
  for (const as of ['json', 'event'])
    expect(await failure(callTool(connection, 'read', { as }))).toMatchObject({
      code: 'SERVER_FAILED',
      message: 'web answered tools/call with a frame over the limit of 200000 bytes',
      data: { sent: 'yes' },
    })
  await until(() => own !== null, 'the stream')
  own!.write(event(notice('x', { big })))
  await until(() => diagnostics.some(({ code }) => code === 'frame_too_long'), 'the diagnostic')
  own!.write(event(notice('notifications/tools/list_changed')))
  await until(() => at.count('tools/list') === 2, 'the stream goes on')
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
})

test('ten megabytes in many pieces arrive whole, as JSON and as an event', async () => {
  const value = 'ä😀'.repeat(1_700_000)
  const at = await server(
    onRead(({ message, response }) => {
      const isJson = message.params.arguments.as === 'json'
      response.writeHead(200, isJson ? { 'content-type': 'application/json; charset=utf-8' } : EVENTS)
      response.end(isJson ? rpc(message.id, text(value)) : event(rpc(message.id, text(value))))
    }),
  )
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  for (const as of ['json', 'event'])
    expect(((await callTool(connection, 'read', { as }))['content'] as { text: string }[])[0]?.text === value).toBe(true)
}, 60_000)

test('close ends a call that waits, a stream that is open and one that waits to be taken up; nothing is asked for afterwards', async () => {
  const at = await server(
    onRead(
      ({ message, response }) => {
        response.writeHead(200, EVENTS)
        const { how } = message.params.arguments
        if (how === 'resumes') response.end(event('', 'p0', 'retry: 20\n'))
        else response.flushHeaders()
      },
      {
        stream: (request, response) => {
          if (request.headers['last-event-id'] === undefined) response.writeHead(200, EVENTS).flushHeaders()
          else response.writeHead(503).end()
        },
      },
    ),
  )
  const pool = newPool()
  const connection = httpConnection(pool, at.url)
  await connection.ready()
  const calls = ['waits', 'resumes'].map((how) => failure(callTool(connection, 'read', { how })))
  await until(() => at.seen.some(({ headers }) => headers['last-event-id'] !== undefined), 'a try to take it up')
  await pool.close()
  for (const call of calls) expect(await call).toMatchObject({ code: 'SESSION_CLOSED' })
  expect(at.seen.at(-1)?.method).toBe('DELETE')
  const { length } = at.seen
  await sleep(60)
  expect(at.seen).toHaveLength(length)
})
