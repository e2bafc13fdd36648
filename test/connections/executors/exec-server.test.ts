import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import type { Executor, StdioProcess } from '../../../src/connections/executor.ts'
import { execServerExecutor } from '../../../src/connections/executors/exec-server/exec-server.ts'
import { fileUri } from '../../../src/connections/executors/exec-server/exec-files.ts'
import { readExecServerOptions } from '../../../src/connections/executors/exec-server/options.ts'
import type { TaplineError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/json.ts'
import { until } from '../fixtures/pool.ts'
import type { Answer, Frame } from './fixtures/fake-exec-server.ts'
import { FakeExecServer } from './fixtures/fake-exec-server.ts'

interface VectorCase {
  readonly id: string
  readonly prelude?: boolean
  readonly frames: readonly (readonly [string, any])[]
}
const VECTORS = JSON.parse(readFileSync(new URL('../../vectors/exec-server.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly VectorCase[]
}
const vector = (id: string): VectorCase => VECTORS.cases.find((one) => one.id === id) as VectorCase

const { signal } = new AbortController()
const open: AsyncDisposable[] = []
const executors: Executor[] = []
afterEach(async () => {
  await Promise.all(executors.splice(0).map((one) => one.dispose()))
  await Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]()))
})

async function fakeServer(answer?: FakeExecServer['answer']): Promise<FakeExecServer> {
  const fake = await FakeExecServer.start()
  if (answer) fake.answer = answer
  open.push(fake)
  return fake
}
async function connect(url: string, options: JsonObject = {}, ended: AbortSignal = signal): Promise<Executor> {
  const executor = await execServerExecutor.connect({
    signal: ended,
    environmentId: 'vm',
    options: { url, ...options },
    log: () => {},
    watch: { add() {}, delete() {} },
  })
  executors.push(executor)
  return executor
}
const start = (executor: Executor, ended: AbortSignal = signal): Promise<StdioProcess> =>
  executor.startStdio({ command: 'server', args: ['a', 'b c'], cwd: '/work dir', env: { A: '1' }, label: 'files' }, { signal: ended })
const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )
async function all(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
const started = (frame: Frame): Answer =>
  frame.method === 'process/start'
    ? { result: { processId: frame.params.processId, sandboxType: 'none' } }
    : frame.method === 'process/write'
      ? { result: { status: 'accepted' } }
      : frame.method === 'process/terminate' || frame.method === 'process/signal'
        ? { result: { running: false } }
        : null
const idOf = (fake: FakeExecServer): string => fake.frames.find(({ method }) => method === 'process/start')?.params.processId
/** What the executor said in a vector, with the ids of this run in place of the recorded ones. */
function replay(fake: FakeExecServer, frames: VectorCase['frames'], request: Frame, theirs: unknown): void {
  for (const [direction, message] of frames) {
    if (direction !== '<') continue
    const { id, params, ...rest } = message
    fake.send({
      ...rest,
      ...(id !== undefined && { id: request.id }),
      ...(params !== undefined && { params: { ...params, processId: request.params.processId } }),
      ...(id !== undefined && rest.result?.processId === theirs && { result: { ...rest.result, processId: request.params.processId } }),
    })
  }
}

test('the handshake, and the request that starts a process: as the real one wants them', async () => {
  const fake = await fakeServer(started)
  const executor = await connect(fake.url)
  await start(executor)
  await until(() => fake.frames.length >= 3, 'all frames')
  const [initialize, initialized, startFrame] = fake.frames
  expect(initialize).toEqual({ id: 1, method: 'initialize', params: { clientName: 'tapline', resumeSessionId: null } })
  expect(initialized).toEqual({ method: 'initialized', params: {} })
  const { params } = vector('start-as-sent-by-codex') as unknown as { params: any }
  expect(Object.keys(startFrame?.params).sort()).toEqual(Object.keys(params).sort())
  expect(startFrame?.params).toMatchObject({
    argv: ['server', 'a', 'b c'],
    cwd: 'file:///work%20dir',
    env: { A: '1' },
    envPolicy: { ...params.envPolicy, set: { A: '1' } },
    tty: false,
    pipeStdin: true,
  })
  expect(fake.headers[0]).not.toHaveProperty('origin')
  expect(fake.headers[0]).not.toHaveProperty('sec-websocket-extensions')
})

describe('transcripts of the real one', () => {
  const firstStart = (id: string): readonly (readonly [string, any])[] => {
    const { frames } = vector(id)
    const end = frames.findIndex(([direction, message], index) => direction === '>' && index > 0 && message.method !== 'process/start')
    return frames.slice(0, end < 0 ? frames.length : end)
  }
  const replayed = async (id: string): Promise<StdioProcess> => {
    const frames = firstStart(id)
    const fake = await fakeServer((frame, self) => {
      if (frame.method === 'process/start') replay(self, frames, frame, frames[0]?.[1].params.processId)
      return started({ ...frame, method: frame.method === 'process/start' ? '' : frame.method })
    })
    return start(await connect(fake.url))
  }

  test('output-and-exit', async () => {
    const far = await replayed('output-and-exit')
    expect(await far.exited).toEqual({ code: 3, signal: null })
    expect([await all(far.stdout), await all(far.stderr)]).toEqual(['out\n', 'err\n'])
  })

  test('output-before-start-response', async () => {
    const far = await replayed('output-before-start-response')
    const { value } = await far.stdout[Symbol.asyncIterator]().next()
    expect(Buffer.from(value).toString()).toBe('tick 1\n')
  })

  test('output-after-exited: only closed is the end', async () => {
    const { frames } = vector('output-after-exited')
    const fake = await fakeServer(started)
    const far = await start(await connect(fake.url))
    fake.output(idOf(fake), 1, 'first\n')
    replay(fake, frames, { method: '', params: { processId: idOf(fake) } }, 'tt')
    expect(await far.exited).toEqual({ code: 0, signal: null })
    expect(await all(far.stdout)).toBe('first\nyo\r\ngot:yo\r\n')
  })

  test('resume: what was missed is read, what comes twice is dropped', async () => {
    const { frames } = vector('resume')
    const cutAt = frames.findIndex(([what]) => what === 'closed')
    const outputs = (part: typeof frames): any[] =>
      part.filter(([, message]) => message?.method === 'process/output').map(([, message]) => message.params)
    const read = frames.find(([direction, message]) => direction === '<' && message.result?.chunks !== undefined)?.[1].result
    const fake = await fakeServer((frame, self) => {
      if (frame.method === 'process/read') {
        // the first answer is the recorded one, then there is nothing new
        return { result: frame.params.afterSeq === 2 ? read : { ...read, chunks: [] } }
      }
      if (frame.method === 'process/start')
        setImmediate(() =>
          outputs(frames.slice(0, cutAt)).forEach((params) =>
            self.send({ method: 'process/output', params: { ...params, processId: frame.params.processId } }),
          ),
        )
      return started(frame)
    })
    const far = await start(await connect(fake.url))
    const lines = far.stdout[Symbol.asyncIterator]()
    let text = ''
    const readUntil = async (end: string): Promise<void> => {
      while (!text.includes(end)) text += Buffer.from((await lines.next()).value as Uint8Array).toString()
    }
    await readUntil('tick 2\n')
    fake.cut()
    await until(() => fake.connections === 2 && fake.frames.some(({ method }) => method === 'process/read'), 'it is taken up again')
    for (const params of outputs(frames.slice(cutAt))) fake.send({ method: 'process/output', params: { ...params, processId: idOf(fake) } })
    await readUntil('tick 6\n')
    fake.output(idOf(fake), 7, 'tick 7\n')
    await readUntil('tick 7\n')
    expect(text).toBe([1, 2, 3, 4, 5, 6, 7].map((n) => `tick ${n}\n`).join(''))
    expect(fake.frames.filter(({ method }) => method === 'initialize').map(({ params }) => params.resumeSessionId)).toEqual([
      null,
      'session-1',
    ])
    expect(fake.frames.find(({ method }) => method === 'process/read')?.params).toMatchObject({ afterSeq: 2, waitMs: 0 })
  })
})

test('output that comes out of order, twice, or with a hole is put into order', async () => {
  const fake = await fakeServer((frame) =>
    frame.method === 'process/read'
      ? {
          result: {
            chunks: [{ seq: 2, stream: 'stdout', chunk: Buffer.from('2').toString('base64') }],
            nextSeq: 3,
            exited: false,
            exitCode: null,
            closed: false,
            failure: null,
          },
        }
      : started(frame),
  )
  const far = await start(await connect(fake.url))
  const id = idOf(fake)
  for (const seq of [1, 1, 4, 3, 5, 4]) fake.output(id, seq, String(seq))
  fake.send({ method: 'process/exited', params: { processId: id, seq: 6, exitCode: 0 } })
  fake.send({ method: 'process/closed', params: { processId: id, seq: 7 } })
  expect(await all(far.stdout)).toBe('12345')
  expect(await far.exited).toEqual({ code: 0, signal: null })
})

test('an exit and an end that were missed are found in the read', async () => {
  const chunk = (seq: number, text: string): object => ({ seq, stream: 'stdout', chunk: Buffer.from(text).toString('base64') })
  const fake = await fakeServer((frame) =>
    frame.method === 'process/read'
      ? { result: { chunks: [chunk(2, 'b'), chunk(4, 'c')], nextSeq: 6, exited: true, exitCode: 9, closed: true, failure: null } }
      : started(frame),
  )
  const far = await start(await connect(fake.url))
  fake.output(idOf(fake), 1, 'a')
  const read = all(far.stdout)
  await until(() => fake.frames.length >= 3, 'it runs')
  fake.cut()
  expect([await read, await far.exited]).toEqual(['abc', { code: 9, signal: null }])
})

test('writes go one after the other with ids of their own; one that a cut leaves unanswered is sent again with the same id', async () => {
  let held: Frame | null = null
  const fake = await fakeServer((frame) => {
    if (
      frame.method === 'process/write' &&
      fake.connections === 1 &&
      fake.frames.filter(({ method }) => method === 'process/write').length === 2
    ) {
      held = frame
      return null
    }
    return frame.method === 'process/read'
      ? { result: { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false, failure: null } }
      : started(frame)
  })
  const far = await start(await connect(fake.url))
  await far.write(Buffer.from('one'))
  const rest = [far.write(Buffer.from('two')), far.write(Buffer.from('three')), far.write(Buffer.from('four'))]
  await until(() => held !== null, 'the second write is there')
  fake.cut()
  await Promise.all(rest)
  const writes = fake.frames
    .filter(({ method }) => method === 'process/write')
    .map(({ params }) => [params.writeId, Buffer.from(params.chunk, 'base64').toString()])
  // what waits meanwhile goes together
  expect(writes).toEqual([
    ['1', 'one'],
    ['2', 'two'],
    ['2', 'two'],
    ['3', 'threefour'],
  ])
})

test('a large write is split; a process that still starts is asked again; closed stdin is an error', async () => {
  let starting = 2
  const sizes: number[] = []
  const fake = await fakeServer((frame) => {
    if (frame.method !== 'process/write') return started(frame)
    if (starting-- > 0) return { result: { status: 'starting' } }
    sizes.push(Buffer.from(frame.params.chunk, 'base64').length)
    return { result: { status: sizes.length > 3 ? 'stdinClosed' : 'accepted' } }
  })
  const far = await start(await connect(fake.url))
  await far.write(Buffer.alloc(2.5 * 1024 * 1024, 'x'))
  expect(sizes).toEqual([1024 * 1024, 1024 * 1024, 512 * 1024])
  await expect(far.write(Buffer.from('x'))).rejects.toThrow('stdin')
})

test('a hole that nothing fills ends the process, with the reason; so does an id that is not known any more', async () => {
  const reads: Answer[] = [
    { result: { chunks: [{ seq: 9, stream: 'stdout', chunk: '' }], nextSeq: 10, exited: true, exitCode: 0, closed: false, failure: null } },
    { error: { code: -32600, message: 'unknown process id x' } },
  ]
  for (const [index, words] of [
    [0, 'output was lost'],
    [1, 'does not know it any more'],
  ] as const) {
    const fake = await fakeServer((frame) => (frame.method === 'process/read' ? (reads[index] as Answer) : started(frame)))
    const far = await start(await connect(fake.url))
    fake.output(idOf(fake), 9, 'late')
    expect(await far.exited).toEqual({ code: null, signal: null })
    expect(far.trouble).toContain(words)
    expect(await all(far.stdout)).toBe('')
    await expect(far.write(Buffer.from('x'))).rejects.toThrow('ended')
  }
})

test('a session that is still attached is tried again; one that is unknown is lost, with everything that ran in it', async () => {
  const fake = await fakeServer((frame) =>
    frame.method === 'process/read'
      ? { result: { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false, failure: null } }
      : started(frame),
  )
  const executor = await connect(fake.url)
  const far = await start(executor)
  let refusals = 0
  fake.greet = (frame) =>
    frame.params.resumeSessionId !== null && ++refusals < 4 ? { error: { code: -32010, message: 'session is already attached' } } : null
  fake.cut()
  await until(() => refusals >= 4, 'it was tried again')
  await far.write(Buffer.from('still there'))
  expect(far.trouble).toBe(null)
  fake.greet = () => ({ error: { code: -32600, message: 'unknown session id session-1' } })
  const waiting = failure(executor.readFile?.('/x', { signal }) as Promise<unknown>)
  fake.cut()
  expect(await executor.lost).toEqual({ cause: expect.stringContaining('unknown session') })
  expect(await far.exited).toEqual({ code: null, signal: null })
  expect(far.trouble).toContain('unknown session')
  expect(await waiting).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE' })
  expect(await failure(start(executor))).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE' })
})

test.each([
  ['text', 'not json'],
  ['a list', '[]'],
  ['a complaint about our own message', '{"id":-1,"error":{"code":-32600,"message":"failed to parse"}}'],
  ['output without a place', '{"method":"process/output","params":{"processId":"tapline-1","chunk":"eA=="}}'],
  ['output that is no text', '{"method":"process/output","params":{"processId":"tapline-1","seq":1,"chunk":7}}'],
])('%s in the middle ends what ran there, and nothing waits for ever', async (_, message) => {
  const fake = await fakeServer(started)
  const far = await start(await connect(fake.url))
  fake.send('{"id":4711,"result":{}}')
  fake.send('{"method":"something/new","params":{"processId":"tapline-1"}}')
  fake.send(message)
  expect(await far.exited).toEqual({ code: null, signal: null })
  expect(far.trouble).not.toBe(null)
})

test('an answer without a result ends what ran there, and whoever waits is told', async () => {
  const fake = await fakeServer((frame, self) => {
    if (frame.method !== 'fs/readFile') return started(frame)
    self.send({ id: frame.id })
    return null
  })
  const executor = await connect(fake.url)
  const far = await start(executor)
  expect(await failure(executor.readFile?.('/x', { signal }) as Promise<unknown>)).toMatchObject({
    code: 'ENVIRONMENT_UNAVAILABLE',
    message: expect.stringContaining('without a result'),
  })
  expect(await far.exited).toEqual({ code: null, signal: null })
  expect(await executor.lost).toEqual({ cause: expect.stringContaining('without a result') })
})

describe('what is no exec-server, or none for us', () => {
  test('another HTTP server, one that is not there, one that answers initialize with nonsense', async () => {
    const http = await FakeExecServer.start((_, response) => response.writeHead(500).end())
    open.push(http)
    const cases: [string, string][] = [
      [http.url, 'environment vm cannot be reached'],
      ['ws://127.0.0.1:9', 'nothing listens'],
    ]
    const nonsense = await fakeServer()
    nonsense.greet = () => ({ result: { sessionId: 5 } })
    cases.push([nonsense.url, 'no session'])
    const refuses = await fakeServer()
    refuses.greet = () => ({ error: { code: -32602, message: 'unknown version' } })
    cases.push([refuses.url, 'unknown version'])
    for (const [url, words] of cases)
      expect(await failure(connect(url))).toMatchObject({ code: 'ENVIRONMENT_UNAVAILABLE', message: expect.stringContaining(words) })
  })

  test('one that takes the connection and says nothing is given up with the signal', async () => {
    const silent = await fakeServer()
    silent.greet = () => 'mute'
    const ended = new AbortController()
    const connecting = failure(connect(silent.url, {}, ended.signal))
    await until(() => silent.frames.length > 0, 'initialize is there')
    ended.abort(new Error('closed'))
    await connecting
    expect(silent.connections).toBe(1)
  })

  test('a token is sent as a bearer token; a variable that is not set is named', async () => {
    const fake = await fakeServer()
    process.env['FAKE_EXEC_TOKEN'] = 'token-value-1'
    try {
      await connect(fake.url, { bearerTokenEnvVar: 'FAKE_EXEC_TOKEN' })
    } finally {
      delete process.env['FAKE_EXEC_TOKEN']
    }
    expect(fake.headers[0]?.authorization).toBe('Bearer token-value-1')
    expect(await failure(connect(fake.url, { bearerTokenEnvVar: 'FAKE_EXEC_TOKEN' }))).toMatchObject({
      code: 'ENVIRONMENT_UNAVAILABLE',
      message: expect.stringContaining('FAKE_EXEC_TOKEN'),
    })
  })
})

test('a start that nobody waits for any more is ended when it comes', async () => {
  let answer: () => void = () => {}
  const fake = await fakeServer((frame, self) => {
    if (frame.method !== 'process/start') return started(frame)
    answer = () => self.send({ id: frame.id, result: { processId: frame.params.processId } })
    return null
  })
  const executor = await connect(fake.url)
  const ended = new AbortController()
  const starting = failure(start(executor, ended.signal))
  await until(() => idOf(fake) !== undefined, 'it is being started')
  ended.abort(new Error('too late'))
  expect((await starting).message).toBe('too late')
  answer()
  await until(() => fake.frames.some(({ method }) => method === 'process/terminate'), 'it is ended')
  expect(fake.frames.at(-1)).toMatchObject({ method: 'process/terminate', params: { processId: idOf(fake) } })
})

test('stdin cannot be closed; terminate interrupts, kill kills, and what an ended process has left is killed too', async () => {
  const fake = await fakeServer(started)
  const far = await start(await connect(fake.url))
  const id = idOf(fake)
  expect(await far.endStdin()).toBe(false)
  await far.kill('terminate')
  await far.kill('kill')
  fake.send({ method: 'process/exited', params: { processId: id, seq: 1, exitCode: 130 } })
  await far.exited
  await until(() => fake.frames.length >= 6, 'what it has left is killed')
  expect(fake.frames.slice(3).map(({ method, params }) => [method, params])).toEqual([
    ['process/signal', { processId: id, signal: 'interrupt' }],
    ['process/terminate', { processId: id }],
    ['process/terminate', { processId: id }],
  ])
})

test('paths of both kinds as URIs', () => {
  expect([
    fileUri('/a b/ü#?%.txt'),
    fileUri('C:\\Users\\A B\\x.txt'),
    fileUri('C:/x'),
    fileUri('\\\\server\\share\\x'),
    fileUri('/'),
  ]).toEqual(['file:///a%20b/%C3%BC%23%3F%25.txt', 'file:///C:/Users/A%20B/x.txt', 'file:///C:/x', 'file://server/share/x', 'file:///'])
})

test.each([
  [{}, 'url'],
  [{ url: 'http://x' }, 'ws://'],
  [{ url: 'ws://user:pw@x' }, 'bearerTokenEnvVar'],
  [{ url: 'ws://x', bearerTokenEnvVar: '${A}' }, 'bare name'],
  [{ url: 'ws://x', token: 'y' }, 'token'],
])('options %j are refused', (options, words) => {
  expect(() => readExecServerOptions(options as JsonObject)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(words) }),
  )
})
