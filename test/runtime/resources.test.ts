import { expect, test } from 'vitest'
import type { ServerKey } from '../../src/plugin.ts'
import { ALL_METHODS, deny } from '../../src/plugin.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin } from '../pipeline/kit.ts'

const server = (text: string) => ({ resources: { 'mem://same': text, [`mem://${text}`]: text } })

function three(hooks: NonNullable<Parameters<typeof openTestRuntime>[0]>['hooks'] = []): Promise<TestRuntime> {
  return openTestRuntime({
    features: { multi_environment_mcp: true },
    environments: { b: { probe: server('b') }, a: { probe: server('a') } },
    threadWide: { shared: server('shared'), empty: { tools: {} } },
    hooks,
  })
}

test('without a server: all merged, sorted by server key, each item with its owner, no cursor', async () => {
  await using t = await three()
  const { items, errors, nextCursor } = await t.session.listResources()
  expect(items.map(({ owner, uri }) => `${owner} ${uri}`)).toEqual([
    'probe (environment a) mem://same',
    'probe (environment a) mem://a',
    'probe (environment b) mem://same',
    'probe (environment b) mem://b',
    'shared mem://same',
    'shared mem://shared',
  ])
  expect([errors, nextCursor]).toEqual([[], null])
  expect(items[0]).toMatchObject({ name: 'mem://same', mimeType: 'text/plain', raw: { uri: 'mem://same' } })
})

test('a failing server is an entry in errors', async () => {
  await using t = await three([
    {
      plugin: plugin(({ hooks }) => hooks.approve.tap({ name: 't', methods: ['resources/list'] }, () => deny('not these'))),
      environments: ['a'],
    },
  ])
  const { items, errors } = await t.session.listResources()
  expect(new Set(items.map(({ owner }) => String(owner)))).toEqual(new Set(['probe (environment b)', 'shared']))
  expect(errors.map(({ owner, error }) => [String(owner), error.code])).toEqual([['probe (environment a)', 'CALL_REFUSED']])
  await expect(t.session.listResources({ server: 'probe', environmentId: 'a' })).rejects.toMatchObject({
    code: 'CALL_REFUSED',
    cause: { outcome: 'refused' },
  })
})

test('the same uri on two servers is two resources', async () => {
  await using t = await three()
  for (const environmentId of ['a', 'b']) {
    const read = await t.session.readResource({ server: 'probe', environmentId, uri: 'mem://same' })
    expect(read).toMatchObject({ owner: { name: 'probe', environmentId }, contents: [{ uri: 'mem://same', text: environmentId }] })
  }
})

test.each([
  [{ server: 'probe' }, 'AMBIGUOUS_SERVER', "environment_id is required for MCP server 'probe' when multiple environments are selected"],
  [{ environmentId: 'a' }, 'CALL_INVALID_REQUEST', 'environment_id can only be used when a server is specified'],
  [{ server: 'nope' }, 'UNKNOWN_SERVER', "unknown MCP server 'nope' for the selected environment"],
  [{ server: 'probe', environmentId: 'nope' }, 'UNKNOWN_SERVER', "unknown MCP server 'probe' for the selected environment"],
  [{ cursor: 'x' }, 'CALL_INVALID_REQUEST', 'cursor can only be used when a server is specified'],
  [{ server: 'shared', environmentId: 'a' }, 'UNKNOWN_SERVER', "unknown MCP server 'shared' for the selected environment"],
] as const)('%j is %s', async (query, code, text) => {
  await using t = await three()
  await expect(t.session.listResources(query)).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
  expect(t.sent).toEqual([])
})

test('a thread-wide server never needs an environment, and answers to the one where it executes', async () => {
  await using t = await three()
  for (const more of [{}, { environmentId: 'local' }, { environmentId: 'thread-wide' }, { environmentId: null }, { environmentId: '' }]) {
    expect((await t.session.listResources({ server: 'shared', ...more })).items).toHaveLength(2)
    expect(await t.session.readResource({ server: 'shared', uri: 'mem://same', ...more })).toMatchObject({ contents: [{ text: 'shared' }] })
  }
})

test('null means the server without an environment or an installation id, as in a call', async () => {
  const place = (text: string) => ({ resources: { 'mem://same': text }, prompts: { where: () => text } })
  await using t = await openTestRuntime({
    features: { multi_environment_mcp: true },
    environments: { a: { probe: place('a'), only: place('only') }, b: {} },
    threadWide: { probe: place('wide') },
  })
  const { session } = t
  const wide = { server: 'probe', environmentId: null }
  expect((await session.readResource({ ...wide, uri: 'mem://same' })).contents).toMatchObject([{ text: 'wide' }])
  expect((await session.listResources(wide)).items).toMatchObject([{ owner: { environmentId: null } }])
  expect((await session.getPrompt({ ...wide, prompt: 'where' })).messages).toMatchObject([{ content: { text: 'wide' } }])
  expect((await session.listResources({ ...wide, installationId: null })).items).toHaveLength(1)
  // left out it is either, and one of an environment is no thread-wide one
  await expect(session.readResource({ server: 'probe', uri: 'mem://same' })).rejects.toMatchObject({ code: 'AMBIGUOUS_SERVER' })
  for (const request of [{ server: 'only', environmentId: null }])
    await expect(session.readResource({ ...request, uri: 'mem://same' })).rejects.toMatchObject({ code: 'UNKNOWN_SERVER' })
  // without a server there is nothing to choose from
  expect((await session.listResources({ environmentId: null })).items).toHaveLength(3)
})

test('one environment selected: its servers need no environment', async () => {
  await using t = await three()
  const session = await t.openSession({ environments: ['b'] })
  expect(await session.readResource({ server: 'probe', uri: 'mem://same' })).toMatchObject({ owner: { environmentId: 'b' } })
})

test('null and the empty text count as left out', async () => {
  await using t = await three()
  for (const nothing of [null, '']) {
    const query = { server: nothing, environmentId: nothing, installationId: nothing, cursor: nothing } as never
    expect((await t.session.listResources(query)).items).toHaveLength(6)
  }
})

test('taps see the methods that they ask for, with uri and arguments; without methods only tool calls', async () => {
  const seen: string[] = []
  const p = plugin(({ hooks }) => {
    hooks.approve.tap('tools only', () => void seen.push('tools only'))
    hooks.approve.tap(
      { name: 'all', methods: ALL_METHODS },
      (call: { method: string; uri?: string; tool?: string; owner: ServerKey; question: null }) =>
        void seen.push(`${call.method} ${call.uri} ${call.tool} ${call.owner.toString()} ${String(call.question)}`),
    )
  })
  await using t = await three([p])
  await t.session.readResource({ server: 'shared', uri: 'mem://same' })
  await t.session.listResources({ server: 'shared' })
  expect(seen).toEqual(['resources/read mem://same undefined shared null', 'resources/list undefined undefined shared null'])
})

test('what a server refuses is an error with the outcome as its cause', async () => {
  await using t = await three()
  await expect(t.session.readResource({ server: 'shared', uri: 'mem://nope' })).rejects.toMatchObject({
    name: 'TaplineError',
    code: 'SERVER_FAILED',
    cause: { outcome: 'server_failed', sent: 'yes', owner: { name: 'shared' } },
  })
  for (const uri of ['', 7, undefined])
    await expect(t.session.readResource({ server: 'shared', uri: uri as string })).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST' })
})

test('a signal ends a read and a list', async () => {
  const p = plugin(({ hooks }) =>
    hooks.approve.tapPromise({ name: 'hangs', methods: ALL_METHODS, timeoutMs: 60_000 }, () => new Promise(() => {})),
  )
  await using t = await three([p])
  await expect(t.session.readResource({ server: 'shared', uri: 'mem://same' }, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({
    code: 'CALL_CANCELLED',
  })
  await expect(t.session.listResources({ server: 'shared', signal: AbortSignal.timeout(30) })).rejects.toMatchObject({
    code: 'CALL_CANCELLED',
  })
})
