// A guard that was written for a tool stops that tool, whatever the flags and however odd the names; and matchers that are no matchers are told.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileMatcher } from '../../../src/plugins/command-hooks/matcher.ts'
import { guardNames } from '../../../src/servers/guard-names.ts'
import { KeyRegistry } from '../../../src/servers/key.ts'
import { StableNaming } from '../../../src/servers/stable-naming.ts'
import { openTestRuntime } from '../../../src/testing/index.ts'
import { newFolder, openHooked, prints, toolCalls, writeHooks } from './kit.ts'
import { commandHooks } from '../../../src/plugins/builtin/index.ts'

const keys = new KeyRegistry()
const names = (server: string, tool: string, environmentId: string | null = null) => ({
  names: guardNames(keys.intern({ name: server, environmentId, installationId: null }), tool, null, { scheme: 'stable', maxLength: 64 }),
  keys: [`${server}@${environmentId ?? 'thread-wide'}/${tool}`, `${server}/${tool}`, `${server}@${environmentId ?? 'thread-wide'}`, server],
})
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

interface VectorServer {
  readonly name: string
  readonly tools: readonly string[]
}
const { cases } = JSON.parse(readFileSync(new URL('../../vectors/names.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly input: {
      readonly servers?: readonly VectorServer[]
      readonly environments?: readonly { readonly id: string; readonly servers: readonly VectorServer[] }[]
    }
  }[]
}
const odd = cases.flatMap(({ input }) =>
  [{ id: null, servers: input.servers ?? [] }, ...(input.environments ?? [])].flatMap(({ id, servers }) =>
    servers.flatMap(({ name, tools }) => tools.map((tool) => [name, tool, id] as const)),
  ),
)

/** Every way in which somebody may have written the guard of a tool. */
async function guardsOf(server: string, tool: string, environmentId: string | null): Promise<string[]> {
  const silent: string[] = []
  const plain = `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_-]/gu, '_')
  const key = { name: server, environmentId, installationId: null }
  const shown = [false, true].map((scoped) => new StableNaming({ maxLength: 64, scoped }).tool(key, tool).name)
  for (const matcher of [plain, escaped(`mcp__${server}__${tool}`), `^${escaped(`mcp__${server}__`)}`, ...shown, `Bash|${plain}`, '.*', ''])
    if (!(await compileMatcher(matcher))(names(server, tool, environmentId))) silent.push(matcher)
  return silent
}

test('every odd name of the vectors is stopped, however its guard is written', async () => {
  expect(odd.length).toBeGreaterThan(150)
  for (const [server, tool, id] of odd) expect(await guardsOf(server, tool, id), `${server} ${tool}`).toEqual([])
})

test('and so is any other name', async () => {
  const server = fc.stringMatching(/^[a-zA-Z0-9_:@/.-]{1,40}$/)
  const tool = fc.oneof(
    fc.string({ minLength: 1, maxLength: 60 }),
    fc.stringMatching(/^[A-Za-z0-9_]{1,60}$/),
    fc.constantFrom('a__b', '__', 'x_0123456789ab'),
  )
  await fc.assert(
    fc.asyncProperty(server, tool, fc.option(fc.constantFrom('prod', 'vm')), async (name, raw, id) => {
      expect(await guardsOf(name, raw, id)).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test.each([
  ['mcp__db__drop', 'db', 'drop', true],
  ['mcp__db__drop', 'db', 'drop_all', false],
  ['mcp__db__drop', 'db2', 'drop', false],
  ['mcp__db__dro', 'db', 'drop', false],
  ['drop', 'db', 'drop', false],
  ['Write|Edit', 'db', 'drop', false],
  ['mcp__db__(drop|clear)', 'db', 'clear', true],
  ['mcp__db__dr.p$', 'db', 'drop', true],
  ['dr.p', 'db', 'drop', true],
  ['mcp__.*__drop', 'db', 'drop', true],
  // a server db__x with the tool drop and a server db with the tool x__drop read the same
  ['mcp__db__x__drop', 'db__x', 'drop', true],
  ['mcp__db__x__drop', 'db', 'x__drop', true],
  ['server:db', 'db', 'drop', true],
  ['server:db/drop', 'db', 'drop', true],
  ['server:db/drop', 'db', 'read', false],
  ['server:d*/dr?p', 'db', 'drop', true],
  ['server:x|server:db', 'db', 'drop', true],
  ['mcp__x__.*,mcp__db__dr.p', 'db', 'drop', true],
  ['mcp__x__.*, mcp__db__dr.p,', 'db', 'drop', true],
  ['mcp__x__.*,mcp__y__.*', 'db', 'drop', false],
  // commas of one expression part nothing
  ['mcp__x__[^,]*', 'db', 'drop', false],
  ['mcp__x__[a-z,]*,mcp__db__.*', 'db', 'drop', true],
  ['mcp__x__.{0,9}?', 'db', 'drop9', false],
  ['mcp__x__\\[,mcp__db__.*', 'db', 'drop', true],
  ['\\Q[\\E,mcp__db__.*', 'db', 'drop', true],
  ['mcp__x__[],a]*[^],]*,mcp__db__.*', 'db', 'drop', true],
  ['mcp__x__[^],]*', 'db', 'drop', false],
  ['*', 'db', 'drop', true],
  ['|', 'db', 'drop', true],
])('%j on %s %s: %s', async (matcher, server, tool, fits) => {
  expect((await compileMatcher(matcher))(names(server, tool))).toBe(fits)
})

test('server: with an environment means that one alone', async () => {
  const fits = async (matcher: string, id: string | null): Promise<boolean> => (await compileMatcher(matcher))(names('db', 'drop', id))
  expect([await fits('server:db@prod/drop', 'prod'), await fits('server:db@prod/drop', 'vm'), await fits('server:db@prod', null)]).toEqual([
    true,
    false,
    false,
  ])
  expect([await fits('server:db@thread-wide', null), await fits('server:db@thread-wide', 'prod')]).toEqual([true, false])
})

test.each(['mcp__db__(', '[a', 'a{2,1}', '(?=x)', '(a)\\1', 'server:', 'server:a|b'])('%j is no matcher', async (matcher) => {
  await expect(compileMatcher(matcher)).rejects.toBeInstanceOf(SyntaxError)
})

test('a matcher has a limit', async () => {
  await expect(compileMatcher(`a${'|b'.repeat(2048)}`)).rejects.toThrow('at most 4096 characters')
  await expect(compileMatcher(`\\Q${'['.repeat(100_000)}`)).rejects.toBeInstanceOf(SyntaxError)
  const fits = await compileMatcher(`mcp__db__drop,\\Q${'['.repeat(4000)}`)
  expect(fits(names('db', 'drop'))).toBe(true)
})

test('a pattern that would hang others is matched in linear time', async () => {
  const fits = await compileMatcher('^(a+)+$|(x*)*y')
  expect(fits(names('a'.repeat(60), `${'a'.repeat(2000)}!`))).toBe(false)
})

test.each([false, true])('a guard for mcp__db__drop stops the call in every environment; flag %s', async (flag) => {
  const folder = newFolder()
  const file = writeHooks(folder, { PreToolUse: [{ matcher: 'mcp__db__drop', command: prints(folder, '', 2) }] })
  await using t = await openHooked({ file }, { features: { multi_environment_mcp: flag } })
  const tools = (await t.session.listTools()).tools
  expect(await t.callTool({ name: tools.find(({ tool }) => tool === 'drop')!.name })).toMatchObject({ outcome: 'refused', sent: 'no' })
  expect(await t.callTool({ name: tools.find(({ tool }) => tool === 'echo')!.name })).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(t)).toHaveLength(1)
})

test('a guard for the name that was visible before the flag was switched on goes on', async () => {
  const open = async (flag: boolean, hooks: readonly Awaited<ReturnType<typeof commandHooks>>[]) =>
    openTestRuntime({
      features: { multi_environment_mcp: flag },
      environments: { prod: { 'my.db': { tools: { 'drop table': {} } } } },
      policies: { 'my.db': { defaultToolsApprovalMode: 'approve' } },
      hooks,
    })
  for (const flag of [false, true]) {
    await using before = await open(flag, [])
    const { name } = (await before.session.listTools()).tools[0]!
    await using after = await open(!flag, [
      await commandHooks({ hooks: { PreToolUse: [{ matcher: name, hooks: [{ type: 'command', command: 'exit 2' }] }] } }),
    ])
    expect(await after.callTool({ server: 'my.db', tool: 'drop table' })).toMatchObject({ outcome: 'refused', sent: 'no' })
  }
})
