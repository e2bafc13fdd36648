/** Transcripts of the real exec-server, answered to our client as they were recorded; and what the rows ask of every client. */
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import type { Executor, StdioProcess } from '../../../src/connections/executor.ts'
import { execServerExecutor } from '../../../src/connections/executors/exec-server/exec-server.ts'
import { until } from '../fixtures/pool.ts'
import type { Answer, Frame } from './fixtures/fake-exec-server.ts'
import { FakeExecServer } from './fixtures/fake-exec-server.ts'

interface Row {
  readonly id: string
  readonly frames: readonly (readonly [string, any])[]
}
const { cases } = JSON.parse(readFileSync(new URL('../../vectors/exec-server.json', import.meta.url), 'utf8')) as { readonly cases: Row[] }
const CWD = '/there'
const { signal } = new AbortController()
const open: (() => Promise<void>)[] = []
/** of every test, each in its order: what the client sent */
const sent: Frame[][] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** The recorded frames of a row, with the folder of this test. */
const framesOf = (id: string): Row['frames'] =>
  JSON.parse(JSON.stringify(cases.find((one) => one.id === id)?.frames).replaceAll('{cwd}', `file://${CWD}`))
/** What the row answers to a request, and what it says until the next one; `pick` finds the request. What it does not have is answered with nothing in it. */
function recorded(id: string, pick: (message: any) => boolean): { readonly answer: Answer; readonly notices: readonly any[] } {
  const frames = framesOf(id)
  const at = frames.findIndex(([direction, message]) => direction === '>' && pick(message))
  if (at < 0) return { answer: { result: {} }, notices: [] }
  const end = frames.findIndex(([direction], index) => index > at && direction === '>')
  const said = frames.slice(at + 1, end < 0 ? undefined : end).map(([, message]) => message)
  const { id: _, ...answer } = said.find((message) => message.id !== undefined)
  return { answer, notices: said.filter((message) => message.id === undefined) }
}

async function connect(answer: FakeExecServer['answer']): Promise<{ readonly fake: FakeExecServer; readonly executor: Executor }> {
  const fake = await FakeExecServer.start()
  fake.answer = answer
  const executor = await execServerExecutor.connect({
    signal,
    environmentId: 'vm',
    options: { url: fake.url },
    log: () => {},
    watch: { add() {}, delete() {} },
  })
  sent.push(fake.frames)
  open.push(async () => {
    await executor.dispose()
    await fake[Symbol.asyncDispose]()
  })
  return { fake, executor }
}
const start = (executor: Executor): Promise<StdioProcess> =>
  executor.startStdio({ command: 'server', args: [], cwd: CWD, env: {}, label: 'files' }, { signal })
/** Sends notices of a row about the process of this run. */
function tell(fake: FakeExecServer, notices: readonly any[], processId: string, from = 0): void {
  for (const { method, params } of notices) fake.send({ method, params: { ...params, processId, seq: params.seq + from } })
}
async function all(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('writes: what is written comes back, and an interrupted process says 130', async () => {
  const { executor } = await connect((frame, fake) => {
    const { processId } = frame.params
    if (frame.method === 'process/start') return { result: { processId, sandboxType: 'none' } }
    const { answer, notices } = recorded(
      'writes',
      frame.method === 'process/write'
        ? ({ method, params }) => method === frame.method && params.chunk === frame.params.chunk
        : ({ method }) => method === frame.method,
    )
    tell(fake, notices, processId)
    return answer
  })
  const far = await start(executor)
  await far.write(Buffer.from('hello\n'))
  await far.write(Buffer.from('x\n'))
  await far.kill('terminate')
  expect([await all(far.stdout), await far.exited]).toEqual(['hello\nx\n', { code: 130, signal: null }])
})

test('output-before-write-response: the output counts, and the write ends', async () => {
  const { executor } = await connect((frame, fake) => {
    if (frame.method === 'process/start') return { result: { processId: frame.params.processId, sandboxType: 'none' } }
    if (frame.method !== 'process/write') return { result: {} }
    const { answer, notices } = recorded('output-before-write-response', ({ method }) => method === 'process/write')
    tell(fake, notices, frame.params.processId)
    return answer
  })
  const far = await start(executor)
  await far.write(Buffer.from('yo\n'))
  const { value } = await far.stdout[Symbol.asyncIterator]().next()
  expect(Buffer.from(value as Uint8Array).toString()).toBe('24 80\r\n')
})

test('no-stdin-and-terminate: a write is refused, and a killed process says 137', async () => {
  const { executor } = await connect((frame, fake) => {
    const { answer, notices } = recorded('no-stdin-and-terminate', ({ method }) => method === frame.method)
    tell(fake, notices, frame.params.processId)
    return frame.method === 'process/start' ? { result: { processId: frame.params.processId, sandboxType: 'none' } } : answer
  })
  const far = await start(executor)
  await expect(far.write(Buffer.from('x'))).rejects.toThrow('stdin')
  await far.kill('kill')
  expect(await far.exited).toEqual({ code: 137, signal: null })
})

test('errors: starts that are refused say what was not found; a process that is not known takes no input', async () => {
  let row: (message: any) => boolean
  const { executor } = await connect((frame) =>
    frame.method === 'process/start' && row === undefined
      ? { result: { processId: frame.params.processId, sandboxType: 'none' } }
      : recorded('errors', row ?? (({ method, params }) => method === frame.method && params.writeId !== undefined)).answer,
  )
  const far = await start(executor)
  await expect(far.write(Buffer.from('x'))).rejects.toMatchObject({ message: expect.stringContaining('process') })
  for (const [processId, words] of [
    ['a', 'argv must not be empty'],
    ['b', 'command server or cwd /there was not found there'],
    ['c', 'command server or cwd /there was not found there'],
    ['d', 'invalid URI'],
  ]) {
    row = ({ params }) => params?.processId === processId
    await expect(start(executor)).rejects.toMatchObject({ message: expect.stringContaining(words as string) })
  }
})

test('files: content, folders, links, and what is not there', async () => {
  const { executor } = await connect(
    (frame) => recorded('files', ({ method, params }) => method === frame.method && params.path === frame.params.path).answer,
  )
  expect(Buffer.from((await executor.readFile?.(`${CWD}/a.txt`, { signal })) as Uint8Array).toString()).toBe('hello world')
  expect(await executor.listDirectory?.(CWD, { signal })).toEqual([
    { name: 'a.txt', kind: 'file' },
    { name: 'd', kind: 'directory' },
  ])
  expect(await executor.realPath?.(`${CWD}/d/../a.txt`, { signal })).toBe(`${CWD}/a.txt`)
  await expect(executor.readFile?.(`${CWD}/nope`, { signal })).rejects.toMatchObject({
    code: 'ENVIRONMENT_FILE_FAILED',
    message: expect.stringContaining('No such file'),
  })
})

test('http: a redirect that is not followed, a stream in its parts, and what cannot be asked', async () => {
  const { executor } = await connect((frame, fake) => {
    if (frame.method !== 'http/request') return { result: {} }
    const { answer, notices } = recorded('http', ({ params }) => params.url === frame.params.url.replace(':4000/', ':{port}/'))
    const { requestId } = frame.params
    if (answer !== null && 'result' in answer && notices.length === 0)
      setImmediate(() =>
        fake.send({ method: 'http/request/bodyDelta', params: { requestId, seq: 1, deltaBase64: '', done: true, error: null } }),
      )
    setImmediate(() => notices.forEach(({ method, params }) => fake.send({ method, params: { ...params, requestId } })))
    return answer
  })
  const fetch = (url: string): Promise<Response> => executor.fetch?.(new URL(url), { redirect: 'manual' }) as Promise<Response>
  const moved = await fetch('http://127.0.0.1:4000/redir')
  expect([moved.status, moved.headers.get('location')]).toEqual([302, '/ok'])
  const slow = await fetch('http://127.0.0.1:4000/slow')
  expect([slow.headers.get('content-type'), await slow.text()]).toEqual(['text/event-stream', 'data: 0\n\ndata: 1\n\n'])
  await expect(fetch('http://127.0.0.1:9/')).rejects.toThrow(TypeError)
  await expect(fetch('ftp://x/')).rejects.toThrow(TypeError)
})

const row = (id: string): any => cases.find((one) => one.id === id)

test('chunks: pieces that are cut within a character are joined', async () => {
  const text = Buffer.from('\u{1F600}€'.repeat(2000).slice(0, 12_000)).subarray(0, 12_000)
  const [first, second] = row('chunks').chunks as [number, number]
  expect(first + second).toBe(text.length)
  const { fake, executor } = await connect(({ method, params }) =>
    method === 'process/start' ? { result: { processId: params.processId, sandboxType: 'none' } } : { result: {} },
  )
  const far = await start(executor)
  const { processId } = fake.frames.find(({ method }) => method === 'process/start')!.params
  const output = (seq: number, chunk: Buffer) => ({
    method: 'process/output',
    params: { seq, stream: 'stdout', chunk: chunk.toString('base64') },
  })
  const ends = ['process/exited', 'process/closed'].map((method, index) => ({
    method,
    params: { seq: 3 + index, exitCode: 0, sandboxDenied: false },
  }))
  tell(fake, [output(1, text.subarray(0, first)), output(2, text.subarray(first)), ...ends], processId)
  expect(await all(far.stdout)).toBe(text.toString())
})

test('limits: no frame of ours is larger than the real one takes', async () => {
  const { fake, executor } = await connect(({ method, params }) =>
    method === 'process/start'
      ? { result: { processId: params.processId, sandboxType: 'none' } }
      : { result: method === 'process/write' ? { status: 'accepted' } : {} },
  )
  const far = await start(executor)
  const size = 20 * 1024 * 1024
  await far.write(Buffer.alloc(size, 'x'))
  const writes = fake.frames.filter(({ method }) => method === 'process/write')
  const bytes = writes.map(({ params }) => Buffer.from(params.chunk, 'base64').length)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBe(size)
  expect(row('limits').frameOk).toBe('8 MiB')
  expect(Math.max(...writes.map((frame) => JSON.stringify(frame).length))).toBeLessThanOrEqual(8 * 1024 * 1024)
})

test('resume-refused: a session that is attached is asked for again, an unknown one is given up', async () => {
  const refusals = framesOf('resume-refused').flatMap(([direction, message]) => (direction === '<' && message.error ? [message.error] : []))
  expect(refusals.map(({ code }) => code)).toEqual([-32010, -32600])
  const { fake, executor } = await connect(({ method, params }) =>
    method === 'process/start' ? { result: { processId: params.processId, sandboxType: 'none' } } : { result: {} },
  )
  const far = await start(executor)
  let asked = 0
  fake.greet = ({ params }) => (params.resumeSessionId === null ? null : { error: asked++ < 2 ? refusals[0] : refusals[1] })
  fake.cut()
  expect(await executor.lost).toEqual({ cause: expect.stringContaining('unknown session') })
  expect(asked).toBe(3)
  expect(await far.exited).toEqual({ code: null, signal: null })
})

test('handshake, envelope, unknown-notification, stray-response, head-of-line: what the rows ask of a client, in all that was sent here', async () => {
  const { fake, executor } = await connect((frame) =>
    frame.method === 'process/start'
      ? { result: { processId: frame.params.processId, sandboxType: 'none' } }
      : frame.method === 'process/read'
        ? { result: { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false, failure: null } }
        : { result: { status: 'accepted' } },
  )
  await start(executor)
  fake.cut()
  await until(() => fake.frames.some(({ method }) => method === 'process/read'), 'it is taken up again')
  expect(sent).not.toEqual([])
  for (const frames of sent) {
    expect(frames.slice(0, 2).map(({ method }) => method)).toEqual(['initialize', 'initialized'])
    const odd = (isRight: (frame: Frame) => boolean): Frame[] => frames.filter((frame) => !isRight(frame))
    expect(odd((frame) => typeof frame.method === 'string' && !('jsonrpc' in frame))).toEqual([])
    expect(odd(({ method, id }) => (method === 'initialized' ? id === undefined : Number.isInteger(id)))).toEqual([])
    // a read that waits would hold up everything behind it
    expect(odd(({ method, params }) => method !== 'process/read' || params.waitMs === 0)).toEqual([])
    expect(odd(({ method, params }) => method !== 'process/write' || params.writeId !== '')).toEqual([])
  }
})
