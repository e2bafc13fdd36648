/** HTTP servers that cannot be reached, are no MCP, redirect, never answer or are old; environments that make no HTTP requests. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ExecutorDefinition } from '../../src/connections/executor.ts'
import { callTool, event, EVENTS, httpConnection, rpc, serve, text } from './fixtures/http.ts'
import { cleanUp, failure, later, newPool, server } from './fixtures/http-kit.ts'
import { environment, until } from './fixtures/pool.ts'

cleanUp()

async function rawServer(answer: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>()
  const made = net.createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    answer(socket)
  })
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  later(
    () =>
      new Promise((resolve) => {
        made.close(resolve)
        for (const socket of sockets) socket.destroy()
      }),
  )
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/mcp`
}
async function freePort(): Promise<number> {
  const one = await serve()
  await one.close()
  return one.port
}

test('one clear line for what keeps a server from being reached', async () => {
  const port = await freePort()
  const plain = await server()
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      `http://127.0.0.1:${port}/mcp`,
      new RegExp(`^web cannot be reached at http://127.0.0.1:${port}: the connection was refused.*ECONNREFUSED`),
    ],
    [
      `http://[::1]:${port}/mcp`,
      /^web cannot be reached at http:\/\/\[::1\]:\d+: .*\((ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT|ENETUNREACH)\)/,
    ],
    [
      'http://tapline-no-such-host.invalid/mcp',
      /^web cannot be reached at http:\/\/tapline-no-such-host\.invalid: its host name .*\((ENOTFOUND|EAI_AGAIN)\)/,
    ],
    [`https://127.0.0.1:${plain.port}/mcp`, /^web cannot be reached at https:.*TLS failed/],
    [await rawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')), /^web broke off .*its answer is no HTTP/],
    [
      await rawServer((socket) => socket.once('data', () => socket.destroy())),
      /^web broke off the connection before its answer: .*(ECONNRESET|UND_ERR_SOCKET)/,
    ],
  ]
  for (const [url, message] of cases) {
    const error = await failure(httpConnection(newPool(), url).ready())
    expect([url, error.code]).toEqual([url, 'SERVER_START_FAILED'])
    expect(error.message).toMatch(message)
    expect(error.message).not.toMatch(/\n|\bat \S+:\d+:\d+/)
  }
})

const openssl = spawnSync('openssl', ['version']).status === 0
test.skipIf(!openssl)('a certificate that nobody vouches for is not accepted, and nothing is sent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-tls-'))
  later(() => rm(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=other.test']
  execFileSync('openssl', ['req', ...options, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  let requests = 0
  const made = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, () => requests++)
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  later(() => new Promise((resolve) => made.close(resolve)))
  const { port } = made.address() as AddressInfo
  const error = await failure(httpConnection(newPool(), `https://127.0.0.1:${port}/mcp`).ready())
  expect(error).toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.stringMatching(
      /^web cannot be reached at https:\/\/127.0.0.1:\d+: its TLS certificate is not accepted: .*\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
    ) as string,
  })
  expect(requests).toBe(0)
})

test('what answers and is no MCP: pages, other types, empty and broken bodies, statuses', async () => {
  const html = { 'content-type': 'text/html' }
  const json = { 'content-type': 'application/json' }
  const cases: readonly (readonly [number, http.OutgoingHttpHeaders, string, string | RegExp])[] = [
    [200, html, '<html>Welcome</html>', 'web answered with text/html, which is no MCP'],
    [200, {}, 'hello', 'web answered with a body without a type, which is no MCP'],
    [200, json, '', 'web answered with a body that is no JSON'],
    [200, json, '{"hello":1}', 'web answered without an answer to the request'],
    [200, json, '[]', 'web answered without an answer to the request'],
    [200, json, '{"jsonrpc":"2.0","id":77,"result":{}}', 'web answered without an answer to the request'],
    [200, EVENTS, 'data: no json\n\n', /^web closed the stream before its answer/],
    [500, html, '<html><body>Internal\n<b>error</b></body></html>', 'web answered HTTP 500: Internal error'],
    [503, {}, '', 'web answered HTTP 503'],
    [404, html, 'Cannot POST /mcp', 'web answered HTTP 404: Cannot POST /mcp'],
    [200, json, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not today"}}', 'web refused initialize: not today (-32000)'],
    [
      400,
      json,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}',
      'web refused initialize: Bad Request (-32000)',
    ],
    [422, json, '{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"odd"}}', 'web refused initialize: odd (-32602)'],
  ]
  for (const [status, headers, body, message] of cases) {
    const at = await server({ first: (_, response) => response.writeHead(status, headers).end(body).writableEnded })
    const error = await failure(httpConnection(newPool(), at.url).ready())
    expect([status, body, error.code]).toEqual([status, body, 'SERVER_START_FAILED'])
    expect(error.message).toMatch(typeof message === 'string' ? new RegExp(`^${message.replace(/[()]/g, '\\$&')}$`) : message)
  }
})

test('a status in the middle of a session costs its own request only', async () => {
  let status = 0
  const at = await server({
    on: (method, { message, response }) => {
      if (method !== 'tools/call' || message.params.name !== 'read') return false
      const error = JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: 'busy' } })
      response.writeHead(status, { 'content-type': status === 429 ? 'application/json' : 'text/plain' }).end(status === 429 ? error : 'oh')
      return true
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  for (const [code, message] of [
    [500, 'web answered HTTP 500: oh'],
    [413, 'web answered HTTP 413: oh'],
    [429, 'web refused tools/call: busy (-32000)'],
  ] as const) {
    status = code
    expect(await failure(callTool(connection, 'read'))).toMatchObject({ code: 'SERVER_FAILED', message })
    expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
  }
  expect(at.count('initialize')).toBe(1)
})

test('a server that takes notifications with an error works all the same', async () => {
  const at = await server({
    on: (_, { message, response }) => {
      if (message.id === undefined) response.writeHead(500).end('what is that')
      return message.id === undefined
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
})

test('redirects: within the origin with the method kept, never to another one, never in a circle', async () => {
  const strange = await server()
  const moved = (status: number, to: string) =>
    server({
      first: (request, response) => {
        if (request.url !== '/mcp') return false
        response.writeHead(status, { location: to }).end()
        return true
      },
    })
  for (const status of [307, 308]) {
    const at = await moved(status, '/new/place?x=1')
    const connection = httpConnection(newPool(), at.url)
    await connection.ready()
    expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
    expect(new Set(at.seen.map(({ path }) => path))).toEqual(new Set(['/mcp', '/new/place?x=1']))
  }
  for (const [status, to, message] of [
    [307, strange.url, `redirects to another origin, ${strange.origin}, which is not followed`],
    [308, strange.url.replace('127.0.0.1', 'localhost'), 'redirects to another origin, '],
    [302, '/new', 'answered HTTP 302, a redirect that drops the message'],
    [307, '/mcp', 'redirects more than 5 times'],
    [307, 'http://[', 'answered HTTP 307 without saying where to go'],
  ] as const) {
    const at = await moved(status, to)
    const error = await failure(httpConnection(newPool(), at.url, { headers: { authorization: 'Bearer my-token' } }).ready())
    expect(error).toMatchObject({ code: 'SERVER_START_FAILED', data: { httpStatus: status } })
    expect(error.message).toContain(message)
  }
  expect(strange.seen).toEqual([])
})

test('a server that never answers, or stops in the middle of its headers, times out at its limit; close does not wait for it', async () => {
  const silent = await rawServer(() => {})
  const half = await rawServer((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-ty'))
  for (const url of [silent, half]) {
    const pool = newPool()
    expect(await failure(httpConnection(pool, url, { policy: { startupTimeoutMs: 150 } }).ready())).toMatchObject({
      code: 'SERVER_START_TIMED_OUT',
      data: { stage: 'initialize' },
    })
    const closing = failure(httpConnection(pool, url, { name: 'other' }).ready())
    await pool.close()
    expect(await closing).toMatchObject({ code: 'SESSION_CLOSED' })
  }
})

/** HTTP with SSE: a stream for everything, and a place to POST to. */
async function oldServer({
  endpoint = '/messages?id=1',
  refuse = 404,
  status = 202,
} = {}): Promise<{ url: string; seen: string[]; cut: () => void }> {
  const seen: string[] = []
  let stream: http.ServerResponse | null = null
  const handle = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    seen.push(`${request.method} ${request.url} ${String(request.headers['x-team'] ?? '')}`.trim())
    if (request.method === 'GET') {
      stream = response.writeHead(200, EVENTS)
      stream.write(`event: endpoint\ndata: ${endpoint}\n\n`)
      return
    }
    if (request.url === '/sse') return void response.writeHead(refuse).end('Cannot POST /sse')
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { id, method, params } = JSON.parse(body)
    response.writeHead(status).end('Accepted')
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } },
      'tools/list': { tools: [{ name: 'echo' }, { name: 'hang' }] },
    }
    const result = results[method] ?? (params?.name === 'echo' ? text(JSON.stringify(params.arguments)) : undefined)
    if (id !== undefined && result !== undefined) stream?.write(event(rpc(id, result)))
  }
  const made = http.createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  const cut = (): void => made.closeAllConnections()
  later(
    () =>
      new Promise((resolve) => {
        made.close(resolve)
        cut()
      }),
  )
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}/sse`, seen, cut }
}

for (const refuse of [400, 404, 405])
  test(`a server of the revision 2024-11-05 that answers POST with ${refuse} is spoken to over SSE`, async () => {
    const old = await oldServer({ refuse })
    const connection = httpConnection(newPool(), old.url, { headers: { 'x-team': 'blue' } })
    const { tools } = await connection.ready()
    expect([[...tools.keys()], connection.info?.protocolVersion]).toEqual([['echo', 'hang'], '2024-11-05'])
    expect(await callTool(connection, 'echo', { a: 1 })).toEqual(text('{"a":1}'))
    expect(old.seen.slice(0, 3)).toEqual(['POST /sse blue', 'GET /sse blue', 'POST /messages?id=1 blue'])
    const waiting = failure(callTool(connection, 'hang'))
    await until(() => old.seen.length >= 7, 'the call')
    old.cut()
    expect(await waiting).toMatchObject({ code: 'SERVER_EXITED', data: { sent: 'unknown' } })
    await connection.ready()
    expect(await callTool(connection, 'echo')).toEqual(text('{}'))
  })

test('an SSE server that names an endpoint on another origin, or refuses what is sent there', async () => {
  const strange = await server()
  const away = await oldServer({ endpoint: strange.url })
  expect(await failure(httpConnection(newPool(), away.url).ready())).toMatchObject({
    code: 'SERVER_START_FAILED',
    message: 'web names an endpoint on another origin, which is not used',
  })
  expect(strange.seen).toEqual([])
  const closed = await oldServer({ status: 403 })
  expect(await failure(httpConnection(newPool(), closed.url).ready())).toMatchObject({ code: 'SERVER_AUTH_REQUIRED' })
})

test('a server of an environment elsewhere is reached from there, or not at all', async () => {
  const at = await server()
  const asked: string[] = []
  const executor = (withFetch: boolean): ExecutorDefinition => ({
    kind: withFetch ? 'far' : 'without',
    connect: () =>
      Promise.resolve({
        startStdio: () => Promise.reject(new Error('no processes here')),
        lost: new Promise<never>(() => {}),
        dispose: () => Promise.resolve(),
        ...(withFetch && {
          fetch: (url: URL, init: RequestInit) => {
            asked.push(`${init.method} ${url.pathname} ${init.redirect}`)
            // from there another address is another machine
            return fetch(new URL(url.pathname, at.origin), init)
          },
        }),
      }),
  })
  const pool = newPool({ more: [executor(true), executor(false)] })
  const url = 'http://inside.example:8080/mcp'
  const far = httpConnection(pool, url, { name: 'far', on: environment('far', 'far') })
  await far.ready()
  expect(await callTool(far, 'echo', { a: 1 })).toEqual(text('echo {"a":1}'))
  expect(new Set(asked)).toEqual(new Set(['POST /mcp manual', 'GET /mcp manual']))
  const { length } = at.seen
  const without = await failure(httpConnection(pool, at.url, { name: 'without', on: environment('without', 'box') }).ready())
  expect(without).toMatchObject({ code: 'ENVIRONMENT_UNSUPPORTED', message: expect.stringMatching(/box.*without/) as string })
  expect(at.seen).toHaveLength(length)
  await pool.close()
  expect(asked.at(-1)).toBe('DELETE /mcp manual')
})
