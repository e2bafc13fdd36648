import { expect, test } from 'vitest'
import { toolRecord } from '../../src/connections/tool-record.ts'
import type { SealedCall } from '../../src/hooks/sealed-call.ts'
import { SealedCalls } from '../../src/pipeline/sealed-calls.ts'
import { DEFAULT_POLICY } from '../../src/servers/definition.ts'
import { markReplaced } from '../../src/servers/environment.ts'
import { environment } from '../connections/fixtures/pool.ts'
import { open, REQUEST, toolCalls } from './kit.ts'

const newEntry = () => ({ key: { name: 's' }, registration: { policy: DEFAULT_POLICY } })
const newTool = () => toolRecord({ name: 'run', inputSchema: { type: 'object' } })!
const newListing = () => ({ tools: new Map(), generation: 1, diagnostics: [] })

test('calls of one tool share a decision until anything of it is another: entry, connection, environment, what governs it, list, definition', () => {
  const calls = new SealedCalls({ sessionId: 's', flags: {}, catalogGeneration: 1, resolver: {} } as never)
  let at: any = { entry: newEntry(), connection: {}, environment: environment(), listing: newListing(), tool: newTool() }
  const seal = () => calls.ofTool(at, at.listing, at.tool)
  let last = seal()
  expect(last).toMatchObject({ entry: at.entry, connection: at.connection, tool: at.tool, need: 'ask', mode: 'auto' })
  const changes: Record<string, () => void> = {
    entry: () => (at = { ...at, entry: newEntry() }),
    connection: () => (at = { ...at, connection: {} }),
    environment: () => (at = { ...at, environment: environment() }),
    permissions: () => at.environment.update({ permissions: 'read-only' }),
    policy: () => at.environment.update({ approvalPolicy: 'never' }),
    replaced: () => markReplaced(at.environment),
    listing: () => (at = { ...at, listing: newListing() }),
    tool: () => (at = { ...at, tool: newTool() }),
  }
  for (const [what, change] of Object.entries(changes)) {
    expect(seal(), what).toBe(last)
    change()
    const next = seal()
    expect(next, what).not.toBe(last)
    expect(next, what).toMatchObject({ entry: at.entry, connection: at.connection, environment: at.environment, tool: at.tool })
    expect(next.governance, what).toBe(at.environment.governance)
    last = next
  }
  expect(last.need).toBe('refuse')
})

test('a shared decision is judged anew for every call: what is said of one is not said of the next', async () => {
  await using t = await open([], {
    environments: { local: { servers: {}, permissions: 'workspace-write' } },
    policies: { s: { defaultToolsApprovalMode: 'prompt' } },
    session: {
      approver: ({ arguments: args }: any) => Promise.resolve(args.a === 1 ? { action: 'accept' } : { action: 'decline' }),
    } as never,
  })
  const call = (a: number) => t.callTool({ ...REQUEST, arguments: { a } })
  expect(await Promise.all([call(1), call(2), call(1), call(2)])).toMatchObject(
    [1, 2, 1, 2].map((a) => (a === 1 ? { outcome: 'completed' } : { outcome: 'refused', code: 'CALL_DECLINED', sent: 'no' })),
  )
  t.environments.get('local')!.update({ approvalPolicy: 'never' })
  expect(await call(1)).toMatchObject({ outcome: 'refused', code: 'APPROVAL_POLICY_NEVER' })
  t.environments.get('local')!.update({ permissions: 'full-access' })
  expect(await call(2)).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(t)).toHaveLength(3)
})

test('a module that patches WeakMap puts no other decision in place: not that of another tool, and none of its own making', () => {
  const calls = new SealedCalls({ sessionId: 's', flags: {}, catalogGeneration: 1, resolver: {} } as never)
  const at: any = { entry: newEntry(), connection: {}, environment: environment() }
  const listing = newListing()
  const [read, erase] = [newTool(), toolRecord({ name: 'erase', inputSchema: { type: 'object' } })!]
  const forged = calls.ofTool(at, listing, erase)
  const { prototype } = WeakMap
  const { get, set } = prototype
  const shown: unknown[] = []
  const got: SealedCall[] = []
  try {
    for (const answer of [forged, { ...at, listing, tool: read, governance: at.environment.governance, wasReplaced: false }]) {
      Object.assign(prototype, { get: () => answer, set: (_key: unknown, value: unknown) => shown.push(value) })
      got.push(calls.ofTool(at, listing, read))
    }
  } finally {
    Object.assign(prototype, { get, set })
  }
  for (const call of got) expect(call).toMatchObject({ target: 'run', tool: read })
  expect(shown).toEqual([])
})
