/** Trace files through the built command line: written by real calls, shown, and what is said of broken ones. */
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import type { CallRecord, SessionRecord, ShadowEffect } from '../../src/index.ts'
import { call, misfit, session, tap } from '../trace/kit.ts'
import { MAIN, Place, server } from './tapline.ts'

const LIMIT = 60_000
const HOOK = `import { deny } from 'tapline/plugin'
export default { name: 'guard', apply: ({ hooks }) => hooks.approve.tap('no-write', (call) => call.tool === 'write' ? deny('not here \\u001b[2J') : undefined) }`
const SECRET = 'marked-secret-91'

async function place(): Promise<Place> {
  const at = await Place.make()
  await at.write('c.json', {
    mcpServers: { files: { ...server('A'), env: { TOKEN: SECRET }, defaultToolsApprovalMode: 'approve' } },
    hooks: ['./guard.mjs'],
    trace: { file: 'traces/all.jsonl', arguments: true },
  })
  await at.write('guard.mjs', HOOK.replace("'tapline/plugin'", JSON.stringify(new URL('../../dist/plugin.js', import.meta.url).href)))
  await at.write('traces/.keep', '')
  return at
}
const CALL = ['--config', 'c.json', 'call', '--server', 'files']

test('calls leave records in the file of the configuration, or in that of --trace-file; trace show shows them', {
  timeout: LIMIT,
}, async () => {
  await using at = await place()
  const called = await at.run([...CALL, 'echo', JSON.stringify({ text: SECRET }), '--json'])
  expect([called.status, 'trace' in called.json]).toEqual([0, false])
  const refused = await at.run([...CALL, 'write', '{"path":"a"}'])
  expect([refused.status, refused.stderr.includes('time line')]).toEqual([3, false])
  expect((await at.run([...CALL, 'fails', '--trace-file', 'other.jsonl'])).status).toBe(1)
  const text = await readFile(at.path('traces/all.jsonl'), 'utf8')
  expect(text).not.toContain(SECRET)
  const shown = await at.run(['trace', 'show', 'traces/all.jsonl'])
  expect([shown.status, shown.stderr]).toEqual([0, ''])
  expect(shown.stdout).toMatch(
    /^session \S+ {2}\d{4}-.*\n +environments +local \(local\)\n +hook plugins +guard \(enforce\)\n +flags +multi_environment_mcp = false/,
  )
  expect(shown.stdout).toMatch(/\ncall \S+\.1 {2}files {2}echo {2}completed after [\d.]+ m?s\n/)
  expect(shown.stdout).toMatch(/"text": "\[redacted\]"/)
  expect(shown.stdout).toMatch(/files {2}write {2}refused after .*\n.*\n.*not here \\u001b\[2J.*\(CALL_REFUSED; nothing was sent\)/)
  expect(shown.stdout).toMatch(/no-write +guard +deny +[\d.]+ ms +█*[▏▎▍▌▋▊▉]? +not here/)
  expect(shown.stdout).not.toContain('\u001b')
  const { json } = await at.run(['trace', 'show', 'traces/all.jsonl', '--json'])
  expect(json.records.map((one: any) => one.type)).toEqual(['session', 'call', 'session', 'call'])
  expect(json.records.map(misfit)).toEqual([null, null, null, null])
  expect([json.problems, json.problemCount]).toEqual([[], 0])
  const other = (await readFile(at.path('other.jsonl'), 'utf8')).trimEnd().split('\n')
  expect(other.map((line) => JSON.parse(line).isError)).toEqual([undefined, true])
})

test('a file that cannot be written is a warning; the call is what it is', { timeout: LIMIT }, async () => {
  await using at = await place()
  const { status, stdout, stderr } = await at.run([...CALL, 'echo', '{"a":1}', '--trace-file', 'no/such/folder.jsonl'])
  expect([status, stdout]).toEqual([0, '{"a":1}\n'])
  expect(stderr).toMatch(/warning: the trace file \S+no\/such\/folder.jsonl cannot be written: ENOENT.* \(trace_not_written\)\n$/)
})

test('trace show: one call, standard input, broken lines, and files that are none', { timeout: LIMIT }, async () => {
  await using at = await place()
  const odd = (id: string, callId: string): CallRecord => call('s', id, {}, { callId, outcome: 'later_word' as never, durationMs: 2 })
  const lines = [odd('s.1', 'a'), odd('s.2', 'b\u001b'), { v: 1, type: 'gap', time: 't', records: 3 }].map((one) => JSON.stringify(one))
  const text = [lines[0], '{"v":9}', lines[1], ...Array<string>(30).fill('{broken'), lines[2], '{"v":1,"ty'].join('\n')
  await writeFile(at.path('t.jsonl'), text)
  const all = await at.run(['trace', 'show', '-'], { input: text })
  expect(all.status).toBe(0)
  expect(all.stdout.match(/^call s\.\d {2}db \(environment prod\) {2}drop {2}later_word after 2\.0 ms$/gm)).toHaveLength(2)
  expect(all.stdout).toContain('3 records before t could not be written')
  expect(all.stderr.split('\n').slice(0, 2)).toEqual([
    'warning: -:2: the line has version 9 of the format; this tapline reads 1',
    'warning: -:4: the line is not JSON',
  ])
  expect(all.stderr).toContain('12 more lines cannot be read')
  const one = await at.run(['trace', 'show', 't.jsonl', '--call', 'b\u001b', '--json'])
  expect(one.json).toMatchObject({ records: [{ id: 's.2', callId: 'b\u001b' }], problemCount: 32 })
  expect(one.json.problems[1]).toEqual({ file: 't.jsonl', line: 4, problem: 'is not JSON' })
  for (const [args, code] of [
    [['t.jsonl', '--call', 'c'], 'CLI_USAGE'],
    [['nope.jsonl'], 'TRACE_UNREADABLE'],
    [['.'], 'TRACE_UNREADABLE'],
    [['guard.mjs'], 'TRACE_UNREADABLE'],
  ] as const) {
    const failed = await at.run(['trace', 'show', ...args, '--json'])
    expect([failed.status, failed.json.error.code], String(args)).toEqual([2, code])
    expect(failed.json.error.message).not.toMatch(/E[A-Z]{4,}/)
  }
  // also behind a file whose mistakes are more than are kept
  const second = await at.run(['rollout', 'report', 't.jsonl', 'guard.mjs'])
  expect(second.stderr).toMatch(/no line of guard\.mjs is a record of a trace; line 1 is not JSON/)
})

test('a large file is shown in little memory', { timeout: LIMIT }, async () => {
  await using at = await place()
  const record = JSON.stringify({ v: 1, type: 'gap', time: 'x'.repeat(400), records: 1 })
  await writeFile(at.path('large.jsonl'), `${record}\n`.repeat(100_000))
  const { status, stdout } = await at.run(['trace', 'show', 'large.jsonl', '--json'], { env: { NODE_OPTIONS: '--max-old-space-size=32' } })
  expect([status, stdout.length > 40_000_000]).toEqual([0, true])
})

test('trace show stops with its reader, and with Ctrl-C', { timeout: LIMIT }, async () => {
  const record = `${JSON.stringify({ v: 1, type: 'gap', time: 'x'.repeat(2000), records: 1 })}\n`
  // its standard input never ends by itself
  const started = (): ChildProcessByStdio<Writable, Readable, null> => {
    const child = spawn(process.execPath, [MAIN, 'trace', 'show', '-'], { stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdin.on('error', () => {})
    child.stdin.write(record)
    return child
  }
  const abandoned = started()
  await once(abandoned.stdout, 'data')
  abandoned.stdout.destroy()
  const writing = setInterval(() => abandoned.stdin.write(record), 5)
  expect((await once(abandoned, 'exit'))[0]).toBe(0)
  clearInterval(writing)
  const interrupted = started()
  await once(interrupted.stdout, 'data')
  interrupted.kill('SIGINT')
  expect((await once(interrupted, 'exit'))[0]).toBe(130)
})

test('rollout report: several files, for people and in JSON', { timeout: LIMIT }, async () => {
  await using at = await place()
  const opened = (id: string, value: boolean): SessionRecord => session(id, value, [{ name: 'guard', mode: 'shadow' }])
  const called = (of: string, wouldHave: ShadowEffect[], outcome: CallRecord['outcome']): CallRecord =>
    call(of, `${of}.1`, { taps: [tap('guard', 'deny', { tap: 'no' })], shadow: [{ plugin: 'guard', wouldHave }] }, { outcome })
  const lines = (...all: object[]): string => all.map((one) => `${JSON.stringify(one)}\n`).join('')
  await writeFile(at.path('a.jsonl'), lines(opened('a', true), called('a', ['refused'], 'completed'), called('a', [], 'completed')))
  await writeFile(at.path('b.jsonl'), `${lines(opened('b', false), called('b', ['refused', 'metadata'], 'server_failed'))}{"v":`)
  const { status, stdout, stderr } = await at.run(['rollout', 'report', 'a.jsonl', 'b.jsonl'])
  expect([status, stderr.match(/^warning: b\.jsonl:3: the line is not JSON/gm)?.length]).toEqual([0, 1])
  expect(stdout).toMatch(/^3 calls of 2 sessions/)
  expect(stdout).toMatch(/^guard {2}in shadow {2}3 calls, 2 sessions$/m)
  expect(stdout).toMatch(/^ +would have refused it +2 +66\.7 % +e\.g\. a\.1, b\.1$/m)
  expect(stdout).toMatch(/^ +would have done nothing +1 +33\.3 %$/m)
  expect(stdout).toMatch(/^ +of 2 calls that it would have stopped, 2 calls ran$/m)
  expect(stdout).toMatch(/^ +approve\/no +3 runs +half within 1\.0 ms/m)
  expect(stdout).toMatch(/^flag multi_environment_mcp\n +value +sessions +calls +completed +server failed +tool errors/m)
  expect(stdout).toMatch(/^ +false \(off\) +1 +1 +0 \(0\.0 %\) +1 \(100\.0 %\)/m)
  const { json } = await at.run(['rollout', 'report', 'a.jsonl', '--json'])
  expect(json).toMatchObject({
    sessions: 1,
    calls: 2,
    plugins: [{ plugin: 'guard', effects: { refused: 1 }, agreement: 0.5 }],
    flags: [],
    problemCount: 0,
  })
  expect((await at.run(['rollout', 'report', 'a.jsonl', 'nope'])).status).toBe(2)
})
