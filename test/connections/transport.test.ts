import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StdioProcess } from '../../src/connections/executor.ts'
import { localEnv } from '../../src/connections/executors/local-env.ts'
import { memoryExecutor } from '../../src/connections/executors/memory.ts'
import { FrameReader } from '../../src/connections/frame-reader.ts'
import { onAbort } from '../../src/connections/on-abort.ts'
import { printable } from '../../src/connections/printable.ts'
import { StderrTail } from '../../src/connections/stderr-tail.ts'
import { StdioTransport } from '../../src/connections/stdio-transport.ts'
import type { JsonObject } from '../../src/json.ts'
import { Secrets } from '../../src/secrets.ts'
import { environment, hostPool, lease } from './fixtures/pool.ts'

interface Read {
  readonly lines: string[]
  readonly junk: string[]
  readonly tooLong: string[]
}
function read(chunks: readonly Uint8Array[], limit?: number): Read {
  const got: Read = { lines: [], junk: [], tooLong: [] }
  const handler = {
    line: (text: string) => void got.lines.push(text),
    junk: (head: string) => void got.junk.push(head),
    tooLong: (head: string) => void got.tooLong.push(head),
    tooLongEnded: () => {},
  }
  const reader = new FrameReader(handler, limit)
  for (const chunk of chunks) reader.push(chunk)
  return got
}

test('however bytes are cut, the same messages come out', () => {
  const message = fc.jsonValue().map((value) => JSON.stringify({ jsonrpc: '2.0', value }))
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(40), { minLength: 1, maxLength: 20 }), (messages, cuts) => {
      const bytes = Buffer.from(messages.map((one) => `${one}\n`).join(''))
      const chunks: Buffer[] = []
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const length = 1 + (cuts[i % cuts.length] as number)
        chunks.push(bytes.subarray(at, at + length))
        at += length
      }
      expect(read(chunks).lines).toEqual(messages)
    }),
  )
})

test('a line over the limit is told once and dropped; the lines around it arrive; what cannot be a message is not kept', () => {
  const long = `{"id":1,${'x'.repeat(500)}`
  const { lines, tooLong } = read([Buffer.from(`{"a":1}\n${long}`), Buffer.from(`${'y'.repeat(500)}\n{"b":`), Buffer.from('2}\n')], 100)
  expect(lines).toEqual(['{"a":1}', '{"b":2}'])
  expect(tooLong).toHaveLength(1)
  expect(tooLong[0]).toContain('{"id":1,')
  const half = read([Buffer.from('  some text '), Buffer.from('without an end\n'), new Uint8Array(Buffer.from('{}\n'))])
  expect(half).toEqual({ lines: ['{}'], junk: ['  some text without an end'], tooLong: [] })
})

test('the transport works over plain async iterables, survives junk of every kind and ends with the process', async () => {
  const messages: JsonObject[] = []
  let exit: (status: { code: number; signal: null }) => void = () => {}
  async function* stdout(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('hello\n{"jsonrpc":"2.0","id":1}\n{"jsonrpc":"1.0"}\n"2.0"\n{"jsonrpc":\n')
    await new Promise((resolve) => setTimeout(resolve, 5))
    yield Buffer.from('{"jsonrpc":"2.0","id":2}\n')
  }
  async function* stderr(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('word\n')
    throw new Error('broken')
  }
  const process: StdioProcess = {
    stdout: stdout(),
    stderr: stderr(),
    write: () => Promise.resolve(),
    endStdin: () => Promise.resolve(true),
    kill: () => Promise.resolve(),
    exited: new Promise((resolve) => {
      exit = resolve
    }),
  }
  const transport = new StdioTransport(process)
  expect('sessionId' in transport).toBe(false)
  transport.onMessage = (message) => void messages.push(message)
  const ended = new Promise((resolve) => {
    transport.onEnd = resolve
  })
  transport.start()
  exit({ code: 4, signal: null })
  expect(await ended).toEqual({ status: { code: 4, signal: null }, cause: null })
  expect(messages.map(({ id }) => id)).toEqual([1, 2])
  expect(transport.noise.count).toBe(4)
  expect(transport.noise.describe(new Secrets())).toMatch(/^4 lines on stdout .*"hello"/)
  expect(transport.stderr.lines(new Secrets())).toEqual(['word'])
  await expect(transport.send({})).rejects.toThrow('has ended')
})

test('stderr is bounded, shows the last 20 lines, and no part of a secret that the bound cuts', () => {
  const secret = `secret-${'s'.repeat(200)}`
  const secrets = new Secrets()
  secrets.add(secret)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: 1, max: 5000 }), (before, size) => {
      const tail = new StderrTail()
      const text = Buffer.from(`${'a'.repeat(before)}${secret}\n${`line ${secret}\n`.repeat(300)}`)
      for (let at = 0; at < text.length; at += size) tail.push(text.subarray(at, at + size))
      const lines = tail.lines(secrets)
      expect(lines.length).toBeLessThanOrEqual(20)
      expect(lines.at(-1)).toBe('line [redacted]')
      expect(lines.join('')).not.toContain('sss')
    }),
    { numRuns: 50 },
  )
})

test('foreign text in messages is one line without control characters, and bounded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(50), (text, limit) => {
      const line = printable(`\u001b[31m${text}\n\u2028`, limit)
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}]/u)
      expect(line.length).toBeLessThanOrEqual(limit + 1)
    }),
  )
})

test('on Windows names of variables are case-insensitive, and a named one replaces that of the host', () => {
  const env = localEnv({ path: 'mine' }, { Path: 'C:\\', SystemRoot: 'C:\\Windows', Secret: 's', HOME: 'h' }, 'win32')
  expect({ ...env }).toEqual({ SystemRoot: 'C:\\Windows', path: 'mine' })
})

test('abort listeners of one signal share one real listener and can be taken back', () => {
  const abort = new AbortController()
  const calls: number[] = []
  const backs = Array.from({ length: 50 }, (_, n) => onAbort(abort.signal, () => void calls.push(n)))
  for (const back of backs.slice(1)) back()
  abort.abort()
  expect(calls).toEqual([0])
})

test('a server in memory runs over the same transport, with its own environment', async () => {
  const memory = memoryExecutor({
    async echo({ lines, send, log, request }) {
      for await (const line of lines) {
        const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: { protocolVersion: string } }
        if (method === 'initialize')
          send({ jsonrpc: '2.0', id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: {} } })
        else if (method === 'tools/list') send({ jsonrpc: '2.0', id, result: { tools: [{ name: 'one' }] } })
        else if (method === 'tools/call') send({ jsonrpc: '2.0', id, result: { content: [], env: request.env } })
      }
      log('bye\n')
    },
    fails: () => Promise.reject(new Error('out of order')),
  })
  const pool = hostPool({ more: [memory] })
  const on = environment('memory', 'mem')
  const { connection } = lease(pool, 'echo', { launch: { command: 'echo' }, env: { A: '1' }, on })
  expect([...(await connection.ready()).tools.keys()]).toEqual(['one'])
  expect(connection.transport).toBe('memory')
  expect(connection.info?.pid).toBeNull()
  expect(await connection.request('tools/call', { name: 'one' }, { idleTimeoutMs: 5000 })).toEqual({ content: [], env: { A: '1' } })
  await expect(lease(pool, 'fails', { launch: { command: 'fails' }, on }).connection.ready()).rejects.toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.stringMatching(/exit code 1.*out of order/) as string,
  })
  await expect(lease(pool, 'none', { launch: { command: 'none' }, on }).connection.ready()).rejects.toMatchObject({
    code: 'SERVER_START_FAILED',
  })
  await pool.close()
  expect(connection.state).toBe('closed')
})
