import { PassThrough } from 'node:stream'
import picocolors from 'picocolors'
import { expect, test } from 'vitest'
import { approverFor } from '../../src/cli/approver.ts'
import type { Approve } from '../../src/cli/approver.ts'
import { askAtTerminal } from '../../src/cli/ask.ts'
import type { CliContext } from '../../src/cli/context.ts'
import type { ApprovalAnswer, ApprovalQuestion } from '../../src/runtime/types.ts'
import { question } from './samples.ts'

const DOWN = '\u001b[B'
const UP = '\u001b[A'

/** Asks at a terminal made of two streams and types these keys. */
async function ask(
  keys: readonly string[],
  put: Partial<ApprovalQuestion> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<{ answer: ApprovalAnswer; said: string }> {
  const stdin = new PassThrough()
  const stderr = new PassThrough()
  let said = ''
  stderr.on('data', (chunk: Buffer) => (said += String(chunk)))
  const answered = askAtTerminal({ ...question(), ...put }, { signal, stdin, stderr, paint: picocolors.createColors(false) })
  for (const key of keys) {
    await new Promise((done) => setTimeout(done, 30))
    stdin.write(key)
  }
  return { answer: await answered, said }
}

test('a stray Enter runs nothing', async () => {
  expect((await ask(['\r'])).answer).toMatchObject({ action: 'decline' })
})

test('once, for the session, and cancel', async () => {
  expect((await ask([UP, UP, '\r'])).answer).toEqual({ action: 'accept' })
  expect((await ask([UP, '\r'])).answer).toEqual({ action: 'accept', remember: 'session' })
  expect((await ask(['\u0003'])).answer).toEqual({ action: 'cancel' })
  expect((await ask([DOWN, '\r'], { canRemember: [] })).answer).toEqual({ action: 'accept' })
  const both = { canRemember: ['session', 'always'] } as const
  expect((await ask([UP, '\r'], both)).answer).toEqual({ action: 'accept', remember: 'always' })
  expect((await ask([UP, UP, '\r'], both)).answer).toEqual({ action: 'accept', remember: 'session' })
})

test('a question that was withdrawn is cancelled', async () => {
  expect((await ask([], {}, AbortSignal.timeout(50))).answer).toEqual({ action: 'cancel' })
})

test('always is offered only where it can be remembered', async () => {
  expect((await ask(['\r'])).said).not.toContain('Always allow')
  expect((await ask(['\r'], { canRemember: ['session', 'always'] })).said).toContain('Always allow')
})

test('what changed since the last yes is shown, before and after', async () => {
  const changes = [{ what: 'arguments', before: 'one two', after: 'one two --more\u001b[2J' }]
  const { said } = await ask(['\r'], { changes })
  expect(said).toContain('changed since it was last allowed')
  expect(said).toContain('- one two\n')
  expect(said).toContain('+ one two --more\\u001b[2J')
})

test('a key shows what is folded, and nothing runs by it', async () => {
  const long = { arguments: { script: `HEAD${'x'.repeat(3000)}NEEDLE${'y'.repeat(3000)}TAIL` } }
  const folded = await ask(['\r'], long)
  expect(folded.said).toContain('a shows all of it')
  expect(folded.said).not.toContain('NEEDLE')
  const all = await ask(['a', '\r'], long)
  expect(all.answer).toMatchObject({ action: 'decline' })
  expect(all.said).toContain('NEEDLE')
  expect((await ask(['a', UP, '\r'], long)).answer).toEqual({ action: 'accept', remember: 'session' })
  expect((await ask(['a', '\u0003'], long)).answer).toEqual({ action: 'cancel' })
  // where nothing is folded it is no key at all
  expect((await ask(['a', '\r'])).answer).toMatchObject({ action: 'decline' })
})

test('what a server or a model gave cannot reach the terminal raw', async () => {
  const { said } = await ask(['\r'], {
    description: 'x\u001b]52;c;AAAA\u0007',
    arguments: { path: '\u001b[2J\u009b1m' },
    tool: 'a\u001b[8mb',
  })
  // oxlint-disable-next-line no-control-regex -- to find them is the point
  expect(said).not.toMatch(/\u001b\]52|\u001b\[2J|\u009b|\u001b\[8m/)
  expect(said).toContain('a\\u001b[8mb')
})

const context = (isTTY: boolean): CliContext => ({ stdin: { isTTY } }) as unknown as CliContext

test('--approve answers, and without a terminal nobody does', async () => {
  const signal = new AbortController().signal
  const answer = (approve: Approve, canRemember: ApprovalQuestion['canRemember']): Promise<ApprovalAnswer> | undefined =>
    approverFor(approve, context(false))?.({ ...question(), canRemember }, { signal })
  expect(await answer('once', [])).toEqual({ action: 'accept' })
  expect(await answer('session', ['session'])).toEqual({ action: 'accept', remember: 'session' })
  expect(await answer('session', [])).toEqual({ action: 'accept' })
  expect(await answer('always', ['session', 'always'])).toEqual({ action: 'accept', remember: 'always' })
  expect(await answer('always', ['session'])).toEqual({ action: 'accept' })
  expect(await answer('deny', ['session'])).toMatchObject({ action: 'decline' })
  expect(approverFor(undefined, context(false))).toBeUndefined()
})
