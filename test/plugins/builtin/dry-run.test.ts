import { expect, test } from 'vitest'
import { dryRun, type DryRunOptions, toolList } from '../../../src/plugins/builtin/index.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'
import { plugin, toolCalls } from './kit.ts'

const s = scriptedServer({
  tools: { read: { annotations: { readOnlyHint: true } }, drop: {}, shaped: { outputSchema: { type: 'object', required: ['n'] } } },
  resources: { 'a:b': 'the text' },
  resourceTemplates: ['a:{x}'],
  prompts: { ask: () => 'ask' },
  complete: () => ['done'],
})
const open = (options?: DryRunOptions, more: TestRuntimeOptions = {}): Promise<TestRuntime> =>
  openTestRuntime({ threadWide: { s }, policies: { s: { trustAnnotations: true } }, hooks: [dryRun(options)], ...more })
const reached = (t: TestRuntime): string[] =>
  t.sent.map(({ method }) => method).filter((method) => /^(tools\/call|resources|prompts|completion)/.test(method))

test('no call is sent; the outcome and the answer say so', async () => {
  await using t = await open()
  const outcome = await t.callTool({ server: 's', tool: 'drop', arguments: { table: 'users' } })
  expect(outcome).toMatchObject({
    outcome: 'completed',
    sent: 'no',
    forModel: { text: 'Dry run: drop of s was not called. Nothing was sent.', isError: false },
    result: {
      _meta: {
        'tapline/dryRun': {
          owner: { name: 's', environmentId: null, installationId: null },
          method: 'tools/call',
          params: { name: 'drop', arguments: { table: 'users' } },
        },
      },
    },
  })
  expect(await t.callTool({ server: 's', tool: 'shaped' })).toMatchObject({ outcome: 'completed', sent: 'no' })
  expect(reached(t)).toEqual([])
})

test('every method has an answer of its form', async () => {
  await using t = await open()
  const { session } = t
  expect((await session.readResource({ server: 's', uri: 'a:b' })).contents).toMatchObject([
    { uri: 'a:b', text: expect.stringContaining('Dry run') as string },
  ])
  expect((await session.getPrompt({ server: 's', prompt: 'ask' })).messages).toHaveLength(1)
  expect((await session.listResources({ server: 's' })).items).toEqual([])
  expect((await session.listResourceTemplates({ server: 's' })).items).toEqual([])
  expect((await session.listPrompts({ server: 's' })).items).toEqual([])
  const completed = await session.complete({ server: 's', ref: { prompt: 'ask' }, argument: { name: 'x', value: '' } })
  expect(completed.completion.values).toEqual([])
  expect(reached(t)).toEqual([])
})

test('writes: what only reads is sent, where the host believes it', async () => {
  const look = async (trustAnnotations: boolean): Promise<string[]> => {
    await using t = await open({ calls: 'writes' }, { policies: { s: { trustAnnotations } } })
    await t.callTool({ server: 's', tool: 'read' })
    await t.callTool({ server: 's', tool: 'drop' })
    await t.session.readResource({ server: 's', uri: 'a:b' })
    return reached(t)
  }
  expect(await look(true)).toEqual(['tools/call', 'resources/read'])
  expect(await look(false)).toEqual(['resources/read'])
})

test('send: what the host names is sent', async () => {
  await using t = await open({ send: ['read'] }, { policies: {} })
  await t.callTool({ server: 's', tool: 'read' })
  await t.callTool({ server: 's', tool: 'drop' })
  expect(toolCalls(t).map(({ params }) => params['name'])).toEqual(['read'])
})

test('guards judge as always, and later taps of dispatch are not run', async () => {
  const ran: string[] = []
  const around = plugin('around', ({ hooks }) => {
    hooks.dispatch.tapPromise('outer', async (_, next) => {
      ran.push('outer')
      return next()
    })
    hooks.dispatch.tapPromise({ name: 'inner', stage: 2000 }, async (_, next) => {
      ran.push('inner')
      return next()
    })
  })
  await using t = await open(undefined, { hooks: [dryRun(), around, toolList({ deny: ['drop'] })] })
  expect(await t.callTool({ server: 's', tool: 'drop' })).toMatchObject({ outcome: 'refused' })
  expect(await t.callTool({ server: 's', tool: 'read' })).toMatchObject({ outcome: 'completed', sent: 'no' })
  expect(ran).toEqual(['outer'])
})

test('what a plugin put into the arguments does not come back to the model', async () => {
  const token = plugin('token', ({ hooks }) =>
    hooks.resolve.tap('add', (call) => ({ arguments: { ...call.arguments, token: 'tok-123456' } })),
  )
  await using t = await open(undefined, { hooks: [token, dryRun()] })
  const { forModel } = await t.callTool({ server: 's', tool: 'drop' })
  expect(JSON.stringify(forModel)).not.toContain('tok-123456')
})

test.each<[unknown, string]>([
  [{ calls: 'none' }, 'calls: must be one of "all", "writes"'],
  [{ sent: [] }, 'sent: is no option (did you mean "send"?)'],
  [{ send: [{ tools: 'x' }] }, 'send.0.tools: must be a list'],
])('%j is refused: %s', (options, message) => {
  expect(() => dryRun(options as DryRunOptions)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining(message) as string }),
  )
})
