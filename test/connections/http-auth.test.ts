/** Credentials of HTTP servers: read anew at each start, named when they are wrong, shown nowhere. */
import { afterEach, expect, test } from 'vitest'
import { openRuntime, openSession } from '../../src/index.ts'
import { Secrets } from '../../src/secrets.ts'
import type { Behaviour } from './fixtures/http.ts'
import { callTool, httpConnection, text } from './fixtures/http.ts'
import { cleanUp, failure, newPool, server } from './fixtures/http-kit.ts'
import { until } from './fixtures/pool.ts'

cleanUp()
const TOKEN = 'TAPLINE_TEST_TOKEN'
const TEAM = 'TAPLINE_TEST_TEAM'
afterEach(() => {
  delete process.env[TOKEN]
  delete process.env[TEAM]
})

/** Wants this bearer token. */
const wants = (token: () => string, status = 401): Behaviour => ({
  first: (request, response) => {
    if (request.headers.authorization === `Bearer ${token()}`) return false
    response.writeHead(status, { 'www-authenticate': 'Bearer' }).end(`no: ${request.headers.authorization}`)
    return true
  },
})

test('a token that changed is taken over by the next start, on the same connection', async () => {
  let token = 'token-number-1'
  const at = await server(wants(() => token))
  process.env[TOKEN] = token
  const connection = httpConnection(newPool(), at.url, { bearerTokenEnvVar: TOKEN })
  await connection.ready()
  process.env[TOKEN] = token = 'token-number-2'
  // the running session still has the old one: the call is refused before it ran, and ends the session
  expect(await failure(callTool(connection, 'echo'))).toMatchObject({
    code: 'SERVER_AUTH_REQUIRED',
    message: 'web does not accept its credentials (HTTP 401)',
    remedy: expect.stringContaining(TOKEN) as string,
    data: { sent: 'no', variables: [TOKEN] },
  })
  expect([connection.state, connection.error?.code]).toEqual(['failed', 'SERVER_AUTH_REQUIRED'])
  await connection.ready()
  expect(await callTool(connection, 'echo')).toEqual(text('echo {}'))
  expect(at.sessions.size).toBe(2)
})

test('401 to one of several calls ends that one only', async () => {
  let refuse = false
  let go: (() => void) | null = null
  const at = await server({
    first: (request, response) => {
      if (refuse && request.method === 'POST') response.writeHead(401).end()
      return refuse && request.method === 'POST'
    },
    on: (method, { message, give }) => {
      if (method !== 'tools/call' || message.params.name !== 'read') return false
      go = () => give(text('late'))
      return true
    },
  })
  const connection = httpConnection(newPool(), at.url)
  await connection.ready()
  const slow = callTool(connection, 'read')
  await until(() => go !== null, 'the slow call')
  refuse = true
  expect(await failure(callTool(connection, 'echo'))).toMatchObject({ code: 'SERVER_AUTH_REQUIRED' })
  expect(connection.state).toBe('connected')
  go!()
  expect(await slow).toEqual(text('late'))
})

test('401 and 403 at the start, with and without credentials, and a variable that is not set: each says what to do', async () => {
  for (const status of [401, 403]) {
    const at = await server(wants(() => 'another-token', status))
    const bare = await failure(httpConnection(newPool(), at.url).ready())
    expect(bare).toMatchObject({ code: 'SERVER_AUTH_REQUIRED', message: `web wants credentials (HTTP ${status})` })
    expect(bare.remedy).toContain('bearerTokenEnvVar')
    const written = await failure(httpConnection(newPool(), at.url, { headers: { authorization: 'Bearer my-token-1' } }).ready())
    expect([written.code, written.remedy]).toEqual(['SERVER_AUTH_REQUIRED', 'Correct the header Authorization of the server.'])
    expect(written.message).not.toContain('my-token')
  }
  const at = await server()
  const missing = await failure(httpConnection(newPool(), at.url, { bearerTokenEnvVar: TOKEN }).ready())
  expect(missing).toMatchObject({ code: 'SERVER_AUTH_REQUIRED', data: { variables: [TOKEN] } })
  expect([missing.message, missing.remedy].every((line) => line.includes(TOKEN))).toBe(true)
  process.env[TEAM] = 'a\nb'
  expect(await failure(httpConnection(newPool(), at.url, { envHeaders: { 'X-Team': TEAM } }).ready())).toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.not.stringContaining('a\nb') as string,
  })
  expect(at.seen).toEqual([])
})

test('user and password of a URL become Basic credentials, and are in no other place', async () => {
  const at = await server()
  const url = new URL(at.url)
  url.username = 'me'
  url.password = 'pässword:1'
  await httpConnection(newPool(), url.href).ready()
  expect(at.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:pässword:1').toString('base64')}`)
  expect(at.seen[0]?.path).toBe('/mcp')
})

test('the status has `auth_required` and says how a server is logged in to', async () => {
  const [open, closed, mine] = [await server(), await server(wants(() => 'x')), await server(wants(() => 'right-token'))]
  process.env[TOKEN] = 'right-token'
  await using session = await openSession({
    mcpServers: {
      closed: { url: closed.url },
      mine: { url: mine.url, bearerTokenEnvVar: TOKEN },
      open: { url: open.url },
      off: { url: open.url, enabled: false },
      wrong: { url: closed.url, bearerTokenEnvVar: TOKEN },
    },
  })
  const { data } = await session.status()
  expect(data.map((row) => [row.owner.name, row.runtimeStatus, row.authStatus, row.error?.code ?? null, row.httpOrigin])).toEqual([
    ['closed', 'auth_required', 'not_logged_in', 'SERVER_AUTH_REQUIRED', closed.origin],
    ['mine', 'connected', 'bearer_token', null, mine.origin],
    ['off', 'disabled', 'unknown', null, open.origin],
    ['open', 'connected', 'unsupported', null, open.origin],
    ['wrong', 'auth_required', 'bearer_token', 'SERVER_AUTH_REQUIRED', closed.origin],
  ])
  expect(data[4]?.error?.remedy).toContain(TOKEN)
})

test('no marked value is in an error, an outcome, the status, a trace, a diagnostic or a line of the log', async () => {
  const marks = ['mark-bearer-7f', 'mark-team-7f', 'mark-literal-7f', 'mark-query-7f', 'mark-password-7f', 'mark-rotated-7f']
  process.env[TOKEN] = marks[0]
  process.env[TEAM] = marks[1]
  let mode: 'fine' | 'tells' | 'refuses' | 'cuts' = 'fine'
  const tell = (request: { readonly headers: object; readonly url?: string | undefined }): string =>
    JSON.stringify([request.headers, request.url])
  const at = await server({
    first: (request, response) => {
      if (mode === 'refuses') response.writeHead(401).end(tell(request))
      else if (mode === 'cuts') request.socket.destroy()
      else if (mode === 'tells') response.writeHead(500).end(tell(request))
      else return false
      return true
    },
  })
  const lines: string[] = []
  const log = (data: object, message: string): void => void lines.push(JSON.stringify(data), message)
  const url = new URL(`${at.url}?api_key=${marks[3]}`)
  url.username = 'me'
  url.password = marks[4]!
  const shown: unknown[] = []
  const look = async (before: () => void = () => {}, after: () => void = () => {}): Promise<void> => {
    mode = 'fine'
    before()
    const runtime = await openRuntime({
      mcpServers: {
        web: {
          url: url.href.replace('me:mark-password-7f@', ''),
          bearerTokenEnvVar: TOKEN,
          envHttpHeaders: { 'X-Team': TEAM },
          httpHeaders: { 'X-Api-Key': marks[2]! },
        },
        basic: { url: url.href },
      },
      logger: { debug: log, info: log, warn: log, error: log },
    })
    const session = await runtime.openSession({ trace: true })
    const call = async (): Promise<void> => {
      for (const name of ['web', 'basic']) shown.push(await session.callTool({ server: name, tool: 'read' }), await session.status())
    }
    await call()
    after()
    await call()
    shown.push(
      session.diagnostics,
      runtime.diagnostics,
      (await session.listTools()).errors.map(({ error }) => [error.message, error.remedy, error.data]),
    )
    await runtime.close()
  }
  await look()
  expect(shown[0]).toMatchObject({ outcome: 'completed' })
  for (const bad of ['refuses', 'tells', 'cuts'] as const) {
    const turn = (): void => {
      mode = bad
    }
    await look(turn)
    await look(() => {}, turn)
  }
  // a value that comes after the configuration was read is a secret as well
  await look(
    () => {},
    () => {
      process.env[TOKEN] = marks[5]
      at.sessions.clear()
    },
  )
  expect(at.seen.some(({ headers }) => headers.authorization === `Bearer ${marks[5]}`)).toBe(true)
  expect(at.seen.some(({ headers }) => headers.authorization === `Bearer ${marks[0]}`)).toBe(true)
  expect(JSON.stringify(shown)).toContain('[redacted]')
  const all = JSON.stringify(shown) + lines.join('\n')
  for (const mark of marks)
    expect([mark, all.includes(mark), all.includes(Buffer.from(`me:${mark}`).toString('base64'))]).toEqual([mark, false, false])
})

test('a value is a secret from the start on that reads it', async () => {
  const at = await server({
    first: (request, response) => response.writeHead(500).end(`got ${request.headers.authorization}`).writableEnded,
  })
  process.env[TOKEN] = 'secret-of-the-day'
  const secrets = new Secrets()
  const error = await failure(httpConnection(newPool({ secrets }), at.url, { bearerTokenEnvVar: TOKEN }).ready())
  expect(error.message).toBe('web answered HTTP 500: got Bearer [redacted]')
})

test('a password that only looks like percent-encoding is sent as it is written', async () => {
  const at = await server()
  const { host, pathname } = new URL(at.url)
  await httpConnection(newPool(), `http://me:100%zz@${host}${pathname}`).ready()
  expect(at.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:100%zz').toString('base64')}`)
})
