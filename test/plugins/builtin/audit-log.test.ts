import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { digest } from '../../../src/json.ts'
import { AuditFile } from '../../../src/plugins/builtin/audit-file.ts'
import { MOST_WAITING_BYTES } from '../../../src/plugins/builtin/audit-sink.ts'
import { auditLog, type AuditLogOptions, toolList } from '../../../src/plugins/builtin/index.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'
import { threeEnds } from './kit.ts'

const ROOT = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-audit-'))
afterAll(() => fs.rmSync(ROOT, { recursive: true, force: true }))
let count = 0
const freshFolder = (): string => fs.mkdtempSync(path.join(ROOT, `${++count}-`))

interface Line {
  readonly [key: string]: unknown
}
const linesOf = (...files: string[]): Line[] =>
  files.flatMap((file) =>
    fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line),
  )

const open = (options: AuditLogOptions, more: TestRuntimeOptions = {}): Promise<TestRuntime> =>
  openTestRuntime({
    environments: { e: { s: threeEnds } },
    hooks: [auditLog(options), toolList({ deny: ['drop'] })],
    session: { id: 'the-session' },
    ...more,
  })

test('one line for every end of a call, readable for its owner alone', async () => {
  const file = path.join(freshFolder(), 'audit.jsonl')
  const t = await open({ file })
  await t.callTool({ server: 's', tool: 'run', arguments: { b: 1, a: 'secret text' } }, { callId: 'c1' })
  await t.callTool({ server: 's', tool: 'fails' })
  await t.callTool({ server: 's', tool: 'drop' })
  await t.callTool({ server: 'nobody', tool: 'run' })
  await t.session.readResource({ server: 's', uri: 'a:b' })
  await t.close()
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  const lines = linesOf(file)
  const owner = { name: 's', environmentId: 'e', installationId: null }
  expect(lines[0]).toEqual({
    v: 1,
    time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    session: 'the-session',
    call: 'c1',
    method: 'tools/call',
    owner,
    tool: 'run',
    outcome: 'completed',
    code: 'OK',
    sent: 'yes',
    isError: false,
    durationMs: expect.any(Number) as number,
    approval: expect.any(String) as string,
    taps: [],
    argumentsDigest: digest({ a: 'secret text', b: 1 }),
  })
  expect(lines.slice(1)).toMatchObject([
    { tool: 'fails', outcome: 'completed', isError: true },
    {
      tool: 'drop',
      outcome: 'refused',
      by: 'tap',
      sent: 'no',
      reason: 'drop is on the deny list of s (environment e)',
      taps: [{ hook: 'approve', plugin: 'tool-list', tap: 'lists', decision: 'deny' }],
    },
    { owner: null, outcome: 'invalid_request', code: 'UNKNOWN_SERVER', sent: 'no' },
    { method: 'resources/read', uri: 'a:b', outcome: 'completed' },
  ])
  expect(fs.readFileSync(file, 'utf8')).not.toContain('secret text')
})

test('arguments: whole or not at all where the host says so', async () => {
  const folder = freshFolder()
  for (const kept of ['full', 'none'] as const) {
    await using t = await open({ file: path.join(folder, kept), arguments: kept })
    await t.callTool({ server: 's', tool: 'run', arguments: { a: 1 } })
  }
  expect(linesOf(path.join(folder, 'full'))).toMatchObject([{ arguments: { a: 1 } }])
  expect(Object.keys(linesOf(path.join(folder, 'none'))[0] ?? {}).filter((key) => key.startsWith('arguments'))).toEqual([])
})

test('a call that is under way when the session closes is written down', async () => {
  const file = path.join(freshFolder(), 'audit.jsonl')
  const hangs = scriptedServer({ tools: { hang: { run: () => new Promise<string>(() => {}) } } })
  const t = await open({ file }, { environments: { e: { hangs } } })
  const call = t.callTool({ server: 'hangs', tool: 'hang' })
  await t.session.listTools()
  await t.close()
  expect(await call).toMatchObject({ outcome: 'cancelled' })
  expect(linesOf(file)).toMatchObject([{ outcome: 'cancelled' }])
})

test('two processes append to one file, which is turned over meanwhile: every line whole, and none lost', async () => {
  const folder = freshFolder()
  const file = path.join(folder, 'audit.jsonl')
  const fixture = path.join(import.meta.dirname, 'fixtures', 'auditor.mjs')
  const run = (id: string): Promise<unknown> =>
    promisify(execFile)(process.execPath, [fixture, file, id, '300', '20000'], { timeout: 60_000 })
  await Promise.all([run('one'), run('two')])
  const files = fs.readdirSync(folder)
  expect(files.length).toBeGreaterThan(2)
  const lines = linesOf(...files.map((name) => path.join(folder, name)))
  const seen = lines.map(({ session, arguments: args }) => `${session as string} ${(args as { n: number }).n}`)
  const wanted = ['one', 'two'].flatMap((id) => Array.from({ length: 300 }, (_, n) => `${id} ${n}`))
  expect(seen.sort()).toEqual(wanted.sort())
  for (const name of files) expect(fs.statSync(path.join(folder, name)).mode & 0o777).toBe(0o600)
})

test('keep: so many of the old files stay, and files that only look alike are left alone', async () => {
  const folder = freshFolder()
  const file = path.join(folder, 'audit.jsonl')
  fs.writeFileSync(`${file}.bak`, 'mine')
  await using t = await open({ file, maxBytes: 1024, keep: 2, arguments: 'full' })
  for (let n = 0; n < 12; n++) {
    await t.callTool({ server: 's', tool: 'run', arguments: { n, filler: 'x'.repeat(1200) } })
    // each line is a batch of its own
    await expect.poll(() => fs.readFileSync(file, 'utf8').includes(`"n":${n},`)).toBe(true)
  }
  expect(fs.readdirSync(folder).sort()).toEqual([
    'audit.jsonl',
    expect.stringMatching(/Z-\d+-[\da-f]{8}$/),
    expect.stringMatching(/Z-\d+-[\da-f]{8}$/),
    'audit.jsonl.bak',
  ])
})

test('an old file that cannot be taken away costs no line', async () => {
  const folder = freshFolder()
  const file = path.join(folder, 'audit.jsonl')
  // a folder is not removed like a file
  fs.mkdirSync(`${file}.20200101T000000000Z-1-1`)
  fs.writeFileSync(`${file}.20200101T000000001Z-1-2`, '')
  const sink = new AuditFile(file, { maxBytes: 1, keep: 1 })
  for (const n of [1, 2]) await sink.write(`{"n":${n}}\n`)
  await sink.close()
  expect(linesOf(file)).toEqual([{ n: 2 }])
  expect(fs.readdirSync(folder)).not.toContain('audit.jsonl.20200101T000000001Z-1-2')
})

test('two sessions of a process that turn the file over in one millisecond overwrite nothing', async () => {
  const folder = freshFolder()
  const file = path.join(folder, 'audit.jsonl')
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const sinks = [1, 2].map(() => new AuditFile(file, { maxBytes: 1, keep: null }))
    for (let n = 0; n < 8; n++) await sinks[n % 4 < 2 ? 0 : 1]?.write(`{"n":${n}}\n`)
    for (const sink of sinks) await sink.close()
  } finally {
    vi.useRealTimers()
  }
  const lines = linesOf(...fs.readdirSync(folder).map((name) => path.join(folder, name)))
  expect(lines.map(({ n }) => String(n)).sort()).toEqual('01234567'.split(''))
})

test('what is lost while a batch is being written is told once, and is a gap of its own in the file', async () => {
  const file = path.join(freshFolder(), 'audit.jsonl')
  const sink = new AuditFile(file, { maxBytes: null, keep: null })
  const probe = await fs.promises.open(file, 'a')
  const handles = Object.getPrototypeOf(probe) as fs.promises.FileHandle
  await probe.close()
  const more: Promise<PromiseSettledResult<void>[]>[] = []
  const real = handles.write
  const spy = vi.spyOn(handles, 'write').mockImplementationOnce(function (this: fs.promises.FileHandle, ...args: unknown[]) {
    const big = sink.write(`${JSON.stringify({ big: 'x'.repeat(MOST_WAITING_BYTES) })}\n`)
    more.push(Promise.allSettled([big, ...[1, 2].map((n) => sink.write(`{"n":${n}}\n`))]))
    return Reflect.apply(real, this, args) as never
  })
  try {
    await sink.write('{"n":0}\n')
  } finally {
    spy.mockRestore()
  }
  expect((await more[0])?.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await expect(sink.close()).rejects.toThrow('has lost 2 lines')
  expect(linesOf(file)).toMatchObject([{ n: 0 }, { v: 1, lost: 2 }, { big: expect.any(String) as string }])
})

test('a file that was moved away is made again', async () => {
  const file = path.join(freshFolder(), 'audit.jsonl')
  await using t = await open({ file })
  await t.callTool({ server: 's', tool: 'run' })
  await expect.poll(() => linesOf(file).length).toBe(1)
  fs.renameSync(file, `${file}.1`)
  await t.callTool({ server: 's', tool: 'run' })
  await expect.poll(() => fs.existsSync(file) && linesOf(file).length).toBe(1)
  expect(linesOf(`${file}.1`)).toHaveLength(1)
})

test('a file that cannot be written any more fails no call; the host is told, and the gap is in the file', async () => {
  const folder = freshFolder()
  const file = path.join(folder, 'logs', 'audit.jsonl')
  fs.mkdirSync(path.dirname(file))
  const t = await open({ file })
  fs.rmSync(path.dirname(file), { recursive: true })
  expect(await t.callTool({ server: 's', tool: 'run' })).toMatchObject({ outcome: 'completed' })
  const told = (): string[] => t.session.diagnostics.filter(({ code }) => code === 'observer_failed').map(({ message }) => message)
  await expect.poll(told).toEqual([expect.stringContaining('lines of the audit log')])
  fs.mkdirSync(path.dirname(file))
  await t.callTool({ server: 's', tool: 'run' })
  await t.close()
  expect(linesOf(file)).toMatchObject([{ v: 1, lost: 1 }, { outcome: 'completed' }])
})

test('a session does not open on a file that cannot be written', async () => {
  const folder = freshFolder()
  execFileSync('mkfifo', [path.join(folder, 'pipe')])
  for (const file of [path.join(folder, 'none', 'a'), folder, path.join(folder, 'pipe')])
    await expect(open({ file })).rejects.toMatchObject({
      code: 'HOOK_BAD_PLUGIN',
      message: expect.stringContaining(file) as string,
      remedy: expect.stringMatching(/^Correct the path/) as string,
    })
})

test('a function gets each line, and is waited for when the session closes', async () => {
  const lines: string[] = []
  const written: Promise<void>[] = []
  const t = await open({
    write: (line) => {
      const writing = new Promise<void>((resolve) => setImmediate(() => resolve(void lines.push(line))))
      written.push(writing)
      return writing
    },
  })
  await t.callTool({ server: 's', tool: 'run' })
  await t.close()
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ tool: 'run' }])
  expect(lines[0]?.endsWith('\n')).toBe(true)
})

test('a function that throws reaches no call', async () => {
  await using t = await open({
    write: () => {
      throw new Error('full')
    },
  })
  expect(await t.callTool({ server: 's', tool: 'run' })).toMatchObject({ outcome: 'completed' })
  await expect.poll(() => t.session.diagnostics.filter(({ code }) => code === 'observer_failed').length).toBe(1)
})

test('a stream of the host: written to, not ended; its error ends no process', async () => {
  const texts: string[] = []
  let isBroken = false
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      if (!isBroken) texts.push(chunk)
      done(isBroken ? new Error('gone') : null)
    },
  })
  const t = await open({ stream })
  await t.callTool({ server: 's', tool: 'run' })
  await expect.poll(() => texts.length).toBe(1)
  expect(stream.writableEnded).toBe(false)
  isBroken = true
  for (let n = 0; n < 3; n++) expect(await t.callTool({ server: 's', tool: 'run' })).toMatchObject({ outcome: 'completed' })
  await expect.poll(() => t.session.diagnostics.filter(({ code }) => code === 'observer_failed').length).toBe(1)
  await t.close()
  await expect.poll(() => stream.listenerCount('error')).toBe(0)
})

test.each<[unknown, string]>([
  [{}, 'must have one of file, write, stream'],
  [{ file: 'a', write() {} }, 'must have one of'],
  [{ file: '' }, 'file: must be a text'],
  [{ write: 'a' }, 'write: must be a function'],
  [{ stream: {} }, 'stream: must be an object with write()'],
  [{ file: 'a', maxBytes: 10 }, 'maxBytes: must be a whole number from 1024'],
  [{ write() {}, maxBytes: 2000 }, 'maxBytes: needs file'],
  [{ file: 'a', keep: 2 }, 'keep: needs maxBytes'],
  [{ file: 'a', arguments: true }, 'arguments: must be one of'],
])('%j is refused: %s', (options, message) => {
  expect(() => auditLog(options as AuditLogOptions)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining(message) as string }),
  )
})

beforeAll(() => {
  if (!fs.existsSync(path.join(import.meta.dirname, '..', '..', '..', 'dist', 'plugins', 'builtin', 'index.js')))
    throw new Error('dist is missing: run `npm run build` first')
})
