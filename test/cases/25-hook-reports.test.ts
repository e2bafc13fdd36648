// Hooks as people report them from other harnesses: guards that fall silent, answers that get lost, hooks that run twice or not at all.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { CallTrace, ConfigFile, Diagnostic } from '../../src/index.ts'
import { memoryStore, openSession } from '../../src/index.ts'
import { commandHooks } from '../../src/plugins/builtin/index.ts'
import { openTestRuntime, type TestRuntimeOptions } from '../../src/testing/index.ts'
import { until } from './driver.ts'
import { CALL, kept, keeps, newFolder, openHooked, prints, toolCalls, writeHooks } from '../plugins/command-hooks/kit.ts'

const deny = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'R' } }
const rewrite = { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { text: 'new' } } }
const REFUSED = { outcome: 'refused', sent: 'no' }

test.each(['mcp__db__echo, mcp__db__clear', 'Bash,mcp__db__echo', ' mcp__db__echo | Bash ', 'Edit | Write , mcp__db__echo'])(
  'a list of names is a list however it is written: %j',
  async (matcher) => {
    const folder = newFolder()
    const file = writeHooks(folder, { PreToolUse: [{ matcher, command: 'exit 2' }] })
    await using t = await openHooked({ file })
    expect(await t.callTool(CALL)).toMatchObject(REFUSED)
    expect(await t.callTool({ ...CALL, tool: 'drop' })).toMatchObject({ outcome: 'completed' })
  },
)

test('a matcher that names a server alone fits no tool, and is told', async () => {
  const told: Diagnostic[] = []
  const hooks = { PreToolUse: [{ matcher: 'mcp__db|mcp__files__.*', hooks: [{ type: 'command', command: 'exit 2' }] }] }
  const list = { PreToolUse: [{ matcher: 'Bash|mcp__db', hooks: [{ type: 'command', command: 'exit 2' }] }] }
  for (const one of [hooks, list]) await commandHooks({ hooks: one, onDiagnostic: (it) => told.push(it) })
  expect(told.map(({ code, message }) => [code, message.includes('mcp__db__.*')])).toEqual([['hook_matcher_idle', true]])
})

test.each(['mcp__db__ec.*, mcp__files__.*', 'Edit, ^mcp__db__(echo|clear)$'])('and so is a list of expressions: %j', async (matcher) => {
  await using t = await openHooked({ hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command: 'exit 2' }] }] } })
  expect(await t.callTool(CALL)).toMatchObject(REFUSED)
  expect(await t.callTool({ ...CALL, tool: 'drop' })).toMatchObject({ outcome: 'completed' })
})

test('a switch that others have for all hooks of a file is told, and switches nothing off', async () => {
  const folder = newFolder()
  const told: string[] = []
  const file = path.join(folder, 'settings.json')
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'exit 2' }] }] }
  writeFileSync(file, JSON.stringify({ model: 'x', permissions: { allow: ['*'] }, disableAllHooks: true, hooks }))
  await using t = await openHooked({ file, onDiagnostic: ({ code, message }) => told.push(`${code} ${message}`) })
  expect(told).toEqual([expect.stringMatching(/^hook_key_unknown "disableAllHooks" has no effect/)])
  expect(await t.callTool(CALL)).toMatchObject(REFUSED)
})

test('a hooks file that two configurations name runs once; with other words about it, once for each', async () => {
  const folder = newFolder()
  writeHooks(folder, { PreToolUse: [{ command: keeps('ran') }] })
  const server = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'servers', 'echo.mjs'), 's'],
    env: { CASE_LEDGER: path.join(folder, 'ledger') },
  }
  const named = (name: string, entries: readonly object[]): ConfigFile => {
    writeFileSync(path.join(folder, name), JSON.stringify({ hooks: entries }))
    return { path: path.join(folder, name), kind: 'user' }
  }
  const call = async (config: readonly ConfigFile[]) => {
    await using session = await openSession({
      config,
      mcpServers: { s: { ...server, defaultToolsApprovalMode: 'approve' } },
      store: memoryStore(),
    })
    const before = kept(folder, 'ran').length
    const { tools } = await session.listTools()
    expect(await session.callTool({ name: tools[0]!.name, arguments: {} })).toMatchObject({ outcome: 'completed' })
    return kept(folder, 'ran').length - before
  }
  const entry = { commandHooks: 'hooks.json' }
  expect(await call([named('one.json', [entry]), named('two.json', [{ commandHooks: path.join(folder, 'hooks.json') }, entry])])).toBe(1)
  expect(await call([named('one.json', [entry, { ...entry, onFailure: 'continue' }, { ...entry, mode: 'off' }])])).toBe(2)
})

test.each<[string, string, string]>([
  ['a greeting', 'Shell ready on x86_64\n', ''],
  ['colours and empty lines', '\u001B[32mok\u001B[0m\r\n\r\n  ', '\r\n'],
  ['a byte order mark', '\uFEFF', '\n'],
])('what a guard says counts after %s', async (_what, before, after) => {
  const folder = newFolder()
  const say = (value: object): string => prints(folder, `${before}${JSON.stringify(value, null, 2)}${after}`)
  await using t = await openHooked({
    file: writeHooks(folder, {
      PreToolUse: [
        { matcher: 'mcp__db__drop', command: say(deny) },
        { matcher: 'mcp__db__echo', command: say(rewrite) },
      ],
    }),
  })
  expect(await t.callTool({ ...CALL, tool: 'drop' })).toMatchObject({ ...REFUSED, reason: 'R' })
  await t.callTool(CALL)
  expect(toolCalls(t)).toEqual([{ text: 'new' }])
})

test.each<[string, string, object]>([
  ['half an answer after a line of text', 'checking\n{"hookSpecificOutput":{"permissionDecision":"deny"', { code: 'HOOK_BAD_RETURN' }],
  ['an answer in UTF-16', Buffer.from(JSON.stringify(deny), 'utf16le').toString('latin1'), { code: 'HOOK_BAD_RETURN' }],
  ['two answers', `${JSON.stringify({ continue: true })}\n${JSON.stringify(deny)}`, { code: 'HOOK_BAD_RETURN' }],
  ['an answer with more behind it', `${JSON.stringify(deny)}\nbye`, { code: 'HOOK_BAD_RETURN' }],
])('%s stops the call', async (_what, text, expected) => {
  const folder = newFolder()
  writeFileSync(path.join(folder, 'said'), text, 'latin1')
  await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command: 'cat said' }] }) })
  expect(await t.callTool(CALL)).toMatchObject({ ...REFUSED, ...expected })
})

test.each([
  'ok',
  'checking { "a": 1 }',
  'log\n{"level":"info","msg":"decision was fine"}',
  'a\n{ not json',
  '[{"decision":"block"}]',
  '"deny"',
])('text that is no answer has no effect: %j', async (text) => {
  const folder = newFolder()
  await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command: prints(folder, text) }] }) })
  expect(await t.callTool(CALL)).toMatchObject({ outcome: 'completed' })
})

test('a refusal counts whatever the exit status is, also where failures are let through; anything else of a failed hook does not', async () => {
  const folder = newFolder()
  const of = async (value: unknown, status: number, event = 'PreToolUse') => {
    const file = writeHooks(folder, { [event]: [{ command: prints(folder, value, status) }] })
    await using t = await openHooked({ file, onFailure: 'continue' })
    const { outcome, ...more } = (await t.callTool(CALL)) as { outcome: string; reason?: string }
    return [outcome, more.reason, ...toolCalls(t)]
  }
  expect(await of(deny, 1)).toEqual(['refused', 'R'])
  expect(await of({ continue: false, stopReason: 'halt' }, 3)).toEqual(['refused', 'halt'])
  expect(await of({ decision: 'block', reason: 'old' }, 255)).toEqual(['refused', 'old'])
  // no standard error: the reason is on the other side
  expect(await of(deny, 2)).toEqual(['refused', 'R'])
  expect(await of('', 2)).toEqual(['refused', 'no reason given'])
  expect((await of({ decision: 'block', reason: 'old' }, 1, 'PostToolUse'))[0]).toBe('result_withheld')
  expect(await of(rewrite, 1)).toEqual(['completed', undefined, { text: 'x' }])
  expect(await of('{"decision":', 1)).toEqual(['completed', undefined, { text: 'x' }])
})

test('what one hook rewrote stays when those after it say nothing, something else, or are another file', async () => {
  const folder = newFolder()
  const first = writeHooks(folder, {
    PreToolUse: [{ command: prints(folder, rewrite) }, { command: 'exit 0' }, { command: 'echo fine' }, { command: prints(folder, {}) }],
  })
  const second = writeHooks(
    folder,
    { PreToolUse: [{ command: keeps('seen') }, { command: prints(folder, { suppressOutput: true }) }] },
    'second.json',
  )
  await using t = await openHooked([{ file: first }, { file: second }])
  expect(await t.callTool(CALL)).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(t)).toEqual([{ text: 'new' }])
  expect(kept(folder, 'seen').map(({ tool_input }) => tool_input)).toEqual([{ text: 'new' }])
})

test('a script that cannot be run is no permission: not executable, no such interpreter, line ends of Windows', async () => {
  const folder = newFolder()
  writeFileSync(path.join(folder, 'plain.sh'), '#!/bin/sh\nexit 0\n')
  writeFileSync(path.join(folder, 'crlf.sh'), '#!/bin/sh\r\nexit 0\r\n')
  chmodSync(path.join(folder, 'crlf.sh'), 0o755)
  for (const command of ['./plain.sh', './crlf.sh', 'no-such-interpreter plain.sh']) {
    await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command }] }) })
    expect(await t.callTool(CALL), command).toMatchObject({
      ...REFUSED,
      code: 'HOOK_FAILED',
      message: expect.stringContaining('PreToolUse[0].hooks[0]'),
    })
  }
})

test('folders with spaces, quotes and letters beyond ASCII: quoted variables work, and a command that falls apart stops the call', async () => {
  const folder = path.join(newFolder(), `my "project" ü $(x)`, '.claude')
  mkdirSync(path.join(folder, 'hooks'), { recursive: true })
  writeFileSync(path.join(folder, 'hooks', 'deny.sh'), 'echo no >&2; exit 2\n')
  const call = async (command: string) => {
    await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command }] }) })
    return await t.callTool(CALL)
  }
  expect(await call('sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/deny.sh')).toMatchObject({ ...REFUSED, reason: 'no' })
  expect(await call('sh ./hooks/deny.sh')).toMatchObject({ ...REFUSED, reason: 'no' })
  expect(await call('sh $CLAUDE_PROJECT_DIR/.claude/hooks/deny.sh')).toMatchObject(REFUSED)
})

test.each<[string, () => object, object]>([
  ['out of time', () => ({ timeoutMs: 400 }), { outcome: 'timed_out' }],
  ['cancelled', () => ({ signal: AbortSignal.timeout(400) }), { outcome: 'cancelled' }],
])('after a call that was sent and then was %s, the hooks of failures run once', async (_what, optionsOf, expected) => {
  const folder = newFolder()
  const file = writeHooks(folder, { PostToolUse: [{ command: keeps('post') }], PostToolUseFailure: [{ command: keeps('failure') }] })
  const t = await openHooked({ file }, {}, { hangs: { run: () => new Promise<never>(() => {}) } })
  expect(await t.callTool({ ...CALL, tool: 'hangs' }, optionsOf())).toMatchObject(expected)
  await t.close()
  expect(kept(folder, 'post')).toEqual([])
  expect(kept(folder, 'failure')).toMatchObject([
    { hook_event_name: 'PostToolUseFailure', error: expect.any(String), tool_response: { isError: true } },
  ])
})

/** False while a file is only half written. */
function isKept(look: () => boolean): boolean {
  try {
    return look()
  } catch {
    return false
  }
}

test.each(['enforce', 'shadow'] as const)('after every call that was sent, one of the events runs once: %s', async (mode) => {
  const folder = newFolder()
  const file = writeHooks(folder, { PostToolUse: [{ command: keeps('post') }], PostToolUseFailure: [{ command: keeps('failure') }] })
  const t = await openHooked([], { hooks: [{ plugin: await commandHooks({ file }), mode }] })
  for (const tool of ['echo', 'fails', 'misses', 'no-such-tool']) await t.callTool({ ...CALL, tool })
  await until(() => isKept(() => kept(folder, 'post').length + kept(folder, 'failure').length >= 3))
  await t.close()
  const ended = (['post', 'failure'] as const).flatMap((event) =>
    kept(folder, event).map(({ tool_name }) => [event, tool_name.split('__').at(-1)]),
  )
  expect(ended).toHaveLength(3)
  for (const one of [
    ['post', 'echo'],
    ['failure', 'fails'],
    ['failure', 'misses'],
  ])
    expect(ended).toContainEqual(one)
})

const ODD_SERVERS = ['my.db', 'a/b', 'x:y', 'scope@1.2', 'db__x', 'a-b', 'DB', '0123456789ab', `long-${'n'.repeat(60)}`]
const ODD_TOOLS = ['drop table', 'drop__all', 'löschen', '🗑', 'constructor', 't'.repeat(128), 'x_0123456789ab', '../up', 'a|b']

test('guards of odd names hold with the flag off, on, and off again, in every environment; what they do not name runs', async () => {
  const pairs = ODD_SERVERS.map((server, index) => [server, ODD_TOOLS[index] as string] as const)
  const folder = newFolder()
  const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const file = writeHooks(folder, {
    PreToolUse: pairs.map(([server, tool]) => ({ matcher: escaped(`mcp__${server}__${tool}`), command: 'echo guarded >&2; exit 2' })),
  })
  const servers = Object.fromEntries(pairs.map(([server, tool]) => [server, { tools: { [tool]: {}, fine: {} } }]))
  for (const isOn of [false, true, false]) {
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: isOn },
      environments: { prod: servers, staging: servers },
      policies: Object.fromEntries(ODD_SERVERS.map((server) => [server, { defaultToolsApprovalMode: 'approve' as const }])),
      hooks: [await commandHooks({ file })],
    })
    const { tools } = await t.session.listTools()
    expect(tools).toHaveLength((isOn ? 4 : 2) * pairs.length)
    const ends = await Promise.all(
      tools.map(async ({ name, tool }) => [tool, (await t.callTool({ name, arguments: {} })).outcome] as const),
    )
    expect(ends.filter(([tool, end]) => end !== (tool === 'fine' ? 'completed' : 'refused'))).toEqual([])
    expect(t.sent.filter(({ method, params }) => method === 'tools/call' && params['name'] !== 'fine')).toEqual([])
  }
})

test.each<[object, string]>([
  [{ hookSpecificOutput: { permissionDecision: 'deny' }, systemMessage: 'use pnpm' }, 'use pnpm'],
  [{ hookSpecificOutput: { permissionDecision: 'deny' }, reason: 'use pnpm' }, 'use pnpm'],
  [{ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'use pnpm' }, continue: false }, 'use pnpm'],
  [{ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'use pnpm' }, decision: 'block' }, 'use pnpm'],
  [{ decision: 'block', reason: '', systemMessage: 'use pnpm' }, 'use pnpm'],
  [{ continue: false }, 'no reason given'],
])('wherever a hook says why, the model is told: %j', async (value, reason) => {
  const folder = newFolder()
  await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command: prints(folder, value) }] }) })
  const outcome = await t.callTool(CALL)
  expect(outcome).toMatchObject({ ...REFUSED, reason })
  expect(outcome.forModel.text).toContain(reason)
})

test.each<[string, TestRuntimeOptions]>([
  ['the mode deny', { policies: { db: { defaultToolsApprovalMode: 'deny' } } }],
  ['a filter', { policies: { db: { disabledTools: ['echo'], defaultToolsApprovalMode: 'prompt' } } }],
])('no answer of hooks lifts what the user has said: %s', async (_what, options) => {
  const folder = newFolder()
  const specific = (hookEventName: string, more: object): object => ({ hookSpecificOutput: { hookEventName, ...more } })
  for (const permissionDecision of ['allow', 'ask']) {
    const file = writeHooks(folder, {
      PreToolUse: [{ command: prints(folder, specific('PreToolUse', { permissionDecision })) }],
      PermissionRequest: [{ command: prints(folder, specific('PermissionRequest', { decision: { behavior: 'allow' } })) }],
    })
    await using t = await openHooked({ file }, options)
    expect(await t.callTool(CALL)).toMatchObject(REFUSED)
    expect([t.asked, toolCalls(t)]).toEqual([[], []])
  }
})

test.each<[string, unknown, RegExp]>([
  ['a hook without its group', { PreToolUse: [{ type: 'command', command: 'exit 2' }] }, /needs "hooks"/],
  [
    'a matcher that is no text',
    { PreToolUse: [{ matcher: { type: 'tool' }, hooks: [{ type: 'command', command: 'exit 2' }] }] },
    /matcher/,
  ],
  ['a command that is a list', { PreToolUse: [{ hooks: [{ type: 'command', command: ['exit', '2'] }] }] }, /command/],
])('one bad entry is an error at load, not the end of its neighbours: %s', async (_what, bad, words) => {
  const folder = newFolder()
  const file = path.join(folder, 'hooks.json')
  writeFileSync(file, JSON.stringify({ hooks: { PostToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }], ...(bad as object) } }))
  await expect(commandHooks({ file })).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(words) })
})

test('hooks in shadow change nothing, whatever they say, and the trace has what they would have done', async () => {
  const folder = newFolder()
  const moves = { hookSpecificOutput: { environment_id: 'other' } }
  const ask = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }
  const PRE = [deny, rewrite, ask, moves, '{'].map((value) => ({ command: prints(folder, value) }))
  const file = writeHooks(folder, {
    PreToolUse: [...PRE, { command: 'exit 1' }, { command: 'sleep 20', timeout: 0.2 }],
    PostToolUse: [{ command: 'exit 2' }],
  })
  await using t = await openHooked([], { hooks: [{ plugin: await commandHooks({ file }), mode: 'shadow' }] })
  const whole = new Promise<CallTrace>((resolve) => t.session.subscribe((event) => event.type === 'traced' && resolve(event.trace)))
  expect(await t.callTool(CALL)).toMatchObject({ outcome: 'completed', forModel: { text: '{"text":"x"}' } })
  expect([t.asked, toolCalls(t)]).toEqual([[], [{ text: 'x' }]])
  const trace = await whole
  expect(trace.taps.map(({ mode, inEffect }) => [mode, inEffect])).toEqual(trace.taps.map(() => ['shadow', false]))
  expect(trace.taps.filter(({ hook }) => hook === 'resolve').map(({ decision }) => decision)).toEqual([
    'deny',
    'rewrite',
    'none',
    'changed_owner',
    'failed',
    'failed',
    'timed_out',
  ])
  expect(trace.shadow.map(({ plugin, wouldHave }) => [plugin, wouldHave])).toEqual([
    [file, expect.arrayContaining(['violated', 'failed', 'refused', 'asked'])],
  ])
})
