import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CodexNamingOptions } from '../../src/servers/codex-naming.ts'
import { codexNames, codexNamespace } from '../../src/servers/codex-naming.ts'
import { CodexNameTable } from '../../src/servers/codex-name-table.ts'
import type { KeyParts } from '../../src/servers/key.ts'
import { KeyRegistry } from '../../src/servers/key.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import type { ScriptedServer } from '../../src/testing/index.ts'

interface Entry {
  readonly namespace: string
  readonly environment?: string
  readonly server: string
  readonly tools: Readonly<Record<string, string>>
}
interface Server {
  readonly name: string
  readonly tools: readonly string[]
}
interface Row {
  readonly id: string
  readonly input: {
    readonly features?: Readonly<Record<string, boolean>>
    readonly servers?: readonly Server[]
    readonly environments?: readonly { readonly id: string; readonly servers: readonly Server[] }[]
  }
  readonly expect: readonly Entry[]
  readonly ours: 'same' | { readonly expect: readonly Entry[] }
}
const { cases, environmentHashes } = JSON.parse(readFileSync(new URL('../vectors/names.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
  readonly environmentHashes: readonly { readonly id: string; readonly hex12: string }[]
}
const key = (name: string, environmentId: string | null = null, installationId: string | null = null): KeyParts => ({
  name,
  environmentId,
  installationId,
})
const SCOPED: CodexNamingOptions = { scoped: true, prefixed: true }

/** What is offered under the names of a row; flag off: one server of each name, the thread-wide one or the first. */
function offered({ features = {}, servers = [], environments = [] }: Row['input']): { readonly owner: KeyParts; readonly tool: string }[] {
  const all = [
    ...servers.map((server) => ({ ...server, owner: key(server.name) })),
    ...environments.flatMap(({ id, servers: scoped }) => scoped.map((server) => ({ ...server, owner: key(server.name, id) }))),
  ]
  const seen = new Set<string>()
  const visible = features['multi_environment_mcp'] === true ? all : all.filter(({ name }) => !seen.has(name) && seen.add(name))
  return visible.flatMap(({ owner, tools }) => tools.map((tool) => ({ owner, tool })))
}

/** One entry for each namespace and owner; tools as pairs, since their order counts. */
function entries(row: Row): unknown[] {
  const { features = {} } = row.input
  const names = codexNames(offered(row.input), {
    scoped: features['multi_environment_mcp'] === true,
    prefixed: features['non_prefixed_mcp_tool_names'] !== true,
  })
  const found = new Map<string, { namespace: string; environment: string | null; server: string; tools: [string, string][] }>()
  for (const { owner, tool, namespace, nameInNamespace } of names) {
    const id = JSON.stringify([namespace, owner.environmentId, owner.name])
    const entry = found.get(id) ?? { namespace, environment: owner.environmentId, server: owner.name, tools: [] }
    entry.tools.push([tool, nameInNamespace])
    found.set(id, entry)
  }
  return [...found.values()]
}

describe('what Codex shows', () => {
  test('there are rows', () => expect(cases.length).toBeGreaterThan(35))

  test.each(cases)('$id', (row) => {
    const expected = (row.ours === 'same' ? row.expect : row.ours.expect).map(({ namespace, environment = null, server, tools }) => ({
      namespace,
      environment,
      server,
      // integer-like keys come first in an object, whatever their place in the file
      tools: Object.entries(tools),
    }))
    expect(entries(row)).toEqual(expected)
  })

  test.each(environmentHashes)('the environment $id has the scope $hex12', ({ id, hex12 }) => {
    expect(codexNamespace(key('probe', id), SCOPED)).toBe(`mcp__${hex12}__probe`)
  })
})

const name = fc.oneof(
  fc.stringMatching(/^[ab_.-]{0,4}$/),
  fc.string({ maxLength: 150 }),
  fc.constantFrom('mcp__a', 'a', 'x'.repeat(125), 'x'.repeat(126)),
)
const tools = fc.array(
  fc.record({
    owner: fc.record({ name, environmentId: fc.option(name, { nil: null }), installationId: fc.option(name, { nil: null }) }),
    tool: name,
  }),
  { maxLength: 40 },
)

test('names are of letters, digits and underscores, at most 126 with their namespace, and no two read the same', () => {
  fc.assert(
    fc.property(tools, fc.boolean(), (given, prefixed) => {
      const names = codexNames(given, { scoped: true, prefixed })
      const ids = new Set(given.map(({ owner, tool }) => JSON.stringify([owner.environmentId, owner.installationId, owner.name, tool])))
      expect(names.length).toBe(ids.size)
      for (const { namespace, nameInNamespace } of names) {
        expect(`${namespace}${nameInNamespace}`).toMatch(/^[A-Za-z0-9_]{2,126}$/)
      }
      expect(new Set(names.map(({ namespace, nameInNamespace }) => namespace + nameInNamespace)).size).toBe(names.length)
    }),
  )
})

test('the order in which tools are given, and giving them twice, changes nothing', () => {
  fc.assert(
    fc.property(tools, (given) => {
      const names = (list: typeof given): unknown => codexNames(list, SCOPED)
      expect(names(given.toReversed())).toEqual(names(given))
      expect(names([...given, ...given])).toEqual(names(given))
    }),
  )
})

describe('the names of a session', () => {
  const keys = new KeyRegistry()
  const plain = keys.intern(key('a-b'))
  const other = keys.intern(key('a_b'))

  test('a server that comes changes the names of the one that it collides with, and back when it goes', () => {
    const table = new CodexNameTable(SCOPED)
    table.set(plain, ['t', 't'])
    expect([table.namespace(plain), table.find('mcp__a_b__t')?.owner, table.findIn('mcp__a_b', 't')?.tool]).toEqual([
      'mcp__a_b',
      plain,
      't',
    ])
    table.set(other, ['t'])
    expect(table.find('mcp__a_b__t')).toBe(undefined)
    expect([...table.names()]).toEqual(['mcp__a_b_e0598e406614__t', 'mcp__a_b_909e3df97957__t'])
    expect([table.namespace(plain), table.namespace(other)]).toEqual(['mcp__a_b_e0598e406614', 'mcp__a_b_909e3df97957'])
    table.delete(other)
    expect(table.of(plain).map(({ name: flat }) => flat)).toEqual(['mcp__a_b__t'])
    expect(table.diagnostics).toEqual([])
  })

  test('two tools with one flat name: neither is offered flat, both are found in their namespaces', () => {
    const table = new CodexNameTable(SCOPED)
    table.set(keys.intern(key('a')), ['b__c'])
    table.set(keys.intern(key('a__b')), ['c'])
    expect([...table.names()]).toEqual([])
    expect(table.of(keys.intern(key('a')))).toEqual([])
    expect(table.findIn('mcp__a', 'b__c')?.owner.name).toBe('a')
    expect(table.findIn('mcp__a__b', 'c')?.owner.name).toBe('a__b')
    expect(table.diagnostics).toMatchObject([{ code: 'name_collision', message: expect.stringContaining('mcp__a__b__c') }])
  })

  test('in a runtime: the scheme of the configuration names tools, and a call by such a name reaches its owner', async () => {
    const echo = (text: string): ScriptedServer =>
      scriptedServer({ tools: { t: { annotations: { readOnlyHint: true }, run: () => ({ content: [{ type: 'text', text }] }) } } })
    await using runtime = await openTestRuntime({
      environments: { 'env-a': { 'a-b': echo('first'), a_b: echo('second') }, 'env-b': { probe: echo('third') } },
      naming: { scheme: 'codex' },
      features: { multi_environment_mcp: true },
    })
    for (const [flat, text] of [
      ['mcp__74afdff5f493__a_b_22b7e31aa7bb__t', 'first'],
      ['mcp__74afdff5f493__a_b_7e87b8dbac4b__t', 'second'],
      ['mcp__14afef09931d__probe__t', 'third'],
    ] as const)
      expect(await runtime.callTool({ name: flat, arguments: {} })).toMatchObject({ outcome: 'completed', result: { content: [{ text }] } })
    expect((await runtime.session.listTools()).tools).toHaveLength(3)
  })
})
