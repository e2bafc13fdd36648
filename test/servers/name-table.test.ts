import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyRegistry } from '../../src/servers/key.ts'
import type { ServerKey } from '../../src/servers/key.ts'
import { NameTable } from '../../src/servers/name-table.ts'
import type { NamingScheme } from '../../src/servers/naming-scheme.ts'
import { StableNaming } from '../../src/servers/stable-naming.ts'

const keys = new KeyRegistry()
const key = (name: string, environmentId: string | null = null): ServerKey => keys.intern({ name, environmentId, installationId: null })
const naming = new StableNaming({ maxLength: 64, scoped: true })
/** A scheme in which collisions are easy: every tool is shown by its first letter. */
const poor: NamingScheme = {
  namespace: () => 'n',
  tool: (_, raw) => ({ namespace: 'n', nameInNamespace: raw.slice(0, 1), name: `n__${raw.slice(0, 1)}` }),
}
const names = (table: NameTable, owner: ServerKey): readonly string[] => table.of(owner).map(({ name }) => name)

describe('the table', () => {
  test('maps names back to owner and raw tool, flat and within the namespace', () => {
    const [a, b] = [key('files', 'env-a'), key('files', 'env-b')]
    const table = new NameTable(naming, [
      [a, ['read file', 'ok']],
      [b, ['ok']],
    ])
    for (const one of [...table.of(a), ...table.of(b)]) {
      expect(table.find(one.name)).toBe(one)
      expect(table.findIn(one.namespace, one.nameInNamespace)).toBe(one)
    }
    expect(table.find('mcp__74afdff5f493__files__ok')).toMatchObject({ owner: a, tool: 'ok' })
    expect(table.of(a).map(({ tool }) => tool)).toEqual(['read file', 'ok'])
    expect(table.find('__proto__')).toBe(undefined)
    expect(table.findIn('mcp', '74afdff5f493__files__ok')).toBe(undefined)
    expect(table.of(key('nobody'))).toEqual([])
    expect([...table.names()]).toHaveLength(3)
  })

  test('a name listed twice counts once', () => {
    const table = new NameTable(naming, [[key('dup'), ['d', 'e', 'd']]])
    expect(names(table, key('dup'))).toEqual(['mcp__dup__d', 'mcp__dup__e'])
    expect(table.diagnostics).toEqual([])
  })

  test('offers a name that two tools would have to neither, says so, and gives it back when one of them goes', () => {
    const [a, b, c] = [key('a'), key('b'), key('c')]
    const table = new NameTable(poor, [
      [a, ['xa', 'ya']],
      [b, ['xb', 'zb']],
    ])
    expect([names(table, a), names(table, b)]).toEqual([['n__y'], ['n__z']])
    expect(table.find('n__x')).toBe(undefined)
    expect(table.diagnostics).toMatchObject([
      {
        code: 'name_collision',
        severity: 'warning',
        message: '"xa" of a and "xb" of b would both be shown as n__x: none of them is offered',
      },
    ])
    table.set(c, ['xc'])
    table.delete(a)
    expect(table.find('n__x')).toBe(undefined)
    table.set(c, ['other'])
    expect(table.find('n__x')).toMatchObject({ owner: b, tool: 'xb' })
    expect(table.diagnostics).toEqual([])
    expect(names(table, b)).toEqual(['n__x', 'n__z'])
  })

  test('two tools of one server can collide too', () => {
    const table = new NameTable(poor, [[key('a'), ['x1', 'x2', 'y']]])
    expect(names(table, key('a'))).toEqual(['n__y'])
    table.delete(key('a'))
    expect([...table.names(), ...table.diagnostics]).toEqual([])
  })

  test('a tool that imitates the hash of another server takes its name from nobody but the two', () => {
    const victim = key('abcdefg.hij')
    const name = naming.tool(victim, 'tool').name
    const [, imitated] = name.split(/^mcp__abcdefg__/)
    const table = new NameTable(naming, [
      [victim, ['tool', 'other']],
      [key('abcdefg'), [imitated as string]],
    ])
    expect(table.find(name)).toBe(undefined)
    expect(table.diagnostics).toMatchObject([{ code: 'name_collision' }])
    expect(table.of(victim).map(({ tool }) => tool)).toEqual(['other'])
  })
})

const owners = ['files', 'a.b', 'a_b', 'x'].flatMap((name) => [key(name), key(name, 'env-a'), key(name, 'env-b')])
const lists = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(...owners),
    fc.array(fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('ok', 'a.b', 'a_b', 'x'.repeat(70))), { maxLength: 6 }),
  ),
  { selector: ([owner]) => owner, maxLength: 8 },
)

test('names are the same in every order, and when other servers come and go', () => {
  fc.assert(
    fc.property(lists, lists, fc.integer(), (some, others, seed) => {
      const table = new NameTable(naming, some)
      const shown = new Map(some.map(([owner]) => [owner, names(table, owner)]))
      const shuffled = [...some].sort((a, b) => ((a[0].name.length * 31 + seed) % 7) - ((b[0].name.length * 31 + seed) % 7)).toReversed()
      const reordered = new NameTable(naming, shuffled)
      for (const [owner, list] of shown) expect(names(reordered, owner)).toEqual(list)
      const added = others.filter(([owner]) => !shown.has(owner))
      for (const [owner, tools] of added) table.set(owner, tools)
      for (const [owner, list] of shown) expect(names(table, owner)).toEqual(list)
      for (const [owner] of added) table.delete(owner)
      for (const [owner, list] of shown) expect(names(table, owner)).toEqual(list)
      expect([...table.names()].sort()).toEqual([...shown.values()].flat().sort())
    }),
  )
})

test('a table that was changed step by step is the one that is built at once, also with collisions', () => {
  const letters = fc.array(fc.stringMatching(/^[a-d][12]$/), { maxLength: 4 })
  const steps = fc.array(fc.tuple(fc.constantFrom(...owners.slice(0, 5)), fc.option(letters, { nil: null })), { maxLength: 20 })
  fc.assert(
    fc.property(steps, (changes) => {
      const table = new NameTable(poor)
      const now = new Map<ServerKey, readonly string[]>()
      for (const [owner, tools] of changes) {
        if (tools === null) {
          table.delete(owner)
          now.delete(owner)
        } else {
          table.set(owner, tools)
          now.set(owner, tools)
        }
      }
      const fresh = new NameTable(poor, now)
      expect([...table.names()].sort()).toEqual([...fresh.names()].sort())
      expect(table.diagnostics).toEqual(fresh.diagnostics)
      for (const owner of owners) expect(names(table, owner)).toEqual(names(fresh, owner))
    }),
  )
})

test('10,000 tools of 1,000 servers, and then one of them again, in well under a second', () => {
  const large = Array.from(
    { length: 1_000 },
    (_, server) =>
      [key(`server.${server}`, server % 2 ? 'env-a' : null), Array.from({ length: 10 }, (_unused, tool) => `tool ${tool}`)] as const,
  )
  const start = performance.now()
  const table = new NameTable(naming, large)
  for (let round = 0; round < 100; round++) table.set(large[0]?.[0] as ServerKey, [`tool ${round}`])
  const elapsed = performance.now() - start
  expect([...table.names()]).toHaveLength(9_991)
  expect(elapsed).toBeLessThan(3_000)
})
