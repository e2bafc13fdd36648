// Expectations depend on the random case.
/* oxlint-disable vitest/no-conditional-expect */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ToolAnnotations } from '../../src/plugin.ts'
import { allow, ask, deny } from '../../src/plugin.ts'
import type { ApprovalAnswer } from '../../src/runtime/types.ts'
import type { ApprovalMode } from '../../src/servers/definition.ts'
import type { ApprovalPolicy, PermissionProfile } from '../../src/servers/environment.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin, toolCalls } from './kit.ts'

const MODES: readonly ApprovalMode[] = ['auto', 'writes', 'prompt', 'approve', 'deny']
const HINTS: Readonly<Record<string, ToolAnnotations>> = {
  none: {},
  readOnly: { readOnlyHint: true },
  harmless: { destructiveHint: false, openWorldHint: false },
  destructive: { destructiveHint: true, readOnlyHint: false },
}
const POLICIES: readonly ApprovalPolicy[] = [
  'on-request',
  'untrusted',
  'never',
  { granular: { mcpElicitations: true } },
  { granular: { mcpElicitations: false } },
]
const PERMISSIONS: readonly (PermissionProfile | null)[] = [
  null,
  'read-only',
  'workspace-write',
  'full-access',
  { type: 'full-access' },
  'external',
  { type: 'opaque', sandboxState: '{"type":"disabled"}' },
]

type Vote = 'nothing' | 'allow' | 'deny' | 'ask'
interface Case {
  readonly mode: ApprovalMode
  readonly hint: string
  readonly policy: ApprovalPolicy
  readonly permissions: PermissionProfile | null
  readonly votes: readonly { readonly vote: Vote; readonly isAsync: boolean }[]
  readonly isRemembered: boolean
  readonly isFiltered: boolean
}

/** Spec 60: does the call need approval? */
function isQuestion({ mode, hint }: Case): boolean {
  if (mode === 'approve' || mode === 'deny') return false
  if (mode === 'prompt') return true
  if (hint === 'readOnly') return false
  return !(mode === 'auto' && hint === 'harmless')
}

/** Spec 20 and 60: deny > ask > allow > policy. */
function expected(one: Case): { readonly word: 'ran' | 'asked' | 'refused'; readonly code?: string } {
  const { mode, policy, permissions, votes } = one
  const has = (vote: Vote): boolean => votes.some((other) => other.vote === vote)
  const refused = (code: string) => ({ word: 'refused', code }) as const
  if (one.isFiltered) return refused('CALL_TOOL_DISABLED')
  if (has('deny') || mode === 'deny') return refused('CALL_REFUSED')
  if (has('ask')) return policy === 'never' ? refused('APPROVAL_POLICY_NEVER') : { word: 'asked' }
  if (!isQuestion(one)) return { word: 'ran' }
  const isFullAccess = permissions === 'full-access' || (typeof permissions === 'object' && permissions?.type === 'full-access')
  if (policy === 'never') return isFullAccess ? { word: 'ran' } : refused('APPROVAL_POLICY_NEVER')
  if (has('allow')) return { word: 'ran' }
  return one.isRemembered && mode !== 'prompt' ? { word: 'ran' } : { word: 'asked' }
}

let votes: Case['votes'] = []
let questions: unknown[] = []
const say = (at: number): unknown => {
  const vote = votes[at]?.vote ?? 'nothing'
  return vote === 'allow' ? allow('yes') : vote === 'deny' ? deny('no') : vote === 'ask' ? ask(`question ${at}`) : undefined
}
const voters = plugin(({ hooks }) => {
  for (let at = 0; at < 4; at++) {
    hooks.approve.tap(`sync ${at}`, (call: { question: unknown }) => {
      questions.push(call.question)
      return votes[at]?.isAsync === false ? say(at) : undefined
    })
    hooks.approve.tapPromise(`async ${at}`, async () => (votes[at]?.isAsync === true ? say(at) : undefined))
  }
})

const toolName = (mode: ApprovalMode, hint: string): string => `${mode}_${hint}`
const names = MODES.flatMap((mode) => Object.keys(HINTS).map((hint) => ({ mode, hint })))

let t: TestRuntime
beforeAll(async () => {
  const tools = Object.fromEntries(names.map(({ mode, hint }) => [toolName(mode, hint), { annotations: HINTS[hint] as ToolAnnotations }]))
  const modes = Object.fromEntries(names.map(({ mode, hint }) => [toolName(mode, hint), { approvalMode: mode }]))
  t = await openTestRuntime({
    environments: { local: { servers: {} } },
    threadWide: { s: { tools }, filtered: { tools } },
    policies: { s: { tools: modes }, filtered: { tools: modes, disabledTools: Object.keys(tools) } },
    hooks: [voters],
  })
})
afterAll(() => t.close())

const cases = fc.record({
  mode: fc.constantFrom(...MODES),
  hint: fc.constantFrom(...Object.keys(HINTS)),
  policy: fc.constantFrom(...POLICIES),
  permissions: fc.constantFrom(...PERMISSIONS),
  votes: fc.array(fc.record({ vote: fc.constantFrom<Vote>('nothing', 'nothing', 'allow', 'deny', 'ask'), isAsync: fc.boolean() }), {
    maxLength: 4,
  }),
  isRemembered: fc.boolean(),
  isFiltered: fc.constantFrom(false, false, false, false, true),
})

test('deny > ask > allow > policy, for random votes × mode × policy × permissions × memory', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (given) => {
      const local = t.environments.get('local')!
      const answers: ApprovalAnswer[] = []
      const asked: { canRemember: readonly string[]; notes: readonly { question: string }[] }[] = []
      await using session = await t.openSession({
        approver: async (question) => {
          asked.push(question)
          return answers.shift() ?? { action: 'decline' }
        },
      })
      const request = { server: given.isFiltered ? 'filtered' : 's', tool: toolName(given.mode, given.hint), arguments: {} }
      local.update({ permissions: given.permissions, approvalPolicy: 'on-request' })
      if (given.isRemembered && isQuestion(given)) {
        votes = []
        answers.push({ action: 'accept', remember: 'session' })
        const first = await session.callTool(request)
        // mode `prompt` never remembers: an answer that wants it counts once, and the next call asks again
        if (!given.isFiltered) expect(first.outcome).toBe('completed')
        asked.length = 0
      }
      local.update({ approvalPolicy: given.policy })
      ;({ votes } = given)
      questions = []
      const before = toolCalls(t).length
      const outcome = await session.callTool(request)
      const sent = toolCalls(t).length - before
      const want = expected(given)
      if (want.word === 'ran') {
        expect(outcome).toMatchObject({ outcome: 'completed', sent: 'yes' })
        expect([asked.length, sent]).toEqual([0, 1])
      } else if (want.word === 'asked') {
        expect(outcome).toMatchObject({ outcome: 'refused', by: 'person', code: 'CALL_DECLINED', sent: 'no' })
        expect([asked.length, sent]).toEqual([1, 0])
        const asks = votes.filter(({ vote }) => vote === 'ask')
        expect(asked[0]!.canRemember).toEqual(asks.length > 0 || given.mode === 'prompt' ? [] : ['session', 'always'])
        expect(asked[0]!.notes).toHaveLength(asks.length)
      } else {
        expect(outcome).toMatchObject({ outcome: 'refused', code: want.code, sent: 'no' })
        expect([asked.length, sent]).toEqual([0, 0])
      }
      // what taps read is what would be asked: nothing where the policy refuses or lets the call run
      for (const question of questions) {
        if (isQuestion(given) && given.policy !== 'never') expect(question).toMatchObject({ mode: given.mode, text: expect.any(String) })
        else expect(question).toBeNull()
      }
    }),
    { numRuns: 400 },
  )
})

test('no early allow hides a later deny, and what a deny says is what counts', async () => {
  votes = [
    { vote: 'allow', isAsync: false },
    { vote: 'ask', isAsync: true },
    { vote: 'deny', isAsync: true },
  ]
  t.environments.get('local')!.update({ permissions: null, approvalPolicy: 'on-request' })
  expect(await t.callTool({ server: 's', tool: 'prompt_none' })).toMatchObject({ outcome: 'refused', by: 'tap', reason: 'no' })
})

test('a question of a plugin is put although the call was remembered, and its answer is not remembered either', async () => {
  const notes: unknown[] = []
  let answer: ApprovalAnswer = { action: 'accept', remember: 'session' }
  await using session = await t.openSession({
    approver: async (question) => {
      notes.push(question.notes)
      return answer
    },
  })
  const request = { server: 's', tool: 'auto_none', arguments: {} }
  votes = []
  expect(await session.callTool(request)).toMatchObject({ outcome: 'completed' })
  expect(await session.callTool(request)).toMatchObject({ outcome: 'completed' })
  expect(notes).toEqual([[]])
  votes = [{ vote: 'ask', isAsync: false }]
  expect(await session.callTool(request)).toMatchObject({ outcome: 'completed' })
  expect(session.diagnostics).toContainEqual(expect.objectContaining({ code: 'not_remembered' }))
  answer = { action: 'accept' }
  expect(await session.callTool(request)).toMatchObject({ outcome: 'completed' })
  expect(notes.slice(1)).toEqual([[{ plugin: 'p', question: 'question 0' }], [{ plugin: 'p', question: 'question 0' }]])
})
