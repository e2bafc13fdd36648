import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ToolAnnotations } from '../../src/mcp.ts'
import type { ApprovalNeed } from '../../src/pipeline/approval-rule.ts'
import { approvalQuestion, underPolicy } from '../../src/pipeline/approval-rule.ts'
import type { ApprovalMode } from '../../src/servers/definition.ts'
import type { ApprovalPolicy, PermissionProfile } from '../../src/servers/environment.ts'

interface Row {
  readonly kind: string
  readonly id: string
  readonly annotations: ToolAnnotations | null
  readonly default_tools_approval_mode?: ApprovalMode
  readonly toolMode?: ApprovalMode | null
  readonly outcome: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly ours: 'same' | { readonly outcome?: Row['outcome'] }
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/approvals.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}
const rows = vectors.cases.filter(({ kind }) => kind === 'annotations' || kind === 'approval-mode')

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
const WORDS = { run: 'ran', ask: 'asked', refuse: 'refused' }

test('the vectors have their rows', () => {
  expect(rows).toHaveLength(66)
})

describe.each(rows)('approvals.json $kind $id', (row) => {
  const outcome = row.ours === 'same' ? row.outcome : (row.ours.outcome ?? {})
  const judged = Object.entries(outcome).flatMap(([policy, word]) =>
    Object.keys(PERMISSIONS)
      .filter((sandbox) => typeof word === 'string' || sandbox in word)
      .map((sandbox) => ({ policy, sandbox, word: typeof word === 'string' ? word : word[sandbox] })),
  )
  test.each(judged)('$policy, $sandbox: $word', ({ policy, sandbox, word }) => {
    const mode = row.toolMode ?? row.default_tools_approval_mode ?? 'auto'
    const need = approvalQuestion({ mode, annotations: row.annotations ?? {}, trustAnnotations: true })
    expect(WORDS[underPolicy(need, POLICIES[policy] as ApprovalPolicy, PERMISSIONS[sandbox] as PermissionProfile)]).toBe(word)
  })
})

const MODES: readonly ApprovalMode[] = ['approve', 'auto', 'writes', 'prompt', 'deny']
const hint = fc.option(fc.constantFrom<unknown>(true, false, null, 'true', 1, {}), { nil: undefined })
const annotations = fc.record({
  readOnlyHint: hint,
  destructiveHint: hint,
  openWorldHint: hint,
  idempotentHint: hint,
}) as fc.Arbitrary<ToolAnnotations>
const strictness = (need: ApprovalNeed): number => ['none', 'ask', 'deny'].indexOf(need)

test('without trust nothing is looser, and only the mode counts', () => {
  fc.assert(
    fc.property(fc.constantFrom(...MODES), annotations, (mode, given) => {
      const trusted = approvalQuestion({ mode, annotations: given, trustAnnotations: true })
      const untrusted = approvalQuestion({ mode, annotations: given, trustAnnotations: false })
      expect(strictness(untrusted)).toBeGreaterThanOrEqual(strictness(trusted))
      expect(untrusted).toBe(mode === 'approve' ? 'none' : mode === 'deny' ? 'deny' : 'ask')
    }),
  )
})

test('each mode is at least as strict as the one before it', () => {
  fc.assert(
    fc.property(annotations, fc.boolean(), (given, trustAnnotations) => {
      const needs = MODES.map((mode) => strictness(approvalQuestion({ mode, annotations: given, trustAnnotations })))
      expect(needs).toEqual([...needs].sort((a, b) => a - b))
    }),
  )
})

test('a hint that is no boolean counts as absent', () => {
  fc.assert(
    fc.property(fc.constantFrom(...MODES), annotations, (mode, given) => {
      const clean = Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === 'boolean'))
      expect(approvalQuestion({ mode, annotations: given, trustAnnotations: true })).toBe(
        approvalQuestion({ mode, annotations: clean, trustAnnotations: true }),
      )
    }),
  )
  expect(approvalQuestion({ mode: 'auto', annotations: null as unknown as ToolAnnotations, trustAnnotations: true })).toBe('ask')
})

test('only full access runs a question under never; opaque, external and unset policies do not', () => {
  const others: readonly (PermissionProfile | null)[] = [
    null,
    'external',
    'read-only',
    { type: 'workspace-write' },
    { type: 'opaque', sandboxState: { permissionProfile: { type: 'disabled' } } },
  ]
  for (const permissions of others) expect(underPolicy('ask', 'never', permissions)).toBe('refuse')
  expect(underPolicy('ask', 'never', { type: 'full-access' })).toBe('run')
})

test('what the mode denies is refused under every policy, and what needs nothing runs', () => {
  for (const policy of Object.values(POLICIES)) {
    for (const permissions of [null, 'full-access'] as const) {
      expect(underPolicy('deny', policy, permissions)).toBe('refuse')
      expect(underPolicy('none', policy, permissions)).toBe('run')
    }
  }
})
