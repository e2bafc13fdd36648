// Attacks on approvals for always: what happens to the store and to the definitions between a question and its answer.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { ApprovalAnswer } from '../../src/runtime/types.ts'
import { fileStore } from '../../src/storage/file-store.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { callOnce, launchRuntime } from './launches.ts'

const ALWAYS: ApprovalAnswer = { action: 'accept', remember: 'always' }
const server = { tools: { drop: { description: 'Drops.' }, other: {} } }
const config = (env: Record<string, string> = {}): Config => ({ mcpServers: { db: { command: 'db', env } } })
const DROP = { server: 'db', tool: 'drop' } as const

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapline-approvals-'))
  file = join(folder, 'approvals.json')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** One call whose question is answered with always after `meanwhile`. */
async function answered(store: Store, meanwhile: () => Promise<unknown> = async () => {}): Promise<{ ran: boolean; codes: string[] }> {
  await using runtime = await launchRuntime(store, server, config())
  const session = await runtime.openSession({
    approver: async () => {
      await meanwhile()
      return ALWAYS
    },
  })
  const outcome = await session.callTool({ ...DROP, arguments: {} })
  return { ran: outcome.outcome === 'completed', codes: session.diagnostics.map(({ code }) => code) }
}
async function remembered(store: Store, more: Parameters<typeof config>[0] = {}): Promise<boolean> {
  await using runtime = await launchRuntime(store, server, config(more))
  return (await callOnce(runtime, DROP)).asked.length === 0
}

test.each<[string, string]>([
  ['cut in the middle', '{"version":1,"entries":[{"key":"approval/'],
  ['empty', ''],
  ['of another kind', '[]'],
])('a store that is %s between question and answer remembers nothing, is set aside, and the next yes counts', async (_how, text) => {
  const first = await answered(fileStore(folder), () => writeFile(file, text))
  expect(first).toEqual({ ran: true, codes: ['not_remembered'] })
  expect((await readdir(folder)).filter((name) => name.includes('damaged'))).toHaveLength(1)
  expect(await remembered(fileStore(folder))).toBe(false)
  expect((await answered(fileStore(folder))).ran).toBe(true)
  expect(await remembered(fileStore(folder))).toBe(true)
})

test('a salt that is taken away or replaced between question and answer: old approvals count no more, the new one does', async () => {
  const store = memoryStore()
  await answered(store)
  expect(await remembered(store)).toBe(true)
  await store.delete('approvals', 'salt')
  expect(await remembered(store)).toBe(false)
  expect((await answered(store, () => store.put('approvals', 'salt', Buffer.alloc(32, 7).toString('base64url')))).ran).toBe(true)
  expect(await remembered(store)).toBe(true)
  await store.put('approvals', 'salt', Buffer.alloc(32, 8).toString('base64url'))
  expect(await remembered(store)).toBe(false)
})

test.each<[string, (record: Record<string, unknown>) => unknown]>([
  ['another subject', (record) => ({ ...record, subject: record['definitionDigest'] })],
  ['another digest', (record) => ({ ...record, definitionDigest: record['subject'] })],
  ['another id', (record) => ({ ...record, id: '0'.repeat(32) })],
  ['a later format', (record) => ({ ...record, version: 2 })],
  ['a list', (record) => [record]],
])('a record with %s is no approval, and a copy under another name is none of another tool', async (_what, forge) => {
  const store = memoryStore()
  await answered(store)
  for await (const { key, value } of store.list('approvals')) {
    if (!key.startsWith('approval/')) continue
    await store.put('approvals', key, JSON.stringify(forge(JSON.parse(value))))
    await store.put('approvals', `approval/${'0'.repeat(32)}`, value)
  }
  expect(await remembered(store)).toBe(false)
  await using runtime = await launchRuntime(store, server, config())
  expect((await callOnce(runtime, { ...DROP, tool: 'other' })).asked).toHaveLength(1)
})

test('names with separators, quotation marks and __proto__ do not fall together', async () => {
  const pairs: readonly [Record<string, string>, Record<string, string>][] = [
    [{ A: 'b', C: 'd' }, { A: 'b","C":"d' }],
    [{ 'A B': 'c' }, { A: 'B c' }],
    [JSON.parse('{"__proto__":"x"}'), {}],
    [{ A: '\ud800' }, { A: '\udbff' }],
    [{ A: 'é' }, { A: 'e\u0301' }],
    [{ A: '1' }, { a: '1' }],
  ]
  for (const [before, after] of pairs) {
    const store = memoryStore()
    await using runtime = await launchRuntime(store, server, config(before))
    await callOnce(runtime, DROP, ALWAYS)
    expect([before, await remembered(store, before), await remembered(store, after)]).toEqual([before, true, false])
  }
})

test('an environment that changes while somebody is asked: nothing is called and nothing is remembered', async () => {
  const store = memoryStore()
  const environments = { vm: { permissions: 'read-only', cwd: folder, mcpServers: { db: { command: 'false' } } } } as const
  const changes: readonly ((runtime: Awaited<ReturnType<typeof launchRuntime>>) => void)[] = [
    (runtime) => runtime.environments.get('vm')!.update({ permissions: 'full-access' }),
    (runtime) => runtime.environments.get('vm')!.update({ approvalPolicy: 'never' }),
    (runtime) => void runtime.environments.replace('vm', { ...environments.vm, mcpServers: {} }),
  ]
  for (const change of changes) {
    await using runtime = await launchRuntime(store, server, {
      environments: { vm: { ...environments.vm, mcpServers: { db: { command: 'db' } } } },
      features: { multi_environment_mcp: true },
    })
    const session = await runtime.openSession({
      approver: async () => {
        change(runtime)
        return ALWAYS
      },
    })
    const outcome = await session.callTool({ server: 'db', environmentId: 'vm', tool: 'drop', arguments: {} })
    expect([outcome.code, outcome.sent, await runtime.approvals.list()]).toEqual(['CALL_AUTHORITY_CHANGED', 'no', []])
  }
})

test('a revocation while another process asks: the old yes is gone, and only the new one holds', async () => {
  const store = fileStore(folder)
  await answered(store)
  await using other = await openRuntime({ store: fileStore(folder) })
  const [approval] = await other.approvals.list()
  expect(await other.approvals.revoke(approval!.id)).toBe(true)
  expect(await remembered(fileStore(folder))).toBe(false)
  await answered(fileStore(folder))
  expect(await remembered(fileStore(folder))).toBe(true)
  expect(JSON.parse(await readFile(file, 'utf8')).entries).toHaveLength(2)
})
