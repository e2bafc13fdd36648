// What a hook prints never lets a call go on by mistake: either every word of it is known, or the call stops.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HookEvent } from '../../../src/plugins/command-hooks/definition.ts'
import { EVENTS } from '../../../src/plugins/command-hooks/definition.ts'
import { readAnswer } from '../../../src/plugins/command-hooks/answer.ts'
import { OWNERSHIP_KEYS } from '../../../src/ownership-keys.ts'

const said = (event: HookEvent, output: unknown) =>
  readAnswer(event, { code: 0, signal: null, stdout: typeof output === 'string' ? output : JSON.stringify(output), stderr: '' })
/** The answer, or how the problem begins. */
function tried(event: HookEvent, output: unknown): unknown {
  try {
    return said(event, output)
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
}

test.each<[HookEvent, unknown, unknown]>([
  ['PreToolUse', { continue: true, suppressOutput: true, systemMessage: 'hello' }, { message: 'hello' }],
  ['PreToolUse', { decision: 'approve', reason: 'fine' }, {}],
  ['PreToolUse', { hookSpecificOutput: { permissionDecision: null, updatedInput: null } }, {}],
  ['PreToolUse', { continue: false }, { refuse: 'no reason given' }],
  ['PreToolUse', { continue: false, hookSpecificOutput: { updatedInput: { a: 1 } } }, { refuse: 'no reason given', rewrite: { a: 1 } }],
  ['PreToolUse', { hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { a: 1 } } }, { ask: '', rewrite: { a: 1 } }],
  ['PermissionRequest', { hookSpecificOutput: { decision: { behavior: 'deny', message: 'M', interrupt: true } } }, { refuse: 'M' }],
  [
    'PermissionRequest',
    { hookSpecificOutput: { decision: { behavior: 'allow', updatedPermissions: [] } } },
    { allow: '', note: expect.stringContaining('not kept') },
  ],
  ['PermissionRequest', { decision: 'block', reason: 'R', hookSpecificOutput: { decision: { behavior: 'allow' } } }, { refuse: 'R' }],
  ['PostToolUse', { hookSpecificOutput: { updatedToolOutput: { content: [] } } }, { result: { content: [] } }],
  ['PostToolUse', 'ok', { note: 'printed: ok' }],
  ['PostToolUse', '[1]', { note: 'printed: [1]' }],
  ['PreToolUse', { async: true, asyncTimeout: 5 }, {}],
])('%s %j', (event, output, answer) => {
  expect(said(event, output)).toEqual(answer)
})

test.each<[HookEvent, unknown, string]>([
  ['PermissionRequest', { decision: 'approve' }, 'decision "approve"'],
  ['PermissionRequest', { hookSpecificOutput: { permissionDecision: 'allow' } }, 'unknown key "permissionDecision"'],
  ['PermissionRequest', { hookSpecificOutput: { decision: { message: 'x' } } }, 'without behavior'],
  ['PermissionRequest', { hookSpecificOutput: { decision: { behavior: 'Allow' } } }, 'behavior "Allow"'],
  ['PreToolUse', { hookSpecificOutput: { hookEventName: 'PostToolUse' } }, 'answered for the event'],
  ['PreToolUse', { hookSpecificOutput: { permissionDecision: 'defer' } }, 'permissionDecision "defer"'],
  ['PreToolUse', { permissionDecision: 'deny' }, 'unknown key "permissionDecision"'],
  ['PreToolUse', { hookSpecificOutput: 'deny' }, 'hookSpecificOutput that is no object'],
  ['PreToolUse', { continue: 'false' }, 'continue that is no boolean'],
  ['PreToolUse', '{"a":1} trailing', 'no JSON'],
  ['PostToolUse', { decision: 'approve' }, 'decision "approve"'],
  ['PostToolUse', { hookSpecificOutput: { updatedMCPToolOutput: [] } }, 'updatedMCPToolOutput that is no object'],
  ['PostToolUse', { hookSpecificOutput: { updatedInput: {} } }, 'unknown key "updatedInput"'],
])('%s %j stops the call', (event, output, problem) => {
  expect(tried(event, output)).toContain('TapProblem: ')
  expect(tried(event, output)).toContain(problem)
})

function refusalOf(event: HookEvent, end: Parameters<typeof readAnswer>[1]): string | undefined {
  try {
    return readAnswer(event, end).refuse
  } catch (error) {
    return (error as Error).message
  }
}

test('only exit 0 is no refusal: 2 refuses, everything else fails', () => {
  fc.assert(
    fc.property(fc.constantFrom(...EVENTS), fc.option(fc.integer({ min: 1, max: 255 })), fc.string(), (event, code, stderr) => {
      const end = { code, signal: code === null ? 'SIGTERM' : null, stdout: '{}', stderr }
      const expected =
        code === 2 ? stderr.trim() || 'no reason given' : code === null ? 'was ended by SIGTERM' : `ended with exit status ${code}`
      expect(refusalOf(event, end)).toContain(expected)
    }),
  )
})

test('a key that is not known, or names an owner, anywhere beside the arguments: the call stops', () => {
  const place = fc.constantFrom('top', 'specific', 'decision')
  fc.assert(
    fc.property(
      fc.constantFrom(...EVENTS),
      place,
      fc.oneof(fc.constantFrom(...OWNERSHIP_KEYS), fc.stringMatching(/^[a-z]{1,3}X[a-z]{0,8}$/)),
      fc.jsonValue(),
      (event, where, key, value) => {
        const odd = { [key]: value }
        const output =
          where === 'top'
            ? odd
            : {
                hookSpecificOutput:
                  where === 'specific' || event !== 'PermissionRequest' ? odd : { decision: { behavior: 'allow', ...odd } },
              }
        expect(tried(event, output)).toMatch(OWNERSHIP_KEYS.has(key) ? /cannot change the tool environment/ : /unknown key/)
      },
    ),
  )
})

test('what is not refused and not asked has said nothing of the kind', () => {
  const output = fc.record(
    {
      continue: fc.boolean(),
      decision: fc.constantFrom('block', 'approve', null),
      reason: fc.string(),
      hookSpecificOutput: fc.record(
        { permissionDecision: fc.constantFrom('allow', 'deny', 'ask', null), updatedInput: fc.dictionary(fc.string(), fc.integer()) },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(output, (value) => {
      const { refuse, ask } = said('PreToolUse', value)
      const no = value.continue === false || value.decision === 'block' || value.hookSpecificOutput?.permissionDecision === 'deny'
      expect([refuse !== undefined, ask !== undefined]).toEqual([no, value.hookSpecificOutput?.permissionDecision === 'ask'])
    }),
  )
})
