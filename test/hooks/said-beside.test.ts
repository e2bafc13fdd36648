// What taps say beside their decision: text for the model's host, remarks for the trace; and the names by which a guard may know a tool.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { guardNames } from '../../src/servers/guard-names.ts'
import { KeyRegistry } from '../../src/servers/key.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { open, plugin, REQUEST } from '../pipeline/kit.ts'

type Context = { addContext(text: string): void; note(text: string): void }

test('additionalContext is in the outcome in the order of the taps, whatever the end; a tap that has ended adds nothing', async () => {
  let late: Context | null = null
  await using t = await open([
    plugin(({ hooks }) => {
      hooks.resolve.tap('first', (_call: unknown, context: Context) => context.addContext('one'))
      hooks.approve.tapPromise('second', async (_call: unknown, context: Context) => {
        late = context
        context.addContext('two')
      })
      hooks.dispatch.tapPromise('third', async (_call: unknown, next: () => Promise<unknown>, context: Context) => {
        const result = await next()
        for (const say of ['addContext', 'note'] as const) late![say]('too late')
        context.addContext('three')
        return result
      })
    }),
  ])
  const outcome = await t.callTool(REQUEST, { trace: true })
  expect(outcome).toMatchObject({ outcome: 'completed', additionalContext: ['one', 'two', 'three'] })
  expect(outcome.trace!.notes).toBeUndefined()
  expect(await t.callTool({ ...REQUEST, arguments: 7 })).not.toHaveProperty('additionalContext')
})

test('notes are in the trace with their tap, bounded', async () => {
  await using t = await open([
    plugin(({ hooks }) =>
      hooks.resolve.tap('talks', (_call: unknown, { note }: Context) => {
        for (let i = 0; i < 150; i++) note(i === 0 ? 'x'.repeat(3000) : `line ${i}`)
      }),
    ),
  ])
  const { trace } = await t.callTool(REQUEST, { trace: true })
  expect(trace!.notes).toHaveLength(100)
  expect(trace!.notes![0]).toEqual({ hook: 'resolve', tap: 'talks', plugin: 'p', text: 'x'.repeat(2000) })
  expect((await t.callTool(REQUEST)).trace).toBeUndefined()
})

test('the names of a tool are the same for a guard with the flag off and on, but for the one that is visible', async () => {
  const seen: (readonly string[])[] = []
  for (const flag of [false, true]) {
    await using t = await openTestRuntime({
      features: { multi_environment_mcp: flag },
      environments: { prod: { 'my.db': { tools: { 'drop table': {} } } } },
      policies: { 'my.db': { defaultToolsApprovalMode: 'approve' } },
      hooks: [{ name: 'p', apply: ({ hooks }) => hooks.resolve.tap('p', (call) => void seen.push(call.names)) }],
    })
    const [tool] = (await t.session.listTools()).tools
    expect((await t.callTool({ name: tool!.name })).outcome).toBe('completed')
    expect(seen.at(-1)![0]).toBe(tool!.name)
  }
  expect(new Set(seen[0])).toEqual(new Set(seen[1]))
  expect(seen[0]).toContain('mcp__my.db__drop table')
  expect(seen[0]).toContain('mcp__my_db__drop_table')
})

test('for any server and tool the flag-independent form is among the names, and none is there twice', () => {
  const keys = new KeyRegistry()
  const parts = fc.record({
    name: fc.stringMatching(/^[a-zA-Z0-9_:@/.-]{1,60}$/),
    environmentId: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)),
    installationId: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)),
  })
  fc.assert(
    fc.property(
      parts,
      fc.string({ minLength: 1, maxLength: 80 }),
      fc.constantFrom('stable' as const, 'codex' as const),
      (key, tool, scheme) => {
        const names = guardNames(keys.intern(key), tool, null, { scheme, maxLength: 64 })
        expect(names[0]).toBe(`mcp__${key.name}__${tool}`)
        expect(new Set(names).size).toBe(names.length)
      },
    ),
  )
})
