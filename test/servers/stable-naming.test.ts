import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyRegistry } from '../../src/servers/key.ts'
import type { KeyParts } from '../../src/servers/key.ts'
import { namespaceDescription } from '../../src/servers/namespace-description.ts'
import { StableNaming } from '../../src/servers/stable-naming.ts'

interface Row {
  readonly key: readonly [string, string | null, string | null]
  readonly tool: string
  readonly maxLength: number
  readonly scoped: boolean
  readonly namespace: string
  readonly nameInNamespace: string
}
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../vectors/${file}`, import.meta.url), 'utf8'))
const { rows } = read('stable-names.json') as { rows: readonly Row[] }
const vectors = read('names.json') as {
  environmentHashes: readonly { id: string; hex12: string }[]
  namespaceDescription: readonly { environmentId: string | null; instructions: string; description: string }[]
}
const scoped = new StableNaming({ maxLength: 64, scoped: true })
const parts = (name: string, environmentId: string | null = null, installationId: string | null = null): KeyParts => ({
  name,
  environmentId,
  installationId,
})

describe('golden names', () => {
  test('two installations of a thread-wide server have different names', () => {
    expect(scoped.namespace(parts('files'))).toBe('mcp__files')
    expect(scoped.namespace(parts('files', null, 'second'))).toMatch(/^mcp__[0-9a-f]{12}__files$/)
    expect(new StableNaming({ maxLength: 64, scoped: false }).namespace(parts('files', null, 'second'))).toBe('mcp__files')
  })

  test('every row of an independent implementation', () => {
    expect(rows.length).toBeGreaterThan(190)
    for (const { key, tool, maxLength, scoped: isScoped, namespace, nameInNamespace } of rows) {
      const name = new StableNaming({ maxLength, scoped: isScoped }).tool(parts(...key), tool)
      expect(name, JSON.stringify([key, tool])).toEqual({ namespace, nameInNamespace, name: `${namespace}__${nameInNamespace}` })
    }
  })

  test.each(vectors.environmentHashes)('the environment $id has the scope $hex12', ({ id, hex12 }) => {
    expect(scoped.namespace(parts('probe', id))).toBe(`mcp__${hex12}__probe`)
  })

  test.each(vectors.namespaceDescription)('$instructions in $environmentId', ({ environmentId, instructions, description }) => {
    expect(namespaceDescription(parts('a', environmentId), instructions)).toBe(description)
  })

  test('a plain name is used as it is', () => {
    expect(scoped.tool(parts('files'), 'read_file').name).toBe('mcp__files__read_file')
    expect(scoped.tool(parts('files', 'env-a'), 'read_file').name).toBe('mcp__74afdff5f493__files__read_file')
    expect(new StableNaming({ maxLength: 64, scoped: false }).tool(parts('files', 'env-a'), 'read_file').name).toBe('mcp__files__read_file')
  })
})

test.each([63, 129, 64.5, Number.NaN])('a length of %s is refused', (maxLength) => {
  expect(() => new StableNaming({ maxLength, scoped: true })).toThrowError(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})

test('the cached namespace of a key is the one that would be computed, and parts that change are not cached', () => {
  const key = new KeyRegistry().intern(parts('a.b', 'e', 'i'))
  expect(scoped.namespace(key)).toBe(scoped.namespace(key))
  expect(scoped.namespace(key)).toBe(scoped.namespace(parts('a.b', 'e', 'i')))
  const changing = { ...parts('one') }
  expect(scoped.namespace(changing)).toBe('mcp__one')
  changing.name = 'two'
  expect(scoped.namespace(changing)).toBe('mcp__two')
})

const serverName = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_:@/.-]{1,40}$/),
  fc.stringMatching(/^[ab_.-]{1,5}$/),
  fc.stringMatching(/^[a-f0-9]{12}$/),
  fc.stringMatching(/^[ab]{1,3}_[a-f0-9]{12}$/),
  fc.constantFrom('a', 'a_', 'a__b', '__proto__', 'n'.repeat(128)),
)
const id = fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/), { nil: null })
const key = fc.record({ name: serverName, environmentId: id, installationId: id })
const tool = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.stringMatching(/^[ab_.-]{0,5}$/),
  fc.stringMatching(/^[ab_]{0,3}_[a-f0-9]{12}$/),
  fc.constantFrom('a', '_a', 'a__b', '__proto__', 'x'.repeat(300)),
)
const text = ({ name, environmentId, installationId }: KeyParts, raw: string): string =>
  JSON.stringify([name, environmentId, installationId, raw])

test('names are injective, of the right characters and length', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, tool), { maxLength: 60 }), fc.integer({ min: 64, max: 128 }), (tools, maxLength) => {
      const naming = new StableNaming({ maxLength, scoped: true })
      const seen = new Map<string, string>()
      for (const [owner, raw] of tools) {
        const { name, namespace, nameInNamespace } = naming.tool(owner, raw)
        expect(name).toBe(`${namespace}__${nameInNamespace}`)
        expect(name).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(name.length).toBeLessThanOrEqual(maxLength)
        expect(seen.get(name) ?? text(owner, raw)).toBe(text(owner, raw))
        seen.set(name, text(owner, raw))
      }
    }),
    { numRuns: 500 },
  )
})

test('names are injective among parts that look alike', () => {
  const names = ['a', 'a_', '_a', 'a__b', 'a_b', 'a-b', 'a.b', 'A', '74afdff5f493', 'a_74afdff5f493']
  const scopes: readonly (readonly [string | null, string | null])[] = [
    [null, null],
    ['env-a', null],
    ['env-b', null],
    ['env-a', 'x'],
    [null, 'x'],
    ['x', null],
  ]
  const raws = ['a', 'a_', '_a', 'a__b', 'a_b', 'a.b', 'b', '__b', '', 'a_74afdff5f493', 'b__a']
  const all = names.flatMap((name) =>
    scopes.flatMap(([environment, installation]) => raws.map((raw) => scoped.tool(parts(name, environment, installation), raw).name)),
  )
  const repeated = all.filter((name, index) => all.indexOf(name) !== index)
  expect(repeated).toEqual([])
})
