/** Records of calls with taps in shadow: whole, and never before these have ended. */
import { expect, test } from 'vitest'
import type { HookPlugin, TraceRecord } from '../../src/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { callsIn, Folder, misfit, recordsIn } from './kit.ts'

interface Released {
  readonly plugin: HookPlugin
  readonly release: () => void
}

/** A plugin whose tap waits until it is released. */
function waiting(timeoutMs: number): Released {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const plugin: HookPlugin = {
    name: 'waiting',
    apply: ({ hooks }) => hooks.approve.tapPromise({ name: 'waits', timeoutMs }, () => released),
  }
  return { plugin, release }
}

const open = (plugin: HookPlugin, records: TraceRecord[], file?: string): Promise<TestRuntime> =>
  openTestRuntime({
    threadWide: { db: { tools: { echo: {} } } },
    policies: { db: { defaultToolsApprovalMode: 'approve' } },
    hooks: [{ plugin, mode: 'shadow' }],
    trace: { sink: (record) => void records.push(record), ...(file !== undefined && { file }) },
  })
const ECHO = { server: 'db', tool: 'echo' }

test('the outcome does not wait for a tap in shadow, and the record does', async () => {
  const records: TraceRecord[] = []
  const { plugin, release } = waiting(10_000)
  await using runtime = await open(plugin, records)
  expect((await runtime.callTool(ECHO)).outcome).toBe('completed')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(records).toEqual([])
  release()
  await expect.poll(() => records.map(({ type }) => type)).toEqual(['session', 'call'])
  expect(callsIn(records)[0]?.trace).toMatchObject({
    taps: [{ tap: 'waits', mode: 'shadow', decision: 'none', inEffect: false }],
    shadow: [{ plugin: 'waiting', wouldHave: [] }],
  })
  expect(records.map(misfit)).toEqual([null, null])
})

test('a session that closes meanwhile has its records all the same, in sink and file', async () => {
  using folder = new Folder()
  const records: TraceRecord[] = []
  await using runtime = await open(waiting(10_000).plugin, records, folder.file())
  await runtime.callTool(ECHO)
  await runtime.session.close()
  expect(callsIn(records)).toMatchObject([{ outcome: 'completed', trace: { taps: [{ tap: 'waits', decision: 'skipped' }] } }])
  expect(callsIn(recordsIn(folder.file()))).toHaveLength(1)
})

test('a runtime that closes meanwhile, too', async () => {
  using folder = new Folder()
  const runtime = await open(waiting(10_000).plugin, [], folder.file())
  await Promise.all([1, 2, 3].map(() => runtime.callTool(ECHO)))
  await runtime.close()
  expect(callsIn(recordsIn(folder.file()))).toHaveLength(3)
})

test('a runtime that closes while its session does waits for the records of that', async () => {
  using folder = new Folder()
  const runtime = await open(waiting(10_000).plugin, [], folder.file())
  await runtime.callTool(ECHO)
  const closing = runtime.session.close()
  await runtime.close()
  expect(callsIn(recordsIn(folder.file()))).toHaveLength(1)
  await closing
})
