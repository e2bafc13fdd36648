/** Servers behind a real `codex exec-server`. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/connections/connection.ts'
import { execServerExecutor } from '../../src/connections/executors/exec-server/exec-server.ts'
import type { ConnectionPool } from '../../src/connections/pool.ts'
import type { TaplineError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/json.ts'
import { Environment } from '../../src/servers/environment.ts'
import { callTool, httpConnection, serve } from '../connections/fixtures/http.ts'
import { alive, hostPool, lease, marked, until } from '../connections/fixtures/pool.ts'
import { CodexExecutor, connectTo, Proxy } from './codex.ts'

const SERVER = fileURLToPath(new URL('../connections/executors/fixtures/echo.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tapline-exec-'))
let codex: CodexExecutor
beforeAll(async () => {
  codex = await CodexExecutor.start()
})
afterAll(async () => {
  await codex[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function place(url: string, id = 'vm', options: JsonObject = {}): Environment {
  return new Environment({
    id,
    executor: { kind: 'exec-server', options: { url, ...options } },
    cwd: '/',
    extraRoots: [],
    permissions: null,
    approvalPolicy: 'on-request',
    codexExecutable: null,
    where: 'host',
  })
}
const poolFor = (): ConnectionPool => hostPool({ more: [execServerExecutor] })
const on = (pool: ConnectionPool, environment: Environment, name = 'echo', env: Record<string, string> = {}): Connection =>
  lease(pool, 'plain', { name, on: environment, launch: { command: process.execPath, args: [SERVER], cwd: '/', env } }).connection
const call = (connection: Connection, name: string, args: JsonObject = {}, idleTimeoutMs = 20_000): Promise<any> =>
  connection.request('tools/call', { name, arguments: args }, { idleTimeoutMs })
const chain = (first: () => void, second: () => void) => (): void => {
  first()
  second()
}
const said = (result: any): any => JSON.parse(result.content[0].text)
const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )

test('a server is started there with that machine’s HOME and PATH and what is named, answers calls, and ends with the pool', async () => {
  const pool = poolFor()
  const cwd = join(folder, 'a b ü#%?')
  mkdirSync(cwd)
  const { connection } = lease(pool, 'plain', {
    on: place(codex.url),
    launch: { command: 'node', args: [SERVER], cwd, env: { NAMED: 'x $y\nü' } },
  })
  await connection.ready()
  const info = said(await call(connection, 'info'))
  expect(info.env).toMatchObject({ HOME: join(codex.home, 'home'), NAMED: 'x $y\nü' })
  expect(info.env).not.toHaveProperty('CODEX_HOME')
  expect(info.cwd).toBe(cwd)
  expect(connection.info?.pid).toBe(null)
  expect(said(await call(connection, 'echo', { value: 'ü-環境-😀' })).value).toBe('ü-環境-😀')
  await pool.close()
  await until(() => !alive(info.pid), 'the server has ended')
  expect(alive(info.pid)).toBe(false)
})

test('results of 1 MiB and 20 MiB, arguments of 3 MiB, and text that is cut inside of characters', async () => {
  const pool = poolFor()
  const connection = on(pool, place(codex.url))
  await connection.ready()
  for (const bytes of [1024 * 1024, 20 * 1024 * 1024])
    expect((await call(connection, 'big', { bytes })).content[0].text).toHaveLength(bytes)
  const value = '環é😀'.repeat(300_000)
  expect(said(await call(connection, 'echo', { value })).value).toBe(value)
  // the characters begin at every place of an 8 KiB chunk
  for (let shift = 0; shift < 9; shift++) {
    const { text } = (await call(connection, 'wide', { shift, count: 9000 })).content[0]
    expect(text).toBe(`${'x'.repeat(shift)}${'環é😀'.repeat(9000)}`)
  }
  await pool.close()
})

test('calls of many at once keep their answers; a server that crashes is started anew; one that is missing says so', async () => {
  const pool = poolFor()
  const vm = place(codex.url)
  const connection = on(pool, vm)
  await connection.ready()
  const values = await Promise.all(Array.from({ length: 200 }, (_, n) => call(connection, 'echo', { value: n })))
  expect(values.map((result) => said(result).value)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  const { pid } = said(values[0])
  expect(await failure(call(connection, 'crash'))).toMatchObject({ code: 'SERVER_EXITED', data: { exitCode: 7 } })
  await connection.ready()
  expect(said(await call(connection, 'info')).pid).not.toBe(pid)
  const missing = lease(pool, 'plain', { name: 'missing', on: vm, launch: { command: '/no/such program', args: [], cwd: '/' } }).connection
  expect(await failure(missing.ready())).toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.stringContaining('/no/such program'),
  })
  const nowhere = lease(pool, 'plain', { name: 'nowhere', on: vm, launch: { command: 'node', args: [SERVER], cwd: '/no/such' } }).connection
  expect(await failure(nowhere.ready())).toMatchObject({ code: 'SERVER_START_FAILED' })
  await pool.close()
})

test('the connection is cut at 50 random moments during 500 calls: each answered once, by the same process', {
  timeout: 180_000,
}, async () => {
  await using proxy = await Proxy.start(codex.port)
  const pool = poolFor()
  const connection = on(pool, place(proxy.url))
  await connection.ready()
  const { pid } = said(await call(connection, 'info'))
  const log = join(folder, `log-${randomUUID()}`)
  let cuts = 0
  let next = 0
  let wake: () => void = () => {}
  const answers: any[] = []
  const turn = async (): Promise<void> => {
    if (next < (cuts + 1) * 10) return
    await new Promise<void>((resolve) => (wake = chain(wake, resolve)))
    await turn()
  }
  const worker = async (): Promise<void> => {
    while (next < 500) {
      // ten calls for each cut, so that there are cuts to the end
      await turn()
      const n = next++
      // mostly small ones; some are larger than a chunk
      if (n < 500) answers[n] = said(await call(connection, 'echo', { value: n, pad: n % 20 === 0 ? 'y'.repeat(50_000) : '', log }))
    }
  }
  const cutter = async (): Promise<void> => {
    while (cuts < 50) {
      await until(() => proxy.isOpen && next >= Math.min(500, cuts * 10 + 1), 'calls go on', 60_000)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
      proxy.cut()
      cuts++
      wake()
    }
  }
  await Promise.all([...Array.from({ length: 8 }, worker), cutter()])
  expect([cuts, answers.length]).toEqual([50, 500])
  expect(answers.map((answer) => [answer.value, answer.pid, answer.pad.length] as const)).toEqual(
    Array.from(answers, (_, n) => [n, pid, n % 20 === 0 ? 50_000 : 0] as const),
  )
  // and each ran once
  expect(said(await call(connection, 'log', { log })).sort((a: number, b: number) => a - b)).toEqual(
    Array.from({ length: 500 }, (_, n) => n),
  )
  expect(proxy.connections).toBeGreaterThanOrEqual(50)
  await pool.close()
})

test('a killed executor: its calls fail within their own limit, others go on, and it is used again when it is back', {
  timeout: 120_000,
}, async () => {
  const mark = `tapline-exec-${randomUUID()}`
  await using other = await CodexExecutor.start({ mark })
  const pool = poolFor()
  const near = on(pool, place(codex.url, 'near'), 'near')
  const vm = place(other.url, 'far')
  const far = on(pool, vm, 'far')
  await Promise.all([near.ready(), far.ready()])
  const waiting = failure(call(far, 'slow', { ms: 60_000 }, 3000))
  await other.kill()
  const began = performance.now()
  expect(await failure(call(far, 'echo', { value: 1 }, 2000))).toMatchObject({
    code: 'ENVIRONMENT_UNAVAILABLE',
    message: expect.stringContaining('far'),
  })
  expect(await waiting).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE' })
  expect(performance.now() - began).toBeLessThan(15_000)
  expect(said(await call(near, 'echo', { value: 2 })).value).toBe(2)
  await using again = await CodexExecutor.start({ port: other.port, mark })
  expect(again.port).toBe(other.port)
  const recovered = async (end: number): Promise<any> => {
    try {
      await far.ready()
      return said(await call(far, 'echo', { value: 3 }))
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
      return recovered(end)
    }
  }
  expect((await recovered(Date.now() + 60_000)).value).toBe(3)
  await pool.close()
  await until(() => marked(mark).length <= 1, 'only the executor is left')
})

test('output that came while the connection was cut and was too much to be kept ends the server, with the reason', {
  timeout: 60_000,
}, async () => {
  await using proxy = await Proxy.start(codex.port)
  const pool = poolFor()
  const connection = on(pool, place(proxy.url))
  await connection.ready()
  const log = join(folder, `burst-${randomUUID()}`)
  const has = (word: string): boolean => existsSync(log) && readFileSync(log, 'utf8').includes(word)
  const result = failure(call(connection, 'burst', { log, go: `${log}-go`, bytes: 6 * 1024 * 1024 }))
  await until(() => has('asked'), 'the call has arrived')
  proxy.forwards = false
  proxy.cut()
  writeFileSync(`${log}-go`, '')
  await until(() => has('written'), 'the output was made', 20_000)
  proxy.forwards = true
  proxy.cut()
  expect(await result).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE', message: expect.stringContaining('output was lost') })
  await connection.ready()
  expect(said(await call(connection, 'echo', { value: 1 })).value).toBe(1)
  await pool.close()
})

describe('with a token', () => {
  const TOKEN = `token-${randomUUID()}`
  test('the right one opens, a wrong or missing one is told apart, and it is in no message', async () => {
    const file = join(folder, 'token')
    writeFileSync(file, TOKEN)
    await using guarded = await CodexExecutor.start({ args: ['--ws-auth', 'capability-token', '--ws-token-file', file] })
    const start = async (value: string | null): Promise<TaplineError | null> => {
      if (value === null) delete process.env['EXEC_TOKEN']
      else process.env['EXEC_TOKEN'] = value
      const pool = poolFor()
      try {
        await on(pool, place(guarded.url, 'vm', { bearerTokenEnvVar: 'EXEC_TOKEN' })).ready()
        return null
      } catch (error) {
        return error as TaplineError
      } finally {
        await pool.close()
        delete process.env['EXEC_TOKEN']
      }
    }
    expect(await start(TOKEN)).toBe(null)
    const wrong = await start('wrong-token-value')
    expect(wrong).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE', message: expect.stringContaining('401') })
    expect(`${String(wrong?.message)}${String(wrong?.stack)}`).not.toContain('wrong-token-value')
    expect(await start(null)).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE', message: expect.stringContaining('EXEC_TOKEN') })
    const pool = poolFor()
    expect(await failure(on(pool, place(guarded.url)).ready())).toMatchObject({ message: expect.stringContaining('it wants a token') })
    await pool.close()
  })
})

test('files and folders of the executor', async () => {
  const executor = await connectTo(codex.url)
  const { signal } = new AbortController()
  const at = join(folder, 'files #1 ü?')
  mkdirSync(join(at, 'sub'), { recursive: true })
  const content = Buffer.from([0, 255, 10, 128])
  writeFileSync(join(at, 'a%20b'), content)
  expect(Buffer.from((await executor.readFile?.(join(at, 'a%20b'), { signal })) as Uint8Array)).toEqual(content)
  expect([...((await executor.listDirectory?.(at, { signal })) ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: 'a%20b', kind: 'file' },
    { name: 'sub', kind: 'directory' },
  ])
  expect(await failure(executor.readFile?.(join(at, 'none'), { signal }) as Promise<unknown>)).toMatchObject({
    code: 'ENVIRONMENT_FILE_FAILED',
  })
  await executor.dispose()
})

test('HTTP from there: bodies, headers, streams as they come, redirects, and requests that do not wait for each other', async () => {
  const held: (() => void)[] = []
  const server = createServer((request, response) => {
    if (request.url === '/held') held.push(() => response.end('late'))
    else if (request.url === '/moved') response.writeHead(302, { location: '/echo' }).end()
    else if (request.url === '/none') response.writeHead(204).end()
    else if (request.url === '/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
      held.push(() => response.end('data: 2\n\n'))
    } else {
      const chunks: Buffer[] = []
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          response.setHeader('x-method', request.method ?? '')
          response.setHeader('x-custom', String(request.headers['x-custom']))
          response.end(Buffer.concat(chunks))
        })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const executor = await connectTo(codex.url)
  const fetch = (to: string, init: RequestInit = {}): Promise<Response> => executor.fetch?.(new URL(to, base), init) as Promise<Response>
  try {
    const waiting = fetch('/held')
    const body = 'ü'.repeat(200_000)
    const echo = await fetch('/echo', { method: 'POST', body, headers: { 'x-custom': 'yes' } })
    expect([echo.status, echo.headers.get('x-method'), echo.headers.get('x-custom'), await echo.text()]).toEqual([200, 'POST', 'yes', body])
    expect((await fetch('/moved', { redirect: 'manual' })).status).toBe(302)
    expect((await fetch('/moved')).status).toBe(200)
    expect((await fetch('/none')).status).toBe(204)
    const stream = await fetch('/stream')
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe('data: 1\n\n')
    held.pop()?.()
    expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe('data: 2\n\n')
    expect((await reader.read()).done).toBe(true)
    const ended = new AbortController()
    const aborted = fetch('/held', { signal: ended.signal })
    await until(() => held.length === 2, 'it has arrived')
    ended.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    held[0]?.()
    expect(await (await waiting).text()).toBe('late')
    await expect(fetch('http://127.0.0.1:9/')).rejects.toThrow(TypeError)
  } finally {
    await executor.dispose()
    server.closeAllConnections()
    server.close()
  }
})

test.each([false, true])('an HTTP server of the environment is reached from there (answers as streams: %s)', async (sse) => {
  const served = await serve({ sse })
  const pool = poolFor()
  try {
    const connection = httpConnection(pool, served.url, { on: place(codex.url) })
    await connection.ready()
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => callTool(connection, 'echo', { n })))
    expect(results.map((result: any) => result.content[0].text)).toEqual(Array.from({ length: 20 }, (_, n) => `echo {"n":${n}}`))
    // they come from the executor, not from here
    expect(served.seen.every(({ headers }) => headers['user-agent'] !== 'node')).toBe(true)
  } finally {
    await pool.close()
    await served.close()
  }
})

test('a look at it: platform, version and home of that machine', async () => {
  const executor = await connectTo(codex.url)
  expect(await executor.check?.({ signal: new AbortController().signal })).toEqual({
    platform: 'linux',
    version: expect.stringMatching(/^\d+\./),
    home: join(codex.home, 'home'),
  })
  await executor.dispose()
})
