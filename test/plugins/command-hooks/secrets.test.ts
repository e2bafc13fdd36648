// What hooks get in variables that are named under `env` comes out of them in no way but one: arguments that they write.
import { expect, test } from 'vitest'
import { CALL, newFolder, openHooked, prints, toolCalls, writeHooks } from './kit.ts'

const SECRET = 'sup3r-s3cret"value'
const IN_JSON = JSON.stringify(SECRET).slice(1, -1)
const specific = (event: string, body: string): string => `{"hookSpecificOutput":{"hookEventName":"${event}",${body}}}`

test.each<[string, string, string, number?]>([
  ['a reason', 'PreToolUse', `{"decision":"block","reason":"with ${IN_JSON}"}`],
  ['a reason to deny', 'PreToolUse', specific('PreToolUse', `"permissionDecision":"deny","permissionDecisionReason":"${IN_JSON}"`)],
  ['a reason to stop', 'PreToolUse', `{"continue":false,"stopReason":"${IN_JSON}"}`],
  ['a question', 'PreToolUse', specific('PreToolUse', `"permissionDecision":"ask","permissionDecisionReason":"${IN_JSON}"`)],
  ['a reason to allow', 'PreToolUse', specific('PreToolUse', `"permissionDecision":"allow","permissionDecisionReason":"${IN_JSON}"`)],
  ['what the model is told', 'PreToolUse', specific('PreToolUse', `"additionalContext":"${IN_JSON}"`)],
  ['a line of the log', 'PreToolUse', `{"systemMessage":"${IN_JSON}"}`],
  ['plain text', 'PreToolUse', `token ${SECRET}`],
  ['text that is no JSON', 'PreToolUse', `{"decision ${SECRET}`],
  ['a key', 'PreToolUse', `{"${IN_JSON}":1}`],
  ['a key twice', 'PreToolUse', `{"${IN_JSON}":1,"${IN_JSON}":2}`],
  ['the name of an event', 'PreToolUse', `{"hookSpecificOutput":{"hookEventName":"${IN_JSON}"}}`],
  ['a decision', 'PreToolUse', `{"decision":"${IN_JSON}"}`],
  ['standard error', 'PreToolUse', '', 2],
  ['standard error of a crash', 'PreToolUse', '', 3],
  ['an answer for a person', 'PermissionRequest', specific('PermissionRequest', `"decision":{"behavior":"deny","message":"${IN_JSON}"}`)],
  ['a reason after the call', 'PostToolUse', `{"decision":"block","reason":"${IN_JSON}"}`],
  ['what the model is told after the call', 'PostToolUse', specific('PostToolUse', `"additionalContext":"${IN_JSON}"`)],
  ['a result', 'PostToolUse', specific('PostToolUse', `"updatedToolOutput":{"content":[{"type":"text","text":"${IN_JSON}"}]}`)],
])('a secret in %s', async (_what, event, output, status = 0) => {
  process.env['TAPLINE_TEST_TOKEN'] = SECRET
  try {
    const folder = newFolder()
    const file = writeHooks(folder, { [event]: [{ command: `printenv TAPLINE_TEST_TOKEN >&2; ${prints(folder, output, status)}` }] })
    const log: unknown[] = []
    const keep = (...said: unknown[]): unknown => log.push(said)
    await using t = await openHooked(
      { file, env: ['TAPLINE_TEST_TOKEN'] },
      {
        trace: true,
        logger: { debug: keep, info: keep, warn: keep, error: keep },
        ...(event === 'PermissionRequest' && { policies: { db: { defaultToolsApprovalMode: 'prompt' } } }),
      },
    )
    const outcome = await t.callTool(CALL)
    const causes: unknown[] = []
    for (let one: unknown = (outcome as { readonly error?: unknown }).error; one instanceof Error; one = one.cause)
      causes.push(String(one), one.stack, Object.entries(one))
    const seen = JSON.stringify([outcome, causes, t.asked, log, t.diagnostics])
    expect(seen).not.toContain('s3cret')
    // it did say something
    expect(seen).toContain('[redacted]')
  } finally {
    delete process.env['TAPLINE_TEST_TOKEN']
  }
})

test('new arguments may hold it: that is what they are for', async () => {
  process.env['TAPLINE_TEST_TOKEN'] = SECRET
  try {
    const folder = newFolder()
    const file = writeHooks(folder, {
      PreToolUse: [{ command: prints(folder, specific('PreToolUse', `"updatedInput":{"text":"${IN_JSON}"}`)) }],
    })
    await using t = await openHooked({ file, env: ['TAPLINE_TEST_TOKEN'] })
    await t.callTool(CALL)
    expect(toolCalls(t)).toEqual([{ text: SECRET }])
  } finally {
    delete process.env['TAPLINE_TEST_TOKEN']
  }
})
