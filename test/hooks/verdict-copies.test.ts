import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import type * as Verdicts from '../../src/verdicts.ts'

const db = scriptedServer({ tools: { read: { annotations: { readOnlyHint: true } }, drop: {} } })

test('a verdict of another copy of the package counts: a plugin may bring a copy of its own', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-copy-'))
  try {
    cpSync('src/verdicts.ts', path.join(folder, 'verdicts.ts'))
    const other = (await import(pathToFileURL(path.join(folder, 'verdicts.ts')).href)) as typeof Verdicts
    const returned = { read: other.deny('not today'), drop: other.allow() }
    await using t = await openTestRuntime({
      threadWide: { db },
      hooks: [{ name: 'foreign', apply: ({ hooks }) => hooks.approve.tap('foreign', (call) => returned[call.tool as 'read' | 'drop']) }],
    })
    expect(await t.callTool({ server: 'db', tool: 'read' })).toMatchObject({ outcome: 'refused', by: 'tap', reason: 'not today' })
    expect(await t.callTool({ server: 'db', tool: 'drop' })).toMatchObject({ outcome: 'completed' })
    expect(t.asked).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.each([
  ['a plain object', { decision: 'allow' }],
  ['a spread copy', { [Symbol.for('tapline.verdict')]: ['allow', undefined] }],
  ['a kind that is none', Object.freeze({ [Symbol.for('tapline.verdict')]: ['maybe', undefined] })],
  [
    'a getter that throws',
    Object.freeze({
      get [Symbol.for('tapline.verdict')]() {
        throw new Error('no')
      },
    }),
  ],
  ['a Proxy', new Proxy(Object.freeze({ [Symbol.for('tapline.verdict')]: ['allow', undefined] }), {})],
])('%s is no verdict', async (_what, value) => {
  await using t = await openTestRuntime({
    threadWide: { db },
    hooks: [{ name: 'p', apply: ({ hooks }) => hooks.approve.tap('p', (() => value) as never) }],
  })
  expect(await t.callTool({ server: 'db', tool: 'drop' })).toMatchObject({ outcome: 'refused', code: 'HOOK_BAD_RETURN', sent: 'no' })
})
