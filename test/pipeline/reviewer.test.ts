import { expect, test, vi } from 'vitest'
import { allow, ask, deny } from '../../src/plugin.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { ApprovalQuestion, Reviewer } from '../../src/runtime/types.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { never, plugin, REQUEST, toolCalls } from './kit.ts'

/** One server that asks, on `local` with a reviewer. */
async function reviewed(reviewer: unknown, more: Partial<TestRuntimeOptions> = {}): Promise<TestRuntime> {
  return openTestRuntime({
    environments: { local: { servers: {}, permissions: 'read-only', reviewer: reviewer as Reviewer } },
    threadWide: {
      s: {
        tools: { run: { description: 'runs', annotations: { destructiveHint: true } }, reads: { annotations: { readOnlyHint: true } } },
      },
    },
    ...more,
  })
}

test('allow runs the call and nobody is asked; the trace says who answered', async () => {
  await using t = await reviewed(async () => allow('fine'))
  expect(await t.callTool(REQUEST, { trace: true })).toMatchObject({
    outcome: 'completed',
    trace: { approval: { source: 'reviewer', waitedMs: expect.any(Number) } },
  })
  expect(t.asked).toEqual([])
  // a yes of a reviewer is for this call alone
  expect(await t.approvals.list()).toEqual([])
})

test('deny refuses with its own code, and its reason is for the model', async () => {
  await using t = await reviewed(async () => deny('tables are not dropped here'))
  const outcome = await t.callTool(REQUEST)
  expect(outcome).toMatchObject({ outcome: 'refused', by: 'reviewer', code: 'CALL_REVIEW_DENIED', sent: 'no' })
  expect(outcome.forModel.text).toContain('tables are not dropped here')
  expect([t.asked, toolCalls(t)]).toEqual([[], []])
})

test('ask leaves it to the person', async () => {
  await using t = await reviewed(async () => ask())
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(t.asked).toHaveLength(1)
})

test('without a person, ask is no_approver', async () => {
  await using t = await reviewed(async () => ask(), { session: { approver: null } })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'no_approver', code: 'CALL_NO_APPROVER', sent: 'no' })
})

test.each<[string, unknown]>([
  ['undefined', async () => undefined],
  ['a word', async () => 'allow'],
  ['a look-alike', async () => ({ reason: 'allow', kind: 'allow' })],
  ['an answer of a person', async () => ({ action: 'accept' })],
  ['a copy', async () => ({ ...allow() })],
  ['a proxy', async () => new Proxy(allow(), {})],
  [
    'a throw',
    () => {
      throw new Error('token 123')
    },
  ],
  ['a rejection', () => Promise.reject(new Error('token 123'))],
  ['a rejection with nothing', () => Promise.reject(undefined)],
])('%s is a deny, and its error is not for the model', async (_name, reviewer) => {
  await using t = await reviewed(reviewer)
  const outcome = await t.callTool(REQUEST)
  expect(outcome).toMatchObject({ outcome: 'refused', by: 'reviewer', code: 'CALL_REVIEW_DENIED', sent: 'no' })
  expect(outcome.forModel.text).not.toContain('123')
  expect([t.asked, toolCalls(t)]).toEqual([[], []])
})

test('a late answer is a deny, its signal ends, and what it says then changes nothing', async () => {
  let answer: (verdict: unknown) => void = () => {}
  let signal: AbortSignal | undefined
  const late: unknown = (_question: unknown, context: { signal: AbortSignal }) => (
    (signal = context.signal), new Promise((resolve) => (answer = resolve))
  )
  await using t = await reviewed(late, { session: { reviewTimeoutMs: 30 } })
  expect(await t.callTool(REQUEST)).toMatchObject({
    outcome: 'refused',
    by: 'reviewer',
    code: 'CALL_REVIEW_DENIED',
    message: expect.stringContaining('did not answer within'),
  })
  expect(signal!.aborted).toBe(true)
  answer(allow())
  await t.callTool({ ...REQUEST, tool: 'reads' })
  expect(toolCalls(t).map(({ params }) => params['name'])).toEqual(['reads'])
})

test('a call that is cancelled during the review ends at once as cancelled', async () => {
  const controller = new AbortController()
  let signal: AbortSignal | undefined
  await using t = await reviewed((_question: unknown, context: { signal: AbortSignal }) => {
    signal = context.signal
    setTimeout(() => controller.abort(), 5)
    return never()
  })
  expect(await t.callTool(REQUEST, { signal: controller.signal })).toMatchObject({ outcome: 'cancelled', sent: 'no' })
  expect(signal!.aborted).toBe(true)
})

test('the limit of the call stands still while the reviewer thinks', async () => {
  await using t = await reviewed(async () => (await new Promise((done) => setTimeout(done, 1_800)), allow()))
  await t.session.listTools()
  expect(await t.callTool(REQUEST, { timeoutMs: 1_500 })).toMatchObject({ outcome: 'completed' })
})

test('it is asked where a person would be: not where no approval is needed, a tap allows, or a yes is remembered', async () => {
  let seen = 0
  const reviewer: Reviewer = async () => (seen++, ask())
  await using t = await reviewed(reviewer, { session: { approver: async () => ({ action: 'accept', remember: 'session' }) } })
  await t.callTool({ ...REQUEST, tool: 'reads' })
  expect(seen).toBe(0)
  await t.callTool(REQUEST)
  await t.callTool(REQUEST)
  expect(seen).toBe(1)
  await using allowed = await reviewed(reviewer, { hooks: [plugin(({ hooks }) => hooks.approve.tap('t', () => allow()))] })
  await allowed.callTool(REQUEST)
  expect(seen).toBe(1)
  // nobody is asked by an explanation
  expect(await t.session.explain({ ...REQUEST, tool: 'reads' })).toMatchObject({ wouldEnd: 'sent' })
  await using explained = await reviewed(reviewer)
  expect(await explained.session.explain(REQUEST)).toMatchObject({ wouldEnd: 'asked' })
  expect(seen).toBe(1)
})

test('where a tap wants a person, a reviewer can refuse and not allow', async () => {
  const asks = plugin(({ hooks }) => hooks.approve.tap('t', () => ask('really?')))
  await using t = await reviewed(async () => allow(), { hooks: [asks] })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(t.asked).toMatchObject([{ notes: [{ question: 'really?' }] }])
  await using denied = await reviewed(async () => deny('no'), { hooks: [asks] })
  expect(await denied.callTool(REQUEST)).toMatchObject({ by: 'reviewer', sent: 'no' })
  expect(denied.asked).toEqual([])
})

test('policy never comes before the reviewer', async () => {
  let seen = 0
  await using t = await reviewed(async () => (seen++, allow()))
  t.environments.get('local')!.update({ approvalPolicy: 'never' })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', code: 'APPROVAL_POLICY_NEVER' })
  expect(seen).toBe(0)
})

test('it is that of the owner, and is told owner, environment and permissions of the owner, never of the primary', async () => {
  const seen: ApprovalQuestion[] = []
  const tools = { danger: { description: 'does things', annotations: { destructiveHint: true } } }
  await using t = await openTestRuntime({
    features: { multi_environment_mcp: true },
    environments: {
      'env-a': { servers: { probe: { tools } }, permissions: 'full-access', reviewer: async () => deny('not mine') },
      'env-b': {
        servers: { probe: { tools } },
        permissions: 'workspace-write',
        reviewer: async (question) => (seen.push(question), allow()),
      },
    },
    session: { environments: ['env-a', 'env-b'] },
  })
  expect(await t.callTool({ server: 'probe', environmentId: 'env-b', tool: 'danger', arguments: { x: 1 } })).toMatchObject({
    outcome: 'completed',
  })
  expect(seen).toMatchObject([
    {
      environmentId: 'env-b',
      permissions: 'workspace-write',
      tool: 'danger',
      arguments: { x: 1 },
      annotations: { destructiveHint: true },
      description: 'does things',
      owner: { name: 'probe', environmentId: 'env-b' },
    },
  ])
  expect(Object.isFrozen(seen[0]!.arguments)).toBe(true)
})

test('a change of permissions or of the reviewer during the review stops the call', async () => {
  for (const [change, what] of [
    [{ permissions: 'workspace-write' }, 'permissions'],
    [{ reviewer: null }, 'policy'],
  ] as const) {
    await using t: TestRuntime = await reviewed(async () => (t.environments.get('local')!.update(change), allow()))
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', code: 'CALL_AUTHORITY_CHANGED', what, sent: 'no' })
    expect(toolCalls(t)).toEqual([])
  }
})

test('a reviewer can be given, replaced and taken away while calls run', async () => {
  await using t = await reviewed(null)
  const local = t.environments.get('local')!
  expect(local.reviewer).toBe(null)
  local.update({ reviewer: async () => deny('no') })
  expect(await t.callTool(REQUEST)).toMatchObject({ by: 'reviewer' })
  // the rest of the governance stays
  expect([local.permissions, local.approvalPolicy]).toEqual(['read-only', 'on-request'])
  local.update({ reviewer: null, permissions: undefined as never })
  expect(local.permissions).toBe('read-only')
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(t.asked).toHaveLength(1)
})

test.each([
  [{ permission: 'read-only' }, 'did you mean "permissions"?'],
  [{ permissions: 'readonly' }, 'permissions'],
  [{ permissions: { type: 'workspace-write', network: true } }, 'permissions'],
  [{ permissions: { type: 'opaque' } }, 'permissions'],
  [{ permissions: ['read-only'] }, 'permissions'],
  [{ approvalPolicy: 'always' }, 'approvalPolicy'],
  [{ approvalPolicy: { granular: {} } }, 'approvalPolicy'],
  [{ approvalPolicy: null }, 'approvalPolicy'],
  [{ reviewer: 'judge' }, 'reviewer'],
  [null, 'must be an object'],
])('a change that is none is refused whole: %j', async (change, problem) => {
  await using t = await reviewed(null)
  const local = t.environments.get('local')!
  const before = local.governance
  expect(() => local.update(change as never)).toThrow(
    expect.objectContaining({ code: 'CALL_INVALID_REQUEST', message: expect.stringContaining(problem) }),
  )
  expect(local.governance).toBe(before)
})

test('a reviewer that is no function is refused when the runtime opens', async () => {
  const opened = openRuntime({ environments: { local: { reviewer: 'judge' as never } } })
  await expect(opened).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST', message: expect.stringContaining('reviewer') })
  const spy = vi.fn<Reviewer>()
  await using runtime = await openRuntime({ environments: { local: { reviewer: spy } } })
  expect(runtime.environments.get('local')!.reviewer).toBe(spy)
})
