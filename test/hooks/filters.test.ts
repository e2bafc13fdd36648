// Expectations depend on the random case.
/* oxlint-disable vitest/no-conditional-expect */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from '../../src/hooks/tap-filter.ts'
import type { ServerKey } from '../../src/plugin.ts'
import type { ToolCallRequest } from '../../src/runtime/types.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin } from '../pipeline/kit.ts'

test('a glob means what its regular expression means', () => {
  const letters = fc.constantFrom('a', 'b', '*', '?', '.', '+', '\\', '[', 'ü')
  const text = fc.array(letters, { maxLength: 8 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text, text, (glob, given) => {
      const pattern = glob
        .replace(/[.+\\[\]]/g, '\\$&')
        .replaceAll('*', '[^]*')
        .replaceAll('?', '[^]')
      expect(matchesGlob(glob, given)).toBe(new RegExp(`^${pattern}$`).test(given))
    }),
    { numRuns: 2000 },
  )
})

test('no glob hangs', () => {
  expect(matchesGlob(`${'*a'.repeat(2000)}b`, 'a'.repeat(20_000))).toBe(false)
})

const tools = { read: {}, read_all: {}, write: {} }
const servers = { db: { tools }, web: { tools } }
const policies = { db: { defaultToolsApprovalMode: 'approve' }, web: { defaultToolsApprovalMode: 'approve' } } as const

/** The calls, of all owners and tools, that this filter of a tap and this one of its entry let through. */
async function seen(tap: object, entry: object = {}): Promise<string[]> {
  const log: string[] = []
  const p = plugin(({ hooks }) =>
    hooks.approve.tap(
      { name: 't', ...tap },
      (call: { owner: ServerKey; tool: string }) => void log.push(`${call.owner.toString()}: ${call.tool}`),
    ),
  )
  await using t = await openTestRuntime({
    features: { multi_environment_mcp: true },
    environments: { a: servers, b: servers },
    threadWide: servers,
    policies,
    hooks: [{ plugin: p, ...entry }],
  })
  await callAll(t)
  return log.toSorted()
}

async function callAll(t: TestRuntime): Promise<void> {
  for (const server of ['db', 'web']) {
    for (const environmentId of [null, 'a', 'b']) {
      for (const tool of Object.keys(tools)) {
        const request: ToolCallRequest = { server, environmentId, tool }
        expect(await t.callTool(request)).toMatchObject({ outcome: 'completed' })
      }
    }
  }
}

test.each<[object, number, string]>([
  [{}, 18, ''],
  [{ environments: [null] }, 6, 'db: read'],
  [{ environments: ['a', null] }, 12, ''],
  [{ environments: ['A'] }, 0, ''],
  [{ environments: ['*'] }, 0, ''],
  [{ environments: [] }, 0, ''],
  [{ servers: ['db'] }, 9, ''],
  [{ servers: ['d*', 'w?b'] }, 18, ''],
  [{ servers: ['DB'] }, 0, ''],
  [{ tools: ['read'] }, 6, ''],
  [{ tools: ['read*'] }, 12, ''],
  [{ tools: ['mcp__db__read'] }, 0, ''],
  [{ servers: ['db'], environments: ['a'], tools: ['wr*'] }, 1, 'db (environment a): write'],
])('filter %j sees %i of 18 calls', async (filter, count, first) => {
  const all = await seen(filter)
  expect(all).toHaveLength(count)
  if (first) expect(all[0]).toBe(first)
  expect(await seen({}, filter)).toEqual(all)
})

test('a tap and its entry must both agree', async () => {
  expect(await seen({ servers: ['db'] }, { environments: ['b'], tools: ['write'] })).toEqual(['db (environment b): write'])
  expect(await seen({ environments: ['a'] }, { environments: ['b'] })).toEqual([])
})

test('a filter by tool does not let other methods through, one by server does', async () => {
  const log: string[] = []
  const methods = ['tools/call', 'resources/list'] as const
  const p = plugin(({ hooks }) => {
    hooks.approve.tap({ name: 'tools', methods, tools: ['*'] }, (call: { method: string }) => void log.push(`tools ${call.method}`))
    hooks.approve.tap({ name: 'servers', methods, servers: ['*'] }, (call: { method: string }) => void log.push(`servers ${call.method}`))
    hooks.settled.tap(
      { name: 'observer', tools: ['read'] },
      ({ request }: { request: { method: string } }) => void log.push(`observer ${request.method}`),
    )
    hooks.settled.tap('all', ({ request }: { request: { method: string } }) => void log.push(`all ${request.method}`))
  })
  await using t = await openTestRuntime({ threadWide: { db: { tools, resources: {} } }, policies, hooks: [p] })
  await t.session.listResources({ server: 'db' })
  await t.callTool({ server: 'db', tool: 'read' })
  await t.callTool({ server: 'nope', tool: 'read' })
  expect(log).toEqual([
    'servers resources/list',
    'all resources/list',
    'tools tools/call',
    'servers tools/call',
    'observer tools/call',
    'all tools/call',
    'all tools/call',
  ])
})

test('filters and policy do not notice whether names carry an environment', async () => {
  for (const isOn of [true, false]) {
    const log: string[] = []
    const p = plugin(({ hooks }) =>
      hooks.approve.tap(
        { name: 't', environments: ['a'], tools: ['read'] },
        (call: { owner: ServerKey }) => void log.push(String(call.owner)),
      ),
    )
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: isOn },
      environments: { a: { db: { tools } } },
      policies,
      hooks: [p],
      session: { environments: ['a'] },
    })
    const { tools: listed } = await t.session.listTools()
    await t.callTool({ name: listed.find(({ tool }) => tool === 'read')!.name })
    expect(log).toEqual(['db (environment a)'])
  }
})
