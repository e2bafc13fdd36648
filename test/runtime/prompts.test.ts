import { expect, test } from 'vitest'
import type { ServerKey } from '../../src/plugin.ts'
import { ALL_METHODS, deny } from '../../src/plugin.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { plugin } from '../pipeline/kit.ts'

const server = (place: string) => ({
  resourceTemplates: [`mem://${place}/{id}`],
  prompts: { review: (args: Readonly<Record<string, string>>) => `${place}: ${JSON.stringify(args)}`, [place]: () => place },
  complete: (params: object) => [place, JSON.stringify(params)],
})

type Hooks = NonNullable<Parameters<typeof openTestRuntime>[0]>['hooks']
function three(hooks: Hooks = [], on = true): Promise<TestRuntime> {
  return openTestRuntime({
    features: { multi_environment_mcp: on },
    environments: { b: { probe: server('b') }, a: { probe: server('a') } },
    threadWide: { shared: server('shared'), empty: { tools: {} } },
    hooks: hooks ?? [],
  })
}

test('prompts and templates of all servers are merged, sorted by key, each item with its owner', async () => {
  await using t = await three()
  const prompts = await t.session.listPrompts()
  expect(prompts.items.map(({ owner, name }) => `${owner} ${name}`)).toEqual([
    'probe (environment a) review',
    'probe (environment a) a',
    'probe (environment b) review',
    'probe (environment b) b',
    'shared review',
    'shared shared',
  ])
  expect([prompts.errors, prompts.nextCursor, prompts.items[0]?.raw]).toEqual([[], null, { name: 'review' }])
  const templates = await t.session.listResourceTemplates()
  expect(templates.items.map(({ owner, uriTemplate }) => `${owner} ${uriTemplate}`)).toEqual([
    'probe (environment a) mem://a/{id}',
    'probe (environment b) mem://b/{id}',
    'shared mem://shared/{id}',
  ])
  // a server that declares neither is not asked
  expect(t.sent.filter(({ owner, method }) => owner.name === 'empty' && method !== 'initialize').map(({ method }) => method)).toEqual([
    'notifications/initialized',
    'tools/list',
  ])
})

test('a prompt is got from one server, with its arguments', async () => {
  await using t = await three()
  const result = await t.session.getPrompt({ server: 'probe', environmentId: 'b', prompt: 'review', arguments: { environment_id: 'a' } })
  expect(result).toMatchObject({
    owner: { name: 'probe', environmentId: 'b' },
    messages: [{ role: 'user', content: { type: 'text', text: 'b: {"environment_id":"a"}' } }],
  })
  expect(await t.session.getPrompt({ server: 'shared', prompt: 'shared' })).toMatchObject({ messages: [{ content: { text: 'shared' } }] })
})

test('completions of a prompt and of a template, with what is filled in already', async () => {
  await using t = await three()
  const { completion, owner } = await t.session.complete({
    server: 'probe',
    environmentId: 'a',
    ref: { prompt: 'review' },
    argument: { name: 'file', value: 'sr' },
    context: { arguments: { language: 'ts' } },
  })
  expect(owner).toMatchObject({ environmentId: 'a' })
  expect(JSON.parse(completion.values[1]!)).toMatchObject({
    ref: { type: 'ref/prompt', name: 'review' },
    argument: { name: 'file', value: 'sr' },
    context: { arguments: { language: 'ts' } },
  })
  const other = await t.session.complete({ server: 'shared', ref: { uriTemplate: 'mem://{id}' }, argument: { name: 'id', value: '' } })
  expect(JSON.parse(other.completion.values[1]!)).toMatchObject({ ref: { type: 'ref/resource', uri: 'mem://{id}' } })
})

const argument = { name: 'a', value: '' }
test.each([
  ['listPrompts', { server: 'probe' }, 'AMBIGUOUS_SERVER', /^environment_id is required for MCP server 'probe'/],
  ['listPrompts', { environmentId: 'a' }, 'CALL_INVALID_REQUEST', /^environment_id can only be used when a server is specified/],
  ['listPrompts', { cursor: 'x' }, 'CALL_INVALID_REQUEST', /^cursor can only be used when a server is specified/],
  ['listPrompts', { serverr: 'x' }, 'CALL_INVALID_REQUEST', /unknown key "serverr" in a query for prompts: did you mean "server"/],
  ['listResourceTemplates', { server: 'nope' }, 'UNKNOWN_SERVER', /^unknown MCP server 'nope' for the selected environment/],
  ['listResourceTemplates', { server: 'probe', environmentId: 'x' }, 'UNKNOWN_SERVER', /^unknown MCP server 'probe'/],
  ['getPrompt', { server: 'probe', prompt: 'review' }, 'AMBIGUOUS_SERVER', /^environment_id is required/],
  ['getPrompt', { prompt: 'review' }, 'CALL_INVALID_REQUEST', /server must be provided/],
  ['getPrompt', { server: 'shared' }, 'CALL_INVALID_REQUEST', /a prompt is asked for by its name/],
  ['getPrompt', { server: 'shared', prompt: 7 }, 'CALL_INVALID_REQUEST', /a prompt is asked for by its name/],
  ['getPrompt', { server: 'shared', prompt: 'review', arguments: { a: 1 } }, 'CALL_INVALID_REQUEST', /the arguments of a prompt are texts/],
  ['getPrompt', { server: 'shared', prompt: 'review', arguments: ['a'] }, 'CALL_INVALID_REQUEST', /object/],
  ['complete', { server: 'probe', ref: { prompt: 'review' }, argument }, 'AMBIGUOUS_SERVER', /^environment_id is required/],
  ['complete', { server: 'shared', ref: {}, argument }, 'CALL_INVALID_REQUEST', /a completion needs a ref/],
  ['complete', { server: 'shared', argument }, 'CALL_INVALID_REQUEST', /a completion needs a ref/],
  ['complete', { server: 'shared', ref: { prompt: 'a', uriTemplate: 'b' }, argument }, 'CALL_INVALID_REQUEST', /a completion needs a ref/],
  ['complete', { server: 'shared', ref: { prompt: 'a' } }, 'CALL_INVALID_REQUEST', /a completion needs an argument/],
  ['complete', { server: 'shared', ref: { prompt: 'a' }, argument, context: { arguments: { b: 1 } } }, 'CALL_INVALID_REQUEST', /context/],
] as const)('%s of %j is %s', async (method, request, code, message) => {
  await using t = await three()
  const asked = (t.session[method] as (request: unknown) => Promise<unknown>)(request)
  await expect(asked).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  expect(t.sent.filter((one) => one.method.startsWith('prompts/') || one.method.startsWith('completion/'))).toEqual([])
})

test('multiple environments off: environment_id is no argument', async () => {
  await using t = await three([], false)
  const at = { server: 'probe', environmentId: 'a' }
  for (const asked of [
    t.session.listPrompts(at),
    t.session.listResourceTemplates(at),
    t.session.getPrompt({ ...at, prompt: 'review' }),
    t.session.complete({ ...at, ref: { prompt: 'review' }, argument }),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'UNKNOWN_ARGUMENT' })
  expect(await t.session.getPrompt({ server: 'probe', prompt: 'review' })).toMatchObject({ owner: { environmentId: 'b' } })
})

test('taps that list the methods see them, and only those', async () => {
  const seen: string[] = []
  const p = plugin(({ hooks }) => {
    hooks.approve.tap('tools only', () => void seen.push('tools only'))
    hooks.approve.tap(
      { name: 'all', methods: ALL_METHODS },
      (call: { method: string; prompt?: string; owner: ServerKey; arguments: object }) =>
        void seen.push(`${call.method} ${call.prompt} ${call.owner.toString()} ${JSON.stringify(call.arguments)}`),
    )
  })
  await using t = await three([p])
  await t.session.listPrompts({ server: 'shared' })
  await t.session.listResourceTemplates({ server: 'probe', environmentId: 'a' })
  await t.session.getPrompt({ server: 'shared', prompt: 'review', arguments: { a: 'b' } })
  await t.session.complete({ server: 'shared', ref: { prompt: 'review' }, argument })
  expect(seen).toEqual([
    'prompts/list undefined shared {"server":"shared"}',
    'resources/templates/list undefined probe (environment a) {"server":"probe","environment_id":"a"}',
    'prompts/get review shared {"a":"b"}',
    'completion/complete undefined shared {"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"a","value":""}}',
  ])
})

test.each(['prompts/list', 'resources/templates/list', 'completion/complete'] as const)(
  '%s: arguments that name another server are refused, and nothing is sent',
  async (method) => {
    for (const changed of [{ server: 'probe' }, { environment_id: 'b' }]) {
      const mover = plugin(({ hooks }) =>
        hooks.resolve.tap({ name: 'mover', methods: [method] }, (call: { arguments: object }) => ({
          arguments: { ...call.arguments, ...changed },
        })),
      )
      await using t = await three([mover])
      const asked =
        method === 'prompts/list'
          ? t.session.listPrompts({ server: 'shared' })
          : method === 'completion/complete'
            ? t.session.complete({ server: 'shared', ref: { prompt: 'review' }, argument })
            : t.session.listResourceTemplates({ server: 'shared' })
      await expect(asked).rejects.toMatchObject({ code: 'HOOK_CHANGED_OWNER', cause: { outcome: 'ownership_violation', sent: 'no' } })
      expect(t.sent.map((one) => one.method)).not.toContain(method)
    }
  },
)

test('what a tap rewrites is judged again; what it answers must have messages', async () => {
  let answer: object = { arguments: { a: 1 } }
  const p = plugin(({ hooks }) => {
    hooks.resolve.tap({ name: 'rewrites', methods: ['prompts/get'] }, () => answer as never)
  })
  await using t = await three([p])
  const get = () => t.session.getPrompt({ server: 'shared', prompt: 'review', arguments: { a: 'x' } })
  await expect(get()).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST' })
  answer = { arguments: { a: 'rewritten' } }
  expect(await get()).toMatchObject({ messages: [{ content: { text: 'shared: {"a":"rewritten"}' } }] })
  const odd = plugin(({ hooks }) => hooks.dispatch.tapPromise({ name: 'odd', methods: ['prompts/get'] }, async () => ({ no: 1 }) as never))
  await using other = await three([odd])
  await expect(other.session.getPrompt({ server: 'shared', prompt: 'review' })).rejects.toMatchObject({ code: 'HOOK_BAD_RETURN' })
})

test('a failing server is an entry in errors; alone it is an error', async () => {
  await using t = await three([
    { plugin: plugin(({ hooks }) => hooks.approve.tap({ name: 't', methods: ['prompts/list'] }, () => deny('no'))), environments: ['a'] },
  ])
  const { items, errors } = await t.session.listPrompts()
  expect(items).toHaveLength(4)
  expect(errors.map(({ owner, error }) => [String(owner), error.code])).toEqual([['probe (environment a)', 'CALL_REFUSED']])
  await expect(t.session.getPrompt({ server: 'shared', prompt: 'none' })).rejects.toMatchObject({
    code: 'SERVER_FAILED',
    cause: { outcome: 'server_failed', sent: 'yes' },
  })
  await expect(t.session.complete({ server: 'empty', ref: { prompt: 'x' }, argument })).rejects.toMatchObject({ code: 'SERVER_FAILED' })
})
