import { expect, test } from 'vitest'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'

const server = scriptedServer({ tools: { read: {} } })
const starts = (t: { readonly sent: readonly { readonly method: string }[] }): number =>
  t.sent.filter(({ method }) => method === 'initialize').length

test('a runtime tells the status without a session of the host, and asking again starts nothing', async () => {
  await using t = await openTestRuntime({ threadWide: { a: server, b: server, c: server } })
  const first = await t.status({ limit: 2, detail: 'tools_and_auth' })
  expect(first.data.map(({ owner, runtimeStatus }) => `${owner} ${runtimeStatus}`)).toEqual(['a connected', 'b connected'])
  expect(starts(t)).toBe(2)
  expect((await t.status({ limit: 2 })).data.map(({ runtimeStatus }) => runtimeStatus)).toEqual(['connected', 'connected'])
  expect(starts(t)).toBe(2)
  const names: string[] = []
  for await (const page of t.statusPages({ limit: 2 })) names.push(...page.data.map(({ owner }) => String(owner)))
  expect(names).toEqual(['a', 'b', 'c'])
  expect(starts(t)).toBe(3)
})

test('with a session id it is what that session sees', async () => {
  await using t = await openTestRuntime({ environments: { x: { s: server }, y: { s: server } }, features: { multi_environment_mcp: true } })
  const session = await t.openSession({ id: 'only-y', environments: ['y'] })
  const rows = async (sessionId?: string): Promise<string[]> =>
    (await t.status(sessionId === undefined ? {} : { sessionId })).data.map(({ owner }) => String(owner))
  expect(await rows()).toEqual(['s (environment x)', 's (environment y)'])
  expect(await rows(session.id)).toEqual(['s (environment y)'])
  await session.close()
  await expect(rows('only-y')).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST' })
})

test('a closed runtime has no status', async () => {
  const t = await openTestRuntime({ threadWide: { a: server } })
  await t.close()
  await expect(t.status()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
})
