/** The file that records are appended to: by several processes, over the end of another one, and where it cannot be written. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openTestRuntime } from '../../src/testing/index.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import type { Diagnostic } from '../../src/servers/diagnostic.ts'
import { TraceFile } from '../../src/trace/trace-file.ts'
import { callsIn, Folder, recordsIn } from './kit.ts'

const BUILT = pathToFileURL(path.join(import.meta.dirname, '../../dist/testing/index.js')).href

const writing = (file: string): Promise<TestRuntime> =>
  openTestRuntime({
    threadWide: { db: { tools: { echo: {} } } },
    policies: { db: { defaultToolsApprovalMode: 'approve' } },
    trace: { file },
  })
const call = async (runtime: TestRuntime): Promise<void> =>
  expect((await runtime.callTool({ server: 'db', tool: 'echo' })).outcome).toBe('completed')

/** A file with what it reports. */
function traceFile(file: string): { readonly it: TraceFile; readonly reported: Diagnostic[] } {
  const reported: Diagnostic[] = []
  return { it: new TraceFile(file, (diagnostic) => void reported.push(diagnostic)), reported }
}
const line = (n: number, length = 0): string => JSON.stringify({ n, filler: 'x'.repeat(length) })
const numbers = (file: string): number[] => recordsIn(file).map((one) => (one as unknown as { n: number }).n)

test('a new file is for its owner alone; one that is there keeps its permissions and what stands in it', async () => {
  using folder = new Folder()
  const [fresh, old] = [folder.file('fresh'), folder.file('old')]
  fs.writeFileSync(old, `${line(0)}\n`, { mode: 0o644 })
  for (const file of [fresh, old]) {
    const { it, reported } = traceFile(file)
    it.append(line(1))
    await it.close()
    expect(reported).toEqual([])
  }
  expect([fresh, old].map((file) => (fs.statSync(file).mode & 0o777).toString(8))).toEqual(['600', '644'])
  expect(numbers(old)).toEqual([0, 1])
})

test('three processes at once: every line is whole, and every call is there', { timeout: 60_000 }, async () => {
  using folder = new Folder()
  const file = folder.file()
  const script = `
    const { openTestRuntime } = await import(${JSON.stringify(BUILT)})
    const runtime = await openTestRuntime({ threadWide: { db: { tools: { echo: {} } } }, policies: { db: { defaultToolsApprovalMode: 'approve' } }, trace: { file: process.argv[1], arguments: true } })
    for (let i = 0; i < 40; i++) await Promise.all(Array.from({ length: 10 }, (_, j) => runtime.callTool({ server: 'db', tool: 'echo', arguments: { text: 'x'.repeat(i * j * 20) } })))
    await runtime.close()`
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, file], { stdio: 'inherit' }),
  )
  expect(await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))).toEqual([0, 0, 0])
  const records = recordsIn(file)
  expect(callsIn(records)).toHaveLength(1200)
  const sessions = records.filter((one) => one.type === 'session')
  expect(sessions).toHaveLength(3)
  for (const { session } of sessions) {
    const own = records.filter((one) => one.type !== 'gap' && one.session === session)
    expect([own[0]?.type, new Set(callsIn(own).map(({ id }) => id)).size]).toEqual(['session', 400])
  }
})

test('a line that another process left half written stays alone', async () => {
  using folder = new Folder()
  fs.writeFileSync(folder.file(), `${line(1)}\n{"n":2,"fil`)
  const { it } = traceFile(folder.file())
  for (const n of [3, 4]) it.append(line(n))
  await it.close()
  expect(fs.readFileSync(folder.file(), 'utf8').split('\n')).toEqual([line(1), '{"n":2,"fil', line(3), line(4), ''])
})

const full = fs.existsSync('/dev/full') ? ['/dev/full'] : []

test.each([...full, '.', 'missing/t.jsonl'])('%s: one diagnostic, and calls are what they are', async (name) => {
  using folder = new Folder()
  await using runtime = await writing(path.resolve(folder.path, name))
  for (let i = 0; i < 5; i++) await call(runtime)
  await runtime.close()
  expect(runtime.diagnostics.filter(({ code }) => code.startsWith('trace_'))).toMatchObject([
    { code: 'trace_not_written', severity: 'warning', message: expect.stringContaining('cannot be written') },
  ])
})

test('once the file can be written again, a gap says what is missing', async () => {
  using folder = new Folder()
  const file = folder.file('later/t.jsonl')
  const { it, reported } = traceFile(file)
  for (const n of [1, 2]) {
    it.append(line(n))
    await it.flush()
  }
  fs.mkdirSync(path.dirname(file))
  it.append(line(3))
  await it.flush()
  it.append(line(4))
  await it.close()
  expect(reported).toHaveLength(1)
  expect(recordsIn(file)).toEqual([{ v: 1, type: 'gap', time: expect.any(String), records: 2 }, JSON.parse(line(3)), JSON.parse(line(4))])
})

test('a pipe that nobody reads is told at once; one that is read slowly loses nothing that fits', { timeout: 30_000 }, async () => {
  using folder = new Folder()
  const pipe = folder.file('pipe')
  if (spawnSync('mkfifo', [pipe]).status !== 0) return
  const alone = traceFile(pipe)
  alone.it.append(line(1))
  await alone.it.close()
  expect(alone.reported.map(({ code }) => code)).toEqual(['trace_not_written'])

  const reader = fs.openSync(pipe, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  const { it, reported } = traceFile(pipe)
  for (let n = 0; n < 300; n++) it.append(line(n, 1000))
  const closing = it.close()
  let text = ''
  const buffer = Buffer.alloc(1 << 16)
  while (text.split('\n').length <= 300) {
    try {
      text += buffer.toString('utf8', 0, fs.readSync(reader, buffer))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  await closing
  fs.closeSync(reader)
  expect(text).toBe(Array.from({ length: 300 }, (_, n) => `${line(n, 1000)}\n`).join(''))
  expect(reported).toEqual([])
})

test('what waits is bounded: the rest is counted, told once, and the calls that wait are all there', async () => {
  using folder = new Folder()
  const { it, reported } = traceFile(folder.file())
  for (let n = 0; n < 20; n++) it.append(line(n, 1024 * 1024))
  await it.flush()
  it.append(line(20))
  await it.close()
  expect(reported.map(({ code }) => code)).toEqual(['trace_records_lost'])
  const records = recordsIn(folder.file())
  const gap = records.find((one) => one.type === 'gap')
  const kept = numbers(folder.file()).filter((n) => n !== undefined)
  expect(kept.slice(0, 3)).toEqual([0, 1, 2])
  expect(kept.at(-1)).toBe(20)
  expect(kept.length + (gap?.records ?? 0)).toBe(21)
})

test.skipIf(process.platform !== 'linux')('the last session that writes to a file closes it, and the next opens it again', async () => {
  using folder = new Folder()
  const open = (): boolean =>
    fs.readdirSync('/proc/self/fd').some((fd) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`) === folder.file()
      } catch {
        return false
      }
    })
  await using runtime = await writing(folder.file())
  const second = await runtime.openSession()
  await call(runtime)
  await second.callTool({ server: 'db', tool: 'echo' })
  await runtime.session.close()
  // its record comes after the outcome
  await expect.poll(open).toBe(true)
  await second.close()
  expect(open()).toBe(false)
  const third = await runtime.openSession()
  await third.callTool({ server: 'db', tool: 'echo' })
  await third.close()
  expect(open()).toBe(false)
  expect(callsIn(recordsIn(folder.file()))).toHaveLength(3)
})
