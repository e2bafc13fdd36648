// vectors/command-hooks.json, every row: what is expected is looked up by the words of the row (`ours`, or its own where ours is the same),
// and each kind of end has expectations of its own.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { CallOutcome } from '../../../src/index.ts'
import type { TestRuntime } from '../../../src/testing/index.ts'
import { CALL, kept, keeps, newFolder, openHooked, prints, toolCalls, type Written, writeHooks } from './kit.ts'

interface Output {
  readonly stdout?: object
  readonly stdoutText?: string
  readonly stderr?: string
  readonly exit?: number
  readonly sleepMs?: number
  readonly timeoutSec?: number
  readonly type?: string
}
interface Row {
  readonly event: string
  readonly id: string
  readonly hook: Output | readonly Output[]
  readonly effect: string
  readonly for?: string
  readonly ours: 'same' | { readonly effect: string; readonly outcome?: string; readonly code?: string; readonly sent?: string }
}
const { cases } = JSON.parse(readFileSync(new URL('../../vectors/command-hooks.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}

/** Limits of rows are those of people; here a second is a tenth of one. */
const SCALE = 10

function commandOf(folder: string, { stdout, stdoutText, stderr, exit = 0, sleepMs, timeoutSec, ...more }: Output): Written {
  const say = prints(folder, stdout ?? stdoutText ?? '', exit)
  const sleep = sleepMs === undefined ? '' : `sleep ${sleepMs / SCALE / 1000}; `
  const complain = stderr === undefined ? '' : `echo ${stderr} >&2; `
  return { command: `${sleep}${complain}${say}`, ...(timeoutSec !== undefined && { timeout: timeoutSec / SCALE }), ...more }
}

interface Seen {
  readonly t: TestRuntime
  readonly outcome: CallOutcome
  readonly folder: string
}
type Check = (seen: Seen) => void

const sentAs =
  (args: object): Check =>
  ({ t, outcome }) => {
    expect(outcome).toMatchObject({ outcome: 'completed', sent: 'yes' })
    expect(toolCalls(t)).toEqual([args])
  }
const refused =
  (reason?: string): Check =>
  ({ t, outcome }) => {
    expect(outcome).toMatchObject({ outcome: 'refused', sent: 'no', ...(reason !== undefined && { reason, by: 'tap' }) })
    expect(t.sent.filter(({ method }) => method === 'tools/call' || method === 'resources/read')).toEqual([])
  }
const withheld: Check = ({ outcome }) => {
  expect(outcome).toMatchObject({ outcome: 'result_withheld', sent: 'yes' })
  expect(outcome.forModel.text).toContain('R')
  expect(outcome.forModel.text).not.toContain('"text"')
}

/** The words of a row → what they mean. */
const EFFECTS: Readonly<Record<string, Check>> = {
  'call goes on unchanged': sentAs({ text: 'x' }),
  'arguments replaced': ({ t, outcome }) => {
    expect(outcome.outcome).toBe('completed')
    expect(toolCalls(t)).toEqual([{ text: 'REWRITTEN' }])
  },
  'call blocked': refused('R'),
  'call refused, nothing is sent': refused(),
  'call refused, nothing is sent; the reason is stopReason': refused('halt'),
  'carried to the approve step: the person is asked, also where policy would not; without an approver no_approver': ({ t, outcome }) => {
    expect(outcome.outcome).toBe('completed')
    expect(t.asked).toHaveLength(1)
  },
  'call stopped, nothing is sent': ({ t, outcome }) => {
    expect(outcome).toMatchObject({ sent: 'no', key: 'environment_id' })
    expect(outcome).toHaveProperty('message', expect.stringContaining('hook cannot change the tool environment (environment_id)'))
    expect(toolCalls(t)).toEqual([])
  },
  'call goes on unchanged; C is handed to the host with the outcome': (seen) => {
    sentAs({ text: 'x' })(seen)
    expect(seen.outcome.additionalContext).toEqual(['C'])
  },
  'the call is sent with SECOND; the second hook saw FIRST': ({ t, folder }) => {
    expect(toolCalls(t)).toEqual([{ text: 'SECOND' }])
    expect(kept(folder, 'second').map(({ tool_input }) => tool_input)).toEqual([{ text: 'FIRST' }])
  },
  'the user is asked': ({ t, outcome }) => {
    expect(outcome.outcome).toBe('completed')
    expect(t.asked).toHaveLength(1)
  },
  'call runs, the user is not asked': (seen) => {
    sentAs({ text: 'x' })(seen)
    expect(seen.t.asked).toEqual([])
  },
  'no call, the user is not asked': (seen) => {
    refused('M')(seen)
    expect(seen.t.asked).toEqual([])
  },
  'the model sees R instead of the result': withheld,
  'result unchanged, C is handed to the host with the outcome': ({ outcome }) => {
    expect(outcome).toMatchObject({ outcome: 'completed', additionalContext: ['C'] })
    expect(outcome.forModel.text).toBe('{"text":"x"}')
  },
  'result replaced': ({ outcome }) => expect(outcome).toMatchObject({ outcome: 'completed', result: { content: [] } }),
  'PostToolUse or PostToolUseFailure runs, one of them, once': ({ folder, t }) => {
    expect(toolCalls(t)).toHaveLength(1)
    expect(kept(folder, 'after').map(({ hook_event_name }) => hook_event_name)).toHaveLength(1)
  },
}

const own = (row: Row): Exclude<Row['ours'], 'same'> => (row.ours === 'same' ? row : row.ours)

test.each(cases.filter(({ id }) => id !== 'mcp-tool-hook'))('$event $id $for', async (row) => {
  const folder = newFolder()
  const outputs = [row.hook].flat() as readonly Output[]
  const isAfter = row.id.startsWith('after-')
  const hooks = outputs.map((output, index): Written => {
    const { command, ...more } = commandOf(folder, output)
    // the first of two rewriters is the slow one
    const watch = isAfter ? `${keeps('after')}; ` : outputs.length > 1 ? (index === 0 ? 'sleep 0.2; ' : `${keeps('second')}; `) : ''
    return { command: `${watch}${command}`, ...more }
  })
  const file = writeHooks(folder, { [row.event]: hooks })
  const isAsked = row.event === 'PermissionRequest'
  await using t = await openHooked(
    { file },
    {
      ...(isAsked && { policies: { db: { defaultToolsApprovalMode: 'prompt' } } }),
      resourceTools: row.for === 'resource tool',
    },
  )
  const request =
    row.for === 'resource tool'
      ? { name: 'read_mcp_resource', arguments: { server: 'db', environment_id: 'prod', uri: 'mem://a' } }
      : { ...CALL, tool: row.id === 'after-isError' ? 'fails' : 'echo', ...(row.id === 'after-rpc-error' && { tool: 'misses' }) }
  const outcome = await t.callTool(request)
  const { effect, outcome: kind, code, sent } = own(row)
  expect(Object.keys(EFFECTS)).toContain(effect)
  EFFECTS[effect]!({ t, outcome, folder })
  expect(outcome).toMatchObject({
    ...(kind !== undefined && { outcome: kind }),
    ...(code !== undefined && { code }),
    ...(sent !== undefined && { sent }),
  })
})

test('mcp-tool-hook: an error at load that names file and type', async () => {
  const row = cases.find(({ id }) => id === 'mcp-tool-hook')!
  const folder = newFolder()
  const file = writeHooks(folder, { PreToolUse: [{ command: 'true', ...(row.hook as object) }] })
  await expect(openHooked({ file })).rejects.toMatchObject({
    code: own(row).code,
    message: expect.stringMatching(new RegExp(`${file}:1:\\d+.*"mcp_tool"`)),
  })
})

test('ask without anybody to ask is no_approver, and under the policy never a refusal', async () => {
  const folder = newFolder()
  const command = prints(folder, {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: 'sure?' },
  })
  const file = writeHooks(folder, { PreToolUse: [{ command }] })
  await using t = await openHooked({ file }, { session: { approver: null } })
  expect(await t.callTool(CALL)).toMatchObject({ outcome: 'no_approver', sent: 'no' })
  await using asked = await openHooked({ file })
  expect((await asked.callTool(CALL)).outcome).toBe('completed')
  expect(asked.asked[0]).toMatchObject({ tool: 'echo' })
  expect(JSON.stringify(asked.asked[0])).toContain('sure?')
})

test('a resource that a hook wants asked about: hooks of PermissionRequest answer for it', async () => {
  const folder = newFolder()
  const asks = prints(folder, { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } })
  const denies = prints(folder, {
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: 'M' } },
  })
  const file = writeHooks(folder, {
    PreToolUse: [{ command: asks }],
    PermissionRequest: [{ matcher: 'read_mcp_resource', command: denies }],
  })
  await using t = await openHooked({ file }, { resourceTools: true })
  const outcome = await t.callTool({ name: 'read_mcp_resource', arguments: { server: 'db', environment_id: 'prod', uri: 'mem://a' } })
  expect(outcome).toMatchObject({ outcome: 'refused', sent: 'no', reason: 'M' })
  expect(t.asked).toEqual([])
})
