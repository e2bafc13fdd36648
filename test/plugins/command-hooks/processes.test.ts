// Hooks as processes: what they get, how they end, and that nothing is left of them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { LocalProcess } from '../../../src/connections/executors/local-process.ts'
import { HookProcesses } from '../../../src/plugins/command-hooks/hook-processes.ts'
import { kept, keeps, left, CALL, newFolder, openHooked, prints, toolCalls, writeHooks } from './kit.ts'

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 15_000; !holds(); ) {
    if (Date.now() > end) throw new Error('it did not happen within 15 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
/** Starts something in a session of its own that holds the pipes of the hook; `daemonEnds` ends it. */
const DAEMON = `setsid sh -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 600' & while [ ! -f daemon ]; do sleep 0.01; done; `
function daemonEnds(folder: string): void {
  const file = path.join(folder, 'daemon')
  if (!existsSync(file)) return
  process.kill(Number(readFileSync(file, 'utf8')))
  rmSync(file)
}
const ran = (folder: string, name: string): boolean => existsSync(path.join(folder, name))

test('input, folder, places and environment of a hook; no variable of ours that is not named', async () => {
  const folder = newFolder()
  const project = path.join(folder, '.claude')
  mkdirSync(project)
  Object.assign(process.env, { TAPLINE_TEST_TOKEN: 'a-secret-token', TAPLINE_TEST_PASSED: 'passed-on-value' })
  const file = writeHooks(project, {
    PreToolUse: [{ command: `${keeps('pre')}; pwd > where; env > variables` }],
    PostToolUse: [{ command: keeps('post') }],
  })
  await using t = await openHooked({ file, env: ['TAPLINE_TEST_PASSED', 'TAPLINE_TEST_ABSENT'] })
  expect((await t.callTool(CALL)).outcome).toBe('completed')
  const [pre] = kept(project, 'pre')
  const [tool] = (await t.session.listTools()).tools.filter((one) => one.tool === 'echo')
  expect(pre).toEqual({
    session_id: t.session.id,
    cwd: process.cwd(),
    hook_event_name: 'PreToolUse',
    permission_mode: 'default',
    tool_name: tool!.name,
    tool_input: { text: 'x' },
    tool_use_id: expect.any(String),
    mcp_server: { name: 'db', environment_id: 'prod', installation_id: null, key: 'db (environment prod)', plugin_id: null },
  })
  expect(kept(project, 'post')).toEqual([
    { ...pre, hook_event_name: 'PostToolUse', tool_response: { content: [{ type: 'text', text: '{"text":"x"}' }] } },
  ])
  expect(readFileSync(path.join(project, 'where'), 'utf8').trim()).toBe(project)
  const variables = readFileSync(path.join(project, 'variables'), 'utf8')
  expect(variables).toContain(`CLAUDE_PROJECT_DIR=${folder}\n`)
  expect(variables).toContain('TAPLINE_TEST_PASSED=passed-on-value')
  expect(variables).not.toContain('a-secret-token')
  delete process.env['TAPLINE_TEST_TOKEN']
  delete process.env['TAPLINE_TEST_PASSED']
})

test('the start-up file of the shell is not read, whatever it does', async () => {
  const folder = newFolder()
  const { HOME } = process.env
  writeFileSync(path.join(folder, '.bashrc'), 'touch "$HOME/bashrc-ran"; echo "{ broken"; cat >/dev/null\n')
  process.env['HOME'] = folder
  try {
    await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command: keeps('pre') }] }) })
    expect((await t.callTool(CALL)).outcome).toBe('completed')
  } finally {
    process.env['HOME'] = HOME
  }
  expect(kept(folder, 'pre')).toHaveLength(1)
  expect(ran(folder, 'bashrc-ran')).toBe(false)
})

test.each<[string, string, object]>([
  ['does not read its input', 'exec 0<&-; echo ok', { outcome: 'completed' }],
  ['closes its output and exits well', 'exec >&-; exit 0', { outcome: 'completed' }],
  ['is not there', './no-such-hook', { outcome: 'refused', code: 'HOOK_FAILED', by: 'tap_failure', sent: 'no' }],
  ['ends itself by a signal', 'kill -KILL $$', { outcome: 'refused', code: 'HOOK_FAILED', message: expect.stringContaining('SIGKILL') }],
  ['prints without end', 'yes "{"', { outcome: 'refused', code: 'HOOK_BAD_RETURN', message: expect.stringContaining('1 MiB') }],
  ['complains without end and then agrees', 'yes nonsense | head -c 3000000 >&2; echo ok', { outcome: 'completed' }],
  ['prints bytes that are no text', `printf 'v\\351rifi\\351'`, { outcome: 'completed' }],
  ['answers in bytes that are no text', `printf '{"reason":"\\377\\376"}'`, { outcome: 'refused', code: 'HOOK_BAD_RETURN' }],
  ['says a key twice', `echo '{"decision":"block","decision":"approve"}'`, { outcome: 'refused', code: 'HOOK_BAD_RETURN' }],
  [
    'gives a number that cannot be kept',
    `echo '{"hookSpecificOutput":{"updatedInput":{"n":12345678901234567890}}}'`,
    { code: 'HOOK_BAD_RETURN' },
  ],
])('a hook that %s', async (_what, command, expected) => {
  const folder = newFolder()
  const file = writeHooks(folder, { PreToolUse: [{ command }] })
  await using t = await openHooked({ file })
  // more than a pipe holds
  expect(await t.callTool({ ...CALL, arguments: { text: 'x'.repeat(300_000) } })).toMatchObject(expected)
  await t.close()
  expect(left(folder)).toEqual([])
})

test('onFailure: "continue" of a hook or of the file lets calls go on, but never an attempt on the owner', async () => {
  const folder = newFolder()
  const bad = { command: 'exit 1' }
  const moves = prints(folder, { hookSpecificOutput: { server: 'other' } })
  const file = writeHooks(folder, {
    PreToolUse: [
      { ...bad, onFailure: 'continue' },
      { command: 'sleep 20', timeout: 0.2, onFailure: 'continue' },
    ],
  })
  await using one = await openHooked({ file })
  expect((await one.callTool(CALL)).outcome).toBe('completed')
  await using all = await openHooked({
    file: writeHooks(folder, { PreToolUse: [bad], PostToolUse: [bad] }, 'all.json'),
    onFailure: 'continue',
  })
  expect((await all.callTool(CALL)).outcome).toBe('completed')
  await using owner = await openHooked({
    file: writeHooks(folder, { PostToolUse: [{ command: moves }] }, 'owner.json'),
    onFailure: 'continue',
  })
  expect(await owner.callTool(CALL)).toMatchObject({ outcome: 'result_withheld', code: 'HOOK_CHANGED_OWNER' })
})

const DENY = `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"NO"}}'`
test.each<[string, string, string, object]>([
  ['printed before its time was over', 'PreToolUse', `${DENY}; sleep 20`, { outcome: 'refused', code: 'CALL_REFUSED' }],
  ['printed after the call', 'PostToolUse', `echo '{"decision":"block","reason":"NO"}'; sleep 20`, { outcome: 'result_withheld' }],
  ['said by its exit status, though a daemon holds its output', 'PreToolUse', DAEMON + 'echo NO >&2; exit 2', { outcome: 'refused' }],
])('onFailure: "continue" does not lose a refusal that a hook %s', async (_what, event, command, expected) => {
  const folder = newFolder()
  const file = writeHooks(folder, { [event]: [{ command, timeout: 2, onFailure: 'continue' }] })
  await using t = await openHooked({ file })
  const outcome = await t.callTool(CALL)
  expect(outcome).toMatchObject(expected)
  expect(JSON.stringify(outcome)).toContain('NO')
  daemonEnds(folder)
})

test('a hook has ended when its process has, whoever holds its output: within its limit, and long before it', async () => {
  const folder = newFolder()
  const answer = prints(folder, { hookSpecificOutput: { updatedInput: { text: 'y' } } })
  for (const timeout of [2, 600]) {
    await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command: DAEMON + answer, timeout }] }) })
    expect((await t.callTool(CALL)).outcome).toBe('completed')
    expect(toolCalls(t)).toEqual([{ text: 'y' }])
    daemonEnds(folder)
  }
})

test('a call that is cancelled, or takes too long, ends the whole group of its hook', async () => {
  const folder = newFolder()
  const file = writeHooks(folder, { PreToolUse: [{ command: 'touch began; sleep 60 & sleep 60; touch ended' }] })
  await using t = await openHooked({ file })
  const abort = new AbortController()
  const call = t.callTool(CALL, { signal: abort.signal })
  await until(() => ran(folder, 'began'))
  abort.abort()
  expect(await call).toMatchObject({ outcome: 'cancelled', sent: 'no' })
  await until(() => left(folder).length === 0)
  expect(await t.callTool(CALL, { timeoutMs: 300 })).toMatchObject({ outcome: 'timed_out' })
  await until(() => left(folder).length === 0)
  expect(ran(folder, 'ended')).toBe(false)
  expect(toolCalls(t)).toEqual([])
})

test('a session that is closed while a hook runs takes it along; so do background children, also those that hold the output', async () => {
  const folder = newFolder()
  const file = writeHooks(folder, {
    PreToolUse: [
      { matcher: 'mcp__db__echo', command: 'sleep 60 & (sleep 60 &); echo ok' },
      { matcher: 'mcp__db__drop', command: 'trap "" TERM; touch began; while :; do sleep 1; done' },
    ],
  })
  const t = await openHooked({ file })
  // its children are ended with it, and the call does not wait for them
  expect((await t.callTool(CALL)).outcome).toBe('completed')
  const call = t.callTool({ ...CALL, tool: 'drop' })
  await until(() => ran(folder, 'began'))
  await t.close()
  expect(await call).toMatchObject({ outcome: 'cancelled' })
  expect(left(folder)).toEqual([])
})

test('async hooks hold nothing up, change nothing, are bounded in number, and end with the session', async () => {
  const folder = newFolder()
  const deny = prints(folder, { decision: 'block', reason: 'too late' })
  const file = writeHooks(folder, {
    PreToolUse: [{ command: `echo x >> started; ${deny.replace('; exit 0', '')}; sleep 60`, async: true }],
    PostToolUse: [{ matcher: 'mcp__db__drop', command: `echo '{"async":true}'; touch detached; sleep 60` }],
  })
  const t = await openHooked({ file })
  // one that detaches itself does not hold the result back
  expect((await t.callTool({ ...CALL, tool: 'drop' })).outcome).toBe('completed')
  await until(() => ran(folder, 'detached'))
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => t.callTool(CALL)))
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['completed']))
  // the one that detached itself is the sixteenth
  await until(() => ran(folder, 'started') && readFileSync(path.join(folder, 'started'), 'utf8').length === 2 * 15)
  await t.close()
  expect(left(folder)).toEqual([])
})

test('a call whose hooks run at once with those of others does not mix with them', async () => {
  const folder = newFolder()
  const command = `node -e 'let t="";process.stdin.on("data",(c)=>t+=c).on("end",()=>{const e=JSON.parse(t);console.log(JSON.stringify({hookSpecificOutput:{updatedInput:{text:e.tool_input.text+"!"},additionalContext:e.tool_input.text}}))})'`
  await using t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command }] }) })
  const outcomes = await Promise.all(Array.from({ length: 8 }, (_, n) => t.callTool({ ...CALL, arguments: { text: `n${n}` } })))
  expect(outcomes.map(({ forModel, additionalContext }) => [forModel.text, additionalContext])).toEqual(
    outcomes.map((_, n) => [`{"text":"n${n}!"}`, [`n${n}`]]),
  )
})

test('one that detaches itself where too many run already is waited for', async () => {
  const folder = newFolder()
  const file = writeHooks(folder, {
    PreToolUse: [{ matcher: 'mcp__db__echo', command: `echo '{"async":true}'; echo x >> started; sleep 60`, async: true }],
    PostToolUse: [{ matcher: 'mcp__db__drop', command: `echo '{"async":true}'; sleep 0.5; touch ended` }],
  })
  const t = await openHooked({ file })
  await Promise.all(Array.from({ length: 16 }, () => t.callTool(CALL)))
  expect((await t.callTool({ ...CALL, tool: 'drop' })).outcome).toBe('completed')
  expect(ran(folder, 'ended')).toBe(true)
  await t.close()
  expect(left(folder)).toEqual([])
})

test('a hook that prints on after its limit is ended once', async () => {
  const kill = vi.spyOn(LocalProcess.prototype, 'kill')
  try {
    const folder = newFolder()
    const t = await openHooked({ file: writeHooks(folder, { PreToolUse: [{ command: 'trap "" TERM; yes' }] }) })
    expect(await t.callTool(CALL)).toMatchObject({ outcome: 'refused', code: 'HOOK_BAD_RETURN' })
    await until(() => left(folder).length === 0)
    await t.close()
    expect(kill.mock.calls.flat()).toEqual(['terminate', 'kill'])
  } finally {
    kill.mockRestore()
  }
})

test('what was taken on starts within the last moment of a session, and nothing does after it', async () => {
  const folder = newFolder()
  const start = (name: string) => ({ command: `touch ${name}`, cwd: folder, env: { FOLDER: folder }, input: '', timeoutMs: 30_000 })
  let agree = (_may: boolean): void => {}
  const patient = new HookProcesses(30_000)
  expect(patient.detach(start('agreed'), () => new Promise((resolve) => setTimeout(resolve, 50, true)))).toBe(true)
  expect(patient.detach(start('not'), () => Promise.resolve(false))).toBe(true)
  const hasty = new HookProcesses(10)
  expect(hasty.detach(start('late'), () => new Promise((resolve) => (agree = resolve)))).toBe(true)
  const closed = Promise.all([patient.close(), hasty.close()])
  expect([patient, hasty].map((one) => one.detach(start('new')))).toEqual([false, false])
  await closed
  agree(true)
  await new Promise((resolve) => setImmediate(resolve))
  expect(left(folder)).toEqual([])
  expect(['agreed', 'late', 'not', 'new'].map((name) => ran(folder, name))).toEqual([true, false, false, false])
})
