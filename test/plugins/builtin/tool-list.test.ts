import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { toolList, type ToolListOptions } from '../../../src/plugins/builtin/index.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'

const db = scriptedServer({
  tools: { read_row: {}, drop: {}, 'drop.all': {} },
  resources: { 'db://rows': 'rows' },
  prompts: { ask: () => 'ask' },
})
const files = scriptedServer({ tools: { read: {}, drop: {} } })
const servers: TestRuntimeOptions = { environments: { prod: { db }, dev: { db } }, threadWide: { files } }

const open: TestRuntime[] = []
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close()
})
async function runtimeWith(options: ToolListOptions, more: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const runtime = await openTestRuntime({ ...servers, features: { multi_environment_mcp: true }, ...more, hooks: [toolList(options)] })
  open.push(runtime)
  return runtime
}
/** `server@environment/tool` → what came of it. */
async function ends(runtime: TestRuntime, ...calls: string[]): Promise<Record<string, string>> {
  const all: Record<string, string> = {}
  for (const call of calls) {
    const [, server = '', environment, tool = ''] = /^(\w+)(?:@(\w+))?\/(.+)$/.exec(call) ?? []
    const outcome = await runtime.callTool({ server, environmentId: environment ?? null, tool })
    all[call] = outcome.outcome === 'refused' ? outcome.reason : outcome.outcome
  }
  return all
}
const sent = (runtime: TestRuntime): number => runtime.sent.filter(({ method }) => method === 'tools/call').length

test('deny: by tool anywhere, with wildcards, by server, by environment', async () => {
  const calls = ['db@prod/drop', 'db@prod/drop.all', 'db@prod/read_row', 'db@dev/drop', 'files/drop', 'files/read']
  expect(await ends(await runtimeWith({ deny: ['drop'] }), ...calls)).toEqual({
    'db@prod/drop': 'drop is on the deny list of db (environment prod)',
    'db@prod/drop.all': 'completed',
    'db@prod/read_row': 'completed',
    'db@dev/drop': 'drop is on the deny list of db (environment dev)',
    'files/drop': 'drop is on the deny list of files',
    'files/read': 'completed',
  })
  const refused = async (options: ToolListOptions): Promise<string[]> =>
    Object.entries(await ends(await runtimeWith(options), ...calls)).flatMap(([call, end]) => (end === 'completed' ? [] : [call]))
  expect(await refused({ deny: ['drop*'] })).toEqual(['db@prod/drop', 'db@prod/drop.all', 'db@dev/drop', 'files/drop'])
  expect(await refused({ deny: [{ tools: ['drop'], environments: ['pr?d'] }] })).toEqual(['db@prod/drop'])
  expect(await refused({ deny: [{ environments: [null] }] })).toEqual(['files/drop', 'files/read'])
  expect(await refused({ deny: [{ servers: ['d*'], environments: ['dev'] }] })).toEqual(['db@dev/drop'])
})

test('allow: everything else is refused, and deny wins', async () => {
  const runtime = await runtimeWith({ allow: ['read*', { servers: ['files'] }], deny: [{ tools: ['drop'], servers: ['files'] }] })
  expect(await ends(runtime, 'db@prod/read_row', 'db@prod/drop', 'files/read', 'files/drop')).toEqual({
    'db@prod/read_row': 'completed',
    'db@prod/drop': 'drop is not on the allow list of db (environment prod)',
    'files/read': 'completed',
    'files/drop': 'drop is on the deny list of files',
  })
  expect(sent(runtime)).toBe(2)
  expect(await ends(await runtimeWith({ allow: ['read'], deny: [] }), 'files/read')).toEqual({ 'files/read': 'completed' })
  expect(await ends(await runtimeWith({ allow: [] }), 'files/read')).toEqual({ 'files/read': 'read is not on the allow list of files' })
})

test('resources and prompts: guarded by default, named with methods, left alone where the list is about tools', async () => {
  const owner = { server: 'db', environmentId: 'prod' }
  const look = async (options: ToolListOptions): Promise<string[]> => {
    const { session } = await runtimeWith(options)
    const end = (answer: Promise<object>): Promise<string> =>
      answer.then(
        () => 'completed',
        ({ code }: { readonly code: string }) => (code === 'CALL_REFUSED' ? 'refused' : code),
      )
    return [
      await end(session.readResource({ ...owner, uri: 'db://rows' })),
      await end(session.getPrompt({ ...owner, prompt: 'ask' })),
      (await session.callTool({ ...owner, tool: 'drop' })).outcome,
    ]
  }
  expect(await look({ allow: ['drop'] })).toEqual(['refused', 'refused', 'completed'])
  expect(await look({ deny: [{ servers: ['db'] }] })).toEqual(['refused', 'refused', 'refused'])
  expect(await look({ allow: [{ methods: ['resources/read'] }] })).toEqual(['completed', 'refused', 'refused'])
  expect(await look({ allow: ['read_row'], methods: ['tools/call'] })).toEqual(['completed', 'completed', 'refused'])
  // a rule with tools never speaks of what has none
  expect(await look({ deny: [{ tools: ['*'] }] })).toEqual(['completed', 'completed', 'refused'])
})

test('the flag and visible names change nothing', async () => {
  for (const multi of [false, true]) {
    const runtime = await runtimeWith(
      { deny: [{ servers: ['db'], environments: ['prod'], tools: ['drop'] }] },
      { features: { multi_environment_mcp: multi }, selectedEnvironments: ['prod'] },
    )
    const { tools } = await runtime.session.listTools()
    const named = tools.find(({ owner, tool }) => String(owner) === 'db (environment prod)' && tool === 'drop')
    expect(await runtime.callTool({ name: named?.name ?? '' })).toMatchObject({ outcome: 'refused', by: 'tap', sent: 'no' })
  }
})

describe('rules', () => {
  const word = fc.constantFrom('read', 'read_row', 'drop', 'db', 'files', 'prod', 'dev')
  const rule = fc.record(
    {
      tools: fc.array(word, { minLength: 1, maxLength: 2 }),
      servers: fc.array(word, { minLength: 1, maxLength: 2 }),
      environments: fc.array(fc.option(word), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const rules = fc.array(
    rule.filter((one) => Object.keys(one).length > 0),
    { maxLength: 3 },
  )

  test('a call is sent exactly where no deny rule fits, and an allow rule fits or there is no allow list', async () => {
    await fc.assert(
      fc.asyncProperty(fc.option(rules, { nil: undefined }), rules, async (allow, deny) => {
        fc.pre(allow !== undefined || deny.length > 0)
        const runtime = await openTestRuntime({
          ...servers,
          features: { multi_environment_mcp: true },
          hooks: [toolList({ ...(allow && { allow }), deny })],
        })
        try {
          const wanted: string[] = []
          for (const [server, environmentId, tool] of [
            ['db', 'prod', 'drop'],
            ['db', 'dev', 'read_row'],
            ['files', null, 'read'],
          ] as const) {
            const fits = ({ tools, servers: names, environments }: (typeof deny)[number]): boolean =>
              (tools?.includes(tool) ?? true) && (names?.includes(server) ?? true) && (environments?.includes(environmentId) ?? true)
            if (!deny.some(fits) && (allow === undefined || allow.some(fits))) wanted.push(`${server} ${tool}`)
            await runtime.callTool({ server, environmentId, tool })
          }
          const calls = runtime.sent.filter(({ method }) => method === 'tools/call')
          expect(calls.map(({ owner, params }) => `${owner.name} ${params['name'] as string}`)).toEqual(wanted)
        } finally {
          await runtime.close()
        }
      }),
      { numRuns: 25 },
    )
  })
})

test.each<[unknown, string]>([
  [{}, 'options: must have allow, deny or both'],
  ['drop', 'options: must be an object'],
  [undefined, 'options: must have allow, deny or both'],
  [{ denny: ['x'], allow: [] }, 'denny: is no option (did you mean "deny"?)'],
  [{ deny: 'drop' }, 'deny: must be a list'],
  [{ deny: [] }, 'deny: must not be empty without allow'],
  [{ deny: [{ tools: ['x'], methods: ['resources/read'] }] }, 'deny.0.methods: must have tools/call beside tools'],
  [{ allow: [{ tools: ['x'], methods: ['resources/read'] }] }, 'allow.0.methods: must have tools/call beside tools'],
  [{ deny: ['drop*'], methods: ['resources/read'] }, 'deny.0: means tools/call, which methods leaves out'],
  [{ deny: [{ servers: ['a'] }, { methods: ['prompts/get'] }], methods: ['resources/read'] }, 'deny.1: means prompts/get, which'],
  [{ deny: [{}] }, 'deny.0: must name something: tools, servers, environments, methods'],
  [{ deny: [7] }, 'deny.0: must be an object'],
  [{ deny: [''] }, 'deny.0: must be the name of a tool, or an object'],
  [{ deny: [{ tool: ['x'] }] }, 'deny.0.tool: is no option (did you mean "tools"?)'],
  [{ deny: [{ tools: [] }] }, 'deny.0.tools: must not be empty'],
  [{ deny: [{ tools: [''] }] }, 'deny.0.tools.0: must be a text'],
  [{ deny: [{ servers: [null] }] }, 'deny.0.servers.0: must be a text'],
  [{ deny: [{ environments: [3] }] }, 'deny.0.environments.0: must be an id, or null'],
  [{ deny: ['x'], methods: ['tools/list'] }, 'methods.0: must be one of tools/call'],
])('%j is refused: %s', (options, message) => {
  expect(() => toolList(options as ToolListOptions)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining(message) as string }),
  )
})

test('what stands on Object.prototype is no option', () => {
  Object.assign(Object.prototype, { allow: ['*'] })
  try {
    expect(() => toolList({})).toThrow('must have allow, deny or both')
  } finally {
    Reflect.deleteProperty(Object.prototype, 'allow')
  }
})
