import { InMemoryProvider } from '@openfeature/server-sdk'
import { expect, test } from 'vitest'
import { MULTI_ENVIRONMENT_MCP } from '../../src/flags/multi-environment-mcp.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import { flagFolder, rollout } from '../flags/flag-file.ts'

const files = scriptedServer({ tools: { list: { annotations: { readOnlyHint: true } } } })
const environments = { laptop: { files }, staging: { files } }

test('five of a hundred users get the scoped resolver, beside the others in one runtime', async () => {
  await using at = await flagFolder()
  await at.write(rollout(5))
  await using runtime = await openTestRuntime({ environments, flags: { flagd: at.file } })
  const opened = await Promise.all(
    Array.from({ length: 400 }, (_, index) => runtime.openSession({ evaluationContext: { targetingKey: `user-${index}` } })),
  )
  const [scoped, unscoped] = [true, false].map((value) => opened.filter(({ flags }) => flags.get(MULTI_ENVIRONMENT_MCP) === value))
  expect(scoped!.length).toBeGreaterThan(5)
  expect(scoped!.length).toBeLessThan(50)
  const names = async (session: (typeof opened)[number]): Promise<string[]> => (await session.listTools()).tools.map(({ name }) => name)
  const [one, other] = [scoped![0]!, unscoped![0]!]
  expect(await names(one)).toHaveLength(2)
  expect(await names(other)).toEqual(['mcp__files__list'])
  // raised while both are open: each keeps its resolver, its names and its owners
  await at.write(rollout(100))
  await expect
    .poll(async () => (await runtime.openSession({ evaluationContext: { targetingKey: 'late' } })).flags.get(MULTI_ENVIRONMENT_MCP), {
      timeout: 5_000,
    })
    .toBe(true)
  expect(await names(other)).toEqual(['mcp__files__list'])
  expect(await other.callTool({ server: 'files', environmentId: 'staging', tool: 'list' })).toMatchObject({ code: 'UNKNOWN_ARGUMENT' })
  const outcome = await one.callTool({ server: 'files', environmentId: 'staging', tool: 'list' })
  expect([outcome.outcome, outcome.owner?.environmentId]).toEqual(['completed', 'staging'])
})

test('a trace says what a session got, and where from', async () => {
  const provider = new InMemoryProvider({
    multi_environment_mcp: { disabled: false, variants: { on: true, off: false }, defaultVariant: 'on' },
  })
  await using runtime = await openTestRuntime({ environments, flags: { provider } })
  const { trace } = await runtime.session.explain({ server: 'files', environmentId: 'laptop', tool: 'list' })
  expect(trace.flags).toEqual([{ flagKey: 'multi_environment_mcp', value: true, variant: 'on', reason: 'STATIC', source: 'provider' }])
})

test('the status of a runtime is that of a session: the provider decides what is shadowed', async () => {
  const provider = new InMemoryProvider({
    multi_environment_mcp: { disabled: false, variants: { on: true, off: false }, defaultVariant: 'on' },
  })
  await using runtime = await openTestRuntime({ environments, flags: { provider } })
  expect((await runtime.status()).data).toHaveLength(2)
})

test.each([
  [{ evaluationContext: 'ada' }, 'evaluationContext must be an object'],
  [{ evaluationContext: ['ada'] }, 'evaluationContext must be an object'],
  [{ evaluationContext: { targetingKey: 5 } }, 'evaluationContext.targetingKey must be text'],
])('a context that cannot be: %j', async (options, words) => {
  await using runtime = await openTestRuntime({ environments })
  await expect(runtime.openSession(options as never)).rejects.toMatchObject({
    code: 'CALL_INVALID_REQUEST',
    message: expect.stringContaining(words),
  })
})
