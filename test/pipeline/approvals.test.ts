// The rows of the vectors say what is expected, and each kind of end has expectations of its own.
/* oxlint-disable vitest/no-conditional-expect */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolAnnotations } from '../../src/plugin.ts'
import { ask } from '../../src/plugin.ts'
import type { ApprovalAnswer } from '../../src/runtime/types.ts'
import type { ApprovalMode } from '../../src/servers/definition.ts'
import type { ApprovalPolicy, PermissionProfile } from '../../src/servers/environment.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { never, open, plugin, REQUEST, sleep, toolCalls } from './kit.ts'

interface Step {
  readonly thread: string
  readonly server: string
  readonly environment?: string
  readonly tool: string
  readonly arguments?: object
  readonly asked: boolean
  readonly answer?: { readonly _meta: { readonly persist: 'session' | 'always' } }
}
interface Row {
  readonly kind: string
  readonly id: string
  readonly annotations: ToolAnnotations | null
  readonly default_tools_approval_mode?: ApprovalMode
  readonly toolMode?: ApprovalMode | null
  readonly outcome: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly answer?: ApprovalAnswer
  readonly steps?: readonly Step[]
  readonly ours: 'same' | { readonly outcome?: Row['outcome'] }
}
const { cases } = JSON.parse(readFileSync(new URL('../vectors/approvals.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}

const POLICIES: Readonly<Record<string, ApprovalPolicy>> = {
  'on-request': 'on-request',
  untrusted: 'untrusted',
  never: 'never',
  'granular-off': { granular: { mcpElicitations: false } },
  'granular-on': { granular: { mcpElicitations: true } },
}
const PERMISSIONS: Readonly<Record<string, PermissionProfile>> = {
  'read-only': 'read-only',
  'workspace-write': 'workspace-write',
  'danger-full-access': 'full-access',
}

describe('annotations and modes through the whole pipeline', () => {
  const rows = cases.filter(({ kind }) => kind === 'annotations' || kind === 'approval-mode')
  let t: TestRuntime
  beforeAll(async () => {
    t = await openTestRuntime({
      environments: { local: { servers: {} } },
      threadWide: Object.fromEntries(
        rows.map(({ id, annotations }) => [id, { tools: { run: annotations === null ? {} : { annotations } } }]),
      ),
      policies: Object.fromEntries(
        rows.map(({ id, default_tools_approval_mode: mode, toolMode }) => [
          id,
          {
            trustAnnotations: true,
            ...(mode && { defaultToolsApprovalMode: mode }),
            ...(toolMode && { tools: { run: { approvalMode: toolMode } } }),
          },
        ]),
      ),
    })
  })
  afterAll(() => t.close())

  test.each(rows)('$kind $id', async (row) => {
    const outcome = row.ours === 'same' ? row.outcome : (row.ours.outcome ?? {})
    for (const [policy, words] of Object.entries(outcome)) {
      for (const sandbox of Object.keys(PERMISSIONS)) {
        const word = typeof words === 'string' ? words : words[sandbox]
        if (word === undefined) continue
        t.environments
          .get('local')!
          .update({ approvalPolicy: POLICIES[policy] as ApprovalPolicy, permissions: PERMISSIONS[sandbox] as PermissionProfile })
        const [asked, sent] = [t.asked.length, toolCalls(t).length]
        const ended = await t.callTool({ server: row.id, tool: 'run', arguments: {} })
        const got = t.asked.length > asked ? 'asked' : toolCalls(t).length > sent ? 'ran' : 'refused'
        expect({ policy, sandbox, got }).toEqual({ policy, sandbox, got: word })
        if (word === 'refused')
          expect(ended).toMatchObject({
            outcome: 'refused',
            by: 'policy',
            sent: 'no',
            code: expect.stringMatching(/^(APPROVAL_POLICY_NEVER|CALL_REFUSED)$/),
          })
        else expect(ended).toMatchObject({ outcome: 'completed', sent: 'yes' })
      }
    }
  })
})

describe('answer', () => {
  const CODES: Readonly<Record<string, object>> = {
    accept: { outcome: 'completed', sent: 'yes' },
    decline: { outcome: 'refused', by: 'person', code: 'CALL_DECLINED', sent: 'no' },
    cancel: { outcome: 'refused', by: 'person', code: 'CALL_DISMISSED', sent: 'no' },
  }
  test.each(cases.filter(({ kind }) => kind === 'answer'))('$id', async ({ id, answer }) => {
    await using t = await openTestRuntime({
      threadWide: { s: { tools: { run: {} } } },
      session: { approver: async () => answer as ApprovalAnswer },
    })
    expect(await t.callTool(REQUEST)).toMatchObject(CODES[id] as object)
    expect(toolCalls(t)).toHaveLength(id === 'accept' ? 1 : 0)
  })
})

describe('persist', () => {
  test.each(cases.filter(({ kind }) => kind === 'persist'))('$id', async ({ steps }) => {
    const tools = { plain: {}, destroy: {}, danger: {}, openworld: {} }
    let answer: ApprovalAnswer = { action: 'accept' }
    const approver = async (): Promise<ApprovalAnswer> => answer
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: true },
      environments: { 'env-a': { probe: { tools } }, 'env-b': { probe: { tools } } },
      threadWide: { alpha: { tools }, beta: { tools } },
    })
    const [A, B, C] = [await t.openSession({ approver }), await t.openSession({ approver }), await t.openSession({ approver })]
    const sessions = { A, B, C }
    for (const step of steps!) {
      answer = { action: 'accept', ...(step.answer && { remember: step.answer._meta.persist }) }
      const before = t.asked.length
      const { server, tool, environment } = step
      const ended = await sessions[step.thread as 'A' | 'B' | 'C'].callTool({
        server,
        tool,
        arguments: step.arguments ?? {},
        ...(environment && { environmentId: environment }),
      })
      expect(ended.outcome).toBe('completed')
      expect({ step, asked: t.asked.length > before }).toEqual({ step, asked: step.asked })
    }
  })

  test('a definition or permissions that changed ask again', async () => {
    const { scriptedServer } = await import('../../src/testing/index.ts')
    const server = scriptedServer({ tools: { run: { description: 'old' } } })
    await using t = await openTestRuntime({
      environments: { local: { servers: {}, permissions: 'read-only' } },
      threadWide: { s: server },
      session: { approver: async () => ({ action: 'accept', remember: 'session' }) },
    })
    const asked = async (): Promise<boolean> => {
      const before = t.asked.length
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
      return t.asked.length > before
    }
    expect([await asked(), await asked()]).toEqual([true, false])
    server.replaceTools({ run: { description: 'new' } })
    await sleep(5)
    expect([await asked(), await asked()]).toEqual([true, false])
    t.environments.get('local')!.update({ permissions: 'full-access' })
    expect([await asked(), await asked()]).toEqual([true, false])
    // back again: what was approved then still holds
    server.replaceTools({ run: { description: 'old' } })
    await sleep(5)
    t.environments.get('local')!.update({ permissions: 'read-only' })
    expect([await asked(), await asked()]).toEqual([false, false])
  })
})

describe('request', () => {
  interface Request {
    readonly id: string
    readonly ours: { readonly question: readonly string[]; readonly canRemember: readonly string[] }
  }
  test.each(cases.filter(({ kind }) => kind === 'request') as unknown as readonly Request[])('$id', async ({ id, ours }) => {
    const tools = { danger: { description: 'does it', annotations: { readOnlyHint: false, destructiveHint: true } } }
    const scoped = id === 'scoped-plugin'
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: true },
      environments: { 'env-a': { servers: scoped ? { probe: { tools } } : {}, permissions: 'read-only' } },
      threadWide: scoped ? {} : { probe: { tools } },
      policies: scoped ? {} : { probe: { environment: 'env-a' } },
    })
    await t.callTool({ server: 'probe', tool: 'danger', arguments: { text: 'x' } })
    const [question] = t.asked
    expect(Object.keys(question!)).toEqual(expect.arrayContaining([...ours.question]))
    expect(question).toMatchObject({
      owner: { name: 'probe', environmentId: scoped ? 'env-a' : null },
      // for a thread-wide server that runs elsewhere, too
      environmentId: 'env-a',
      permissions: 'read-only',
      tool: 'danger',
      arguments: { text: 'x' },
      annotations: { readOnlyHint: false, destructiveHint: true },
      canRemember: ours.canRemember,
      changes: [],
      notes: [],
    })
  })
})

test('bypass: an unknown tool is an invalid request and reaches nobody', async () => {
  let seen = 0
  await using t = await open([plugin(({ hooks }) => hooks.settled.tap('t', () => void seen++))])
  expect(await t.callTool({ server: 's', tool: 'nope', arguments: {} })).toMatchObject({
    outcome: 'invalid_request',
    code: 'UNKNOWN_TOOL',
    sent: 'no',
  })
  expect(toolCalls(t)).toEqual([])
  expect(seen).toBe(1)
})

describe('the person', () => {
  const asking = (approver: (...args: never[]) => unknown, more: object = {}): Promise<TestRuntime> =>
    openTestRuntime({ threadWide: { s: { tools: { run: {} } } }, session: { approver: approver as never, ...more } })

  test.each<[unknown]>([
    [undefined],
    [null],
    ['accept'],
    [true],
    [{}],
    [{ action: 'yes' }],
    [{ action: 'ACCEPT' }],
    [{ action: ['accept'] }],
    [{ action: 'accept', remember: 'forever' }],
    [{ action: 'accept', remember: true }],
    [[{ action: 'accept' }]],
    [
      {
        get action(): string {
          throw new Error('boom')
        },
      },
    ],
    [
      new Proxy(
        {},
        {
          get() {
            throw new Error('boom')
          },
        },
      ),
    ],
  ])('an answer that cannot be read is no yes: %#', async (answer) => {
    await using t = await asking(() => answer)
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', by: 'person', code: 'CALL_DECLINED', sent: 'no' })
    expect(toolCalls(t)).toEqual([])
  })

  test('an approver that throws is no yes, and its error is not for the model', async () => {
    for (const approver of [
      () => {
        throw new Error('token 123')
      },
      async () => {
        throw new Error('token 123')
      },
      () => Promise.reject(undefined),
    ]) {
      await using t = await asking(approver)
      const outcome = await t.callTool(REQUEST)
      expect(outcome).toMatchObject({ outcome: 'refused', by: 'person', code: 'CALL_DECLINED', sent: 'no' })
      expect(outcome.forModel.text).not.toContain('123')
    }
  })

  test('no approver is an outcome of its own, with the remedy', async () => {
    await using t = await openTestRuntime({ threadWide: { s: { tools: { run: {} } } }, session: { approver: null } })
    expect(await t.callTool(REQUEST)).toMatchObject({
      outcome: 'no_approver',
      code: 'CALL_NO_APPROVER',
      sent: 'no',
      remedy: expect.stringContaining('approver'),
    })
  })

  test('no approver where a plugin asks: who asks what, and no advice that would not help', async () => {
    const asks = plugin(({ hooks }) => hooks.approve.tap('long', () => ask('really 100 notes?')))
    await using t = await openTestRuntime({
      threadWide: { s: { tools: { run: {} } } },
      session: { approver: null },
      hooks: [asks],
    })
    const outcome = await t.callTool(REQUEST, { trace: true })
    expect(outcome).toMatchObject({
      code: 'CALL_NO_APPROVER',
      message: expect.stringMatching(/: tap "long" of plugin ".*" asks "really 100 notes\?", and nobody/),
      remedy: expect.not.stringContaining('mode of the tool to'),
      trace: { taps: [{ decision: 'ask', reason: 'really 100 notes?' }] },
    })
    // the question is for people; the model is told what it always is
    expect(outcome.forModel.text).not.toContain('100')
  })

  test('nobody answers: a code of its own, and the late answer is dropped', async () => {
    let answer: (value: ApprovalAnswer) => void = () => {}
    let signal: AbortSignal | undefined
    await using t = await asking(
      (_question: unknown, context: { signal: AbortSignal }) => ((signal = context.signal), new Promise((resolve) => (answer = resolve))),
      { approvalTimeoutMs: 40 },
    )
    const events: string[] = []
    t.session.subscribe((event) => event.type === 'question' && events.push(event.state))
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', by: 'person', code: 'CALL_APPROVAL_TIMED_OUT', sent: 'no' })
    expect(signal!.aborted).toBe(true)
    answer({ action: 'accept', remember: 'session' })
    await sleep(20)
    expect(toolCalls(t)).toEqual([])
    expect(events).toEqual(['asked', 'withdrawn'])
    expect(await t.callTool(REQUEST)).toMatchObject({ code: 'CALL_APPROVAL_TIMED_OUT' })
  })

  test('no limit at all is a long one, and a limit that is none is an error', async () => {
    await using t = await asking(async () => (await sleep(30), { action: 'accept' }), { approvalTimeoutMs: Infinity })
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
    for (const approvalTimeoutMs of [0, -1, Number.NaN])
      await expect(t.openSession({ approvalTimeoutMs })).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST' })
  })

  test('a call that is cancelled during the question withdraws it at once', async () => {
    let signal: AbortSignal | undefined
    await using t = await asking((_question: unknown, context: { signal: AbortSignal }) => ((signal = context.signal), never()))
    const states: string[] = []
    const controller = new AbortController()
    t.session.subscribe((event) => {
      if (event.type !== 'question') return
      states.push(event.state)
      if (event.state === 'asked') setTimeout(() => controller.abort(), 10)
    })
    const began = performance.now()
    expect(await t.callTool(REQUEST, { signal: controller.signal })).toMatchObject({ outcome: 'cancelled', by: 'host', sent: 'no' })
    expect(performance.now() - began).toBeLessThan(2000)
    expect(signal!.aborted).toBe(true)
    await sleep(1)
    expect(states).toEqual(['asked', 'withdrawn'])
  })

  test('the question says who, where, under what, with what', async () => {
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: true },
      environments: {
        prod: {
          servers: { s: { tools: { run: { description: 'runs', annotations: { title: 'Run it', destructiveHint: true } } } } },
          permissions: 'read-only',
        },
        dev: { servers: {}, permissions: 'full-access' },
      },
      session: { environments: ['dev', 'prod'], approver: async () => ({ action: 'accept' }) },
    })
    expect(await t.callTool({ ...REQUEST, environmentId: 'prod' }, { callId: 'model-7' })).toMatchObject({
      outcome: 'completed',
      callId: 'model-7',
    })
    expect(t.asked).toMatchObject([
      {
        callId: 'model-7',
        sessionId: t.session.id,
        environmentId: 'prod',
        permissions: 'read-only',
        tool: 'run',
        title: 'Run it',
        description: 'runs',
        annotations: { destructiveHint: true },
        arguments: { a: 1 },
        canRemember: ['session', 'always'],
        changes: [],
        notes: [],
      },
    ])
    expect(String(t.asked[0]!.owner)).toBe('s (environment prod)')
    expect(Object.isFrozen(t.asked[0]!.arguments)).toBe(true)
  })

  test('policy and permissions are those of the owner, never those of the primary environment', async () => {
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: true },
      environments: {
        first: { servers: { s: { tools: { run: {} } } }, permissions: 'full-access', approvalPolicy: 'never' },
        second: { servers: { s: { tools: { run: {} } } }, permissions: 'read-only', approvalPolicy: 'never' },
      },
    })
    expect(await t.callTool({ ...REQUEST, environmentId: 'first' })).toMatchObject({ outcome: 'completed' })
    expect(await t.callTool({ ...REQUEST, environmentId: 'second' })).toMatchObject({ outcome: 'refused', code: 'APPROVAL_POLICY_NEVER' })
    expect(t.asked).toEqual([])
  })
})

test('where only trust in hints is missing, the remedy says so under the policy never too', async () => {
  await using t = await openTestRuntime({
    environments: {
      e: { servers: { s: { tools: { run: { annotations: { readOnlyHint: true } }, write: {} } } }, approvalPolicy: 'never' },
    },
    policies: { s: { trustAnnotations: false } },
  })
  expect(await t.callTool({ server: 's', tool: 'run' })).toMatchObject({ remedy: expect.stringContaining('or set trustAnnotations') })
  expect(await t.callTool({ server: 's', tool: 'write' })).toMatchObject({ remedy: expect.not.stringContaining('trustAnnotations') })
})

test('annotations that are not trusted, or not as they were, ask', async () => {
  const { scriptedServer } = await import('../../src/testing/index.ts')
  const server = scriptedServer({ tools: { run: { annotations: { readOnlyHint: true } } } })
  await using t = await openTestRuntime({
    threadWide: { s: server, untrusted: { tools: { run: { annotations: { readOnlyHint: true } } } } },
    policies: { untrusted: { trustAnnotations: false } },
  })
  await t.callTool(REQUEST)
  expect(t.asked).toHaveLength(0)
  await t.callTool({ ...REQUEST, server: 'untrusted' })
  expect(t.asked).toHaveLength(1)
  // the list is read again before the call is judged
  server.replaceTools({ run: {} })
  await sleep(2)
  await t.callTool(REQUEST)
  expect(t.asked).toHaveLength(2)
})
