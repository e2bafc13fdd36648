import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { MULTI_ENVIRONMENT_MCP } from '../../src/index.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'

const db = scriptedServer({ tools: { read: { annotations: { readOnlyHint: true } } } })

test('context and flags can be taken apart, and a call can be printed', async () => {
  const lines: string[] = []
  const log = (_data: object, line: string): void => void lines.push(line)
  let shown = ''
  await using t = await openTestRuntime({
    threadWide: { db },
    logger: { debug: log, info: log, warn: log, error: log },
    hooks: [
      {
        name: 'p',
        apply({ hooks, session: { flags } }) {
          const { get, details, all } = flags
          hooks.approve.tap('p', (call, { log: say, flags: { get: read } }) => {
            shown = inspect(call)
            say(
              `${call.owner} ${get(MULTI_ENVIRONMENT_MCP)} ${read(MULTI_ENVIRONMENT_MCP)} ${details(MULTI_ENVIRONMENT_MCP).source} ${all().length}`,
            )
          })
        },
      },
    ],
  })
  expect(await t.callTool({ server: 'db', tool: 'read', arguments: { a: 1 } })).toMatchObject({ outcome: 'completed' })
  expect(lines).toEqual(['db false false default 1'])
  expect(shown).toContain("tool: 'read'")
  expect(shown).toContain('arguments: { a: 1 }')
})

test.each([
  ['a function', { f() {} }, 'f is a function'],
  ['not a number', { n: [Number.NaN] }, '0 is NaN'],
  ['a Map', { m: new Map() }, 'm is a Map'],
])('arguments that JSON would change are refused: %s', async (_what, args, words) => {
  await using t = await openTestRuntime({
    threadWide: { db },
    hooks: [{ name: 'p', apply: ({ hooks }) => hooks.resolve.tap('p', (() => ({ arguments: args })) as never) }],
  })
  expect(await t.callTool({ server: 'db', tool: 'read' })).toMatchObject({
    outcome: 'refused',
    code: 'HOOK_BAD_RETURN',
    message: expect.stringContaining(words),
    remedy: expect.stringContaining('{ arguments }'),
  })
})

test('a write into frozen arguments says what to do instead', async () => {
  await using t = await openTestRuntime({
    threadWide: { db },
    hooks: [
      {
        name: 'p',
        apply: ({ hooks }) =>
          hooks.approve.tap('p', (call) => {
            ;(call.arguments as Record<string, unknown>)['x'] = 1
          }),
      },
    ],
  })
  expect(await t.callTool({ server: 'db', tool: 'read' })).toMatchObject({
    code: 'HOOK_FAILED',
    remedy: expect.stringContaining('return it from resolve'),
  })
})

test('next(call), as other libraries want it, is a mistake and no attempt on the owner', async () => {
  await using t = await openTestRuntime({
    threadWide: { db },
    hooks: [
      {
        name: 'p',
        apply: ({ hooks }) =>
          hooks.dispatch.tapPromise('p', (async (call: object, next: (call: object) => unknown) => next(call)) as never),
      },
    ],
  })
  expect(await t.callTool({ server: 'db', tool: 'read' })).toMatchObject({
    outcome: 'refused',
    code: 'HOOK_BAD_RETURN',
    message: expect.stringContaining('next(), which takes none'),
  })
})
