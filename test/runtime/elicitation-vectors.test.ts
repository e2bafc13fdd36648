// The rows of test/vectors/approvals.json about questions of servers that a person answers.
import { expect, test } from 'vitest'
import vectors from '../vectors/approvals.json' with { type: 'json' }
import { allow, ask, deny } from '../../src/plugin.ts'
import type { ApprovalQuestion } from '../../src/runtime/types.ts'
import type { ApprovalPolicy, PermissionProfile } from '../../src/servers/environment.ts'
import { askingRuntime, tell } from './asking.ts'

interface Row {
  readonly kind?: string
  readonly id: string
  readonly policy: string
  readonly sandbox: string
  readonly reviewer?: string
  readonly elicitation: { readonly fields?: readonly string[]; readonly meta?: object }
  readonly result: string
  readonly ours: string | { readonly result: string }
}

const POLICIES: Readonly<Record<string, ApprovalPolicy>> = {
  'on-request': 'on-request',
  never: 'never',
  'granular-off': { granular: { mcpElicitations: false } },
}
const SANDBOXES: Readonly<Record<string, PermissionProfile>> = {
  'read-only': 'read-only',
  'workspace-write': 'workspace-write',
  'danger-full-access': 'full-access',
}
const rows = (vectors.cases as unknown as readonly Row[]).filter((row) => row.kind === 'server-elicitation' && row.reviewer === 'user')

test('questions of servers, as the vectors have them', async () => {
  await using home = await askingRuntime()
  let asked = 0
  const session = await home.openSession({
    onElicitation: async () => {
      asked++
      return { action: 'accept', content: { who: 'me', confirm: 'yes' }, _meta: { approvals_reviewer: 'forged' } }
    },
  })
  expect(rows.length).toBeGreaterThan(8)
  for (const { id, policy, sandbox, elicitation, result, ours } of rows) {
    const expected = typeof ours === 'string' ? result : ours.result
    home.environments.get('vm')!.update({ approvalPolicy: POLICIES[policy]!, permissions: SANDBOXES[sandbox]! })
    asked = 0
    const properties = Object.fromEntries((elicitation.fields ?? []).map((name) => [name, { type: 'string' }]))
    const params = { message: id, requestedSchema: { type: 'object', properties }, ...(elicitation.meta && { _meta: elicitation.meta }) }
    const answer = await tell(session, 'asks', 'ask', { method: 'elicitation/create', params })
    const wanted = expected.startsWith('asks the user')
      ? [1, 'accept', { who: 'me', confirm: 'yes' }]
      : expected.startsWith('accept with {}')
        ? [0, 'accept', {}]
        : [0, 'decline', undefined]
    expect([id, asked, answer.action, answer.content, answer._meta?.approvals_reviewer]).toEqual([id, ...wanted, undefined])
  }
})

interface Reviewed {
  readonly calls: number
  readonly asked: number
  readonly answer: object
}
/** What the reviewer does in each row, and what then comes of it. */
const AUTO: Readonly<Record<string, { readonly says: () => unknown; readonly wanted: Reviewed }>> = {
  'approval-auto-allow': {
    says: () => allow(),
    wanted: { calls: 1, asked: 0, answer: { action: 'accept', content: {}, _meta: { approvals_reviewer: 'auto_review' } } },
  },
  'approval-auto-deny': {
    says: () => deny('not that one'),
    wanted: { calls: 1, asked: 0, answer: { action: 'decline', _meta: { approvals_reviewer: 'auto_review', message: 'not that one' } } },
  },
  'approval-auto-garbage': { says: () => 'yes', wanted: { calls: 1, asked: 0, answer: { action: 'decline' } } },
  'approval-auto-nonempty-form': { says: () => allow(), wanted: { calls: 0, asked: 0, answer: { action: 'decline' } } },
  'approval-auto-no-tool-name': { says: () => allow(), wanted: { calls: 0, asked: 0, answer: { action: 'decline' } } },
  'approval-auto-other-type': { says: () => allow(), wanted: { calls: 0, asked: 1, answer: { action: 'accept' } } },
  'plain-auto': { says: () => allow(), wanted: { calls: 0, asked: 1, answer: { action: 'accept' } } },
}
const reviewedRows = (vectors.cases as unknown as readonly Row[]).filter(({ id }) => Object.hasOwn(AUTO, id))

test('requests of servers for approval, as the vectors have them where the environment has a reviewer', async () => {
  await using home = await askingRuntime()
  let asked = 0
  const session = await home.openSession({ onElicitation: async () => (asked++, { action: 'accept', content: { who: 'me', x: 'y' } }) })
  expect(reviewedRows.map(({ id }) => id).sort()).toEqual(Object.keys(AUTO).sort())
  const vm = home.environments.get('vm')!
  const put = (id: string, { fields = [], meta }: Row['elicitation']): Promise<any> => {
    const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]))
    const params = { message: id, requestedSchema: { type: 'object', properties }, ...(meta && { _meta: meta }) }
    return tell(session, 'asks', 'ask', { method: 'elicitation/create', params })
  }
  for (const { id, sandbox, elicitation } of reviewedRows) {
    const questions: ApprovalQuestion[] = []
    asked = 0
    const { says, wanted } = AUTO[id]!
    vm.update({
      approvalPolicy: 'on-request',
      permissions: SANDBOXES[sandbox]!,
      reviewer: async (question) => (questions.push(question), says() as never),
    })
    expect({ id, answer: await put(id, elicitation), calls: questions.length, asked }).toMatchObject({ id, ...wanted })
    for (const question of questions)
      expect(question).toMatchObject({ tool: 'delete_all', environmentId: 'vm', permissions: SANDBOXES[sandbox], owner: { name: 'asks' } })
  }
  const request = reviewedRows.find(({ id }) => id === 'approval-auto-allow')!.elicitation
  // a reviewer that leaves it to the person, that throws, and one under which the permissions change
  vm.update({ reviewer: async () => ask() })
  asked = 0
  expect([await put('x', request), asked]).toMatchObject([{ action: 'accept' }, 1])
  vm.update({ reviewer: () => Promise.reject(new Error('broken')) })
  expect([await put('x', request), asked]).toMatchObject([{ action: 'decline' }, 1])
  vm.update({ reviewer: async () => (vm.update({ permissions: 'external' }), allow()) })
  expect([await put('x', request), asked]).toMatchObject([{ action: 'decline' }, 1])
  // `never` comes first
  vm.update({ approvalPolicy: 'never', reviewer: async () => allow() })
  expect([await put('x', request), asked]).toMatchObject([{ action: 'decline' }, 1])
})
