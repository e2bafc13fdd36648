// The rows of test/vectors/approvals.json about questions of servers that a person answers.
import { expect, test } from 'vitest'
import vectors from '../vectors/approvals.json' with { type: 'json' }
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
