import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/json.ts'
import { sandboxState } from '../../src/pipeline/sandbox-state.ts'
import type { PermissionProfile } from '../../src/servers/environment.ts'

interface Row {
  readonly kind: string
  readonly id: string
  readonly state: JsonObject
  readonly ours: 'same' | { readonly state?: JsonObject }
}
const vectors = JSON.parse(readFileSync(new URL('../vectors/sandbox-meta.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}
const rows = vectors.cases.filter(({ kind }) => kind === 'state')

const PROFILES: Readonly<Record<string, PermissionProfile>> = {
  'read-only': 'read-only',
  'read-only-network': { type: 'read-only', networkAccess: true },
  'workspace-write': 'workspace-write',
  'workspace-write-network': { type: 'workspace-write', networkAccess: true },
  'workspace-write-root': { type: 'workspace-write', writableRoots: ['/work-extra'] },
  'workspace-write-no-tmp': { type: 'workspace-write', excludeSlashTmp: true, excludeTmpdirEnvVar: true },
  'danger-full-access': 'full-access',
  external: 'external',
  'external-network': { type: 'external', networkAccess: true },
}
const CWD = '/work-area'
const CODEX = '/opt/codex'
const stateOf = (permissions: PermissionProfile | null, cwd = CWD, codexExecutable: string | null = CODEX): JsonObject | undefined =>
  sandboxState({ permissions, cwd, codexExecutable }) as JsonObject | undefined

test('every state of the vectors has a profile here', () => {
  expect(rows.map(({ id }) => id)).toEqual(Object.keys(PROFILES))
})

test.each(rows)('sandbox-meta.json state $id, in the same order', ({ id, state, ours }) => {
  const expected = JSON.stringify(ours === 'same' ? state : ours.state)
    .replaceAll('{cwd}', CWD)
    .replaceAll('{sandbox-helper}', CODEX)
  expect(JSON.stringify(stateOf(PROFILES[id] as PermissionProfile))).toBe(expected)
})

test('the long forms of the profiles say the same', () => {
  for (const type of ['read-only', 'workspace-write', 'full-access', 'external'] as const) expect(stateOf({ type })).toEqual(stateOf(type))
})

test('no permissions, no state', () => {
  expect(stateOf(null)).toBeUndefined()
})

test('the executable is part of the state only where it is absolute and can be sent', () => {
  for (const codexExecutable of [null, 'codex', './codex', '/opt/\ud800', '/opt/\ufffd'])
    expect(stateOf('read-only', CWD, codexExecutable)).not.toHaveProperty('codexLinuxSandboxExe')
  expect(stateOf('read-only', CWD, '/opt/co dex ü')).toHaveProperty('codexLinuxSandboxExe', '/opt/co dex ü')
})

test('the folder is a file URI in sandboxCwd and a plain path in the entries', () => {
  const state = stateOf('workspace-write', '/srv/a b/ü#?%41')
  expect(state?.sandboxCwd).toBe('file:///srv/a%20b/%C3%BC%23%3F%2541')
  expect(JSON.stringify(state)).toContain('"path":"/srv/a b/ü#?%41/.git"')
})

test('a folder of a Windows machine keeps its form on any host', () => {
  const state = stateOf('workspace-write', 'C:\\work area')
  expect(state?.sandboxCwd).toBe('file:///C:/work%20area')
  expect(JSON.stringify(state)).toContain(JSON.stringify('C:\\work area\\.git'))
})

test('several roots keep their order in every group', () => {
  const state = stateOf({ type: 'workspace-write', writableRoots: ['/b', '/a'] }) as unknown as {
    permissionProfile: { file_system: { entries: { path: { path?: string } }[] } }
  }
  const { entries } = state.permissionProfile.file_system
  expect(entries.flatMap(({ path }) => path.path ?? [])).toEqual([
    CWD,
    '/b',
    '/a',
    '/b',
    '/a',
    ...['.git', '.agents', '.codex', '.aws'].flatMap((name) => [`${CWD}/${name}`, `/b/${name}`, `/a/${name}`]),
  ])
})

describe('what is not understood is refused', () => {
  test.each([
    ['an unknown profile', 'readonly'],
    ['an unknown type', { type: 'disabled' }],
    ['a misspelt field', { type: 'read-only', networkAcess: true }],
    ['a field of the wrong type', { type: 'read-only', networkAccess: 'yes' }],
    ['a relative root', { type: 'workspace-write', writableRoots: ['x'] }],
    ['roots that are no list', { type: 'workspace-write', writableRoots: '/x' }],
    ['full access without the network', { type: 'full-access', networkAccess: false }],
  ])('%s', (_, permissions) => {
    expect(() => stateOf(permissions as PermissionProfile)).toThrow(expect.objectContaining({ code: 'SANDBOX_POLICY_UNREADABLE' }))
  })
  test('a folder that is not absolute, or cannot be sent', () => {
    for (const cwd of ['work', '', '/a\udfff', '/a\ufffd'])
      expect(() => stateOf('read-only', cwd)).toThrow(expect.objectContaining({ code: 'SANDBOX_POLICY_UNREADABLE' }))
  })
})

const opaque = (sandboxState: string | JsonObject): JsonObject | undefined => stateOf({ type: 'opaque', sandboxState })

describe('a ready policy', () => {
  const json = fc.json({ noUnicodeString: false, maxDepth: 5 }).map((text) => JSON.parse(text) as Json)
  const withoutMinusZero = (value: unknown): boolean =>
    !JSON.stringify(value, (_, member: unknown) => (Object.is(member, -0) ? 'minus zero' : member)).includes('minus zero') &&
    !/\p{Surrogate}/u.test(unescaped(value))
  const unescaped = (value: unknown): string =>
    typeof value === 'string'
      ? value
      : typeof value === 'object' && value !== null
        ? Object.entries(value).flat().map(unescaped).join('\n')
        : ''
  const objects = fc.dictionary(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('__proto__')), json).filter(withoutMinusZero)

  test('arrives deep-equal, as an object and as text, with fields that nobody knows', () => {
    fc.assert(
      fc.property(objects, (given) => {
        const text = JSON.stringify(given)
        expect(JSON.stringify(opaque(given as JsonObject))).toBe(text)
        expect(opaque(given as JsonObject)).toEqual(JSON.parse(text))
        expect(JSON.stringify(opaque(text))).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  test('is a copy: the host may go on changing its own', () => {
    const mine = { deep: { list: [1] } }
    const state = opaque(mine)
    mine.deep.list.push(2)
    expect(state).toEqual({ deep: { list: [1] } })
  })

  test('may name undefined members, which JSON does not have', () => {
    expect(JSON.stringify(opaque({ a: undefined, b: 1 } as unknown as JsonObject))).toBe('{"b":1}')
  })

  test.each([
    '{"a":1,"a":1}',
    '{"x":[{"a":1,"b":{},"a":2}]}',
    '{"a":1,"\\u0061":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"n":9007199254740993}',
    '{"n":18446744073709551615}',
    '{"n":-0}',
    '{"n":-0.0e3}',
    '{"n":1e400}',
    '{"n":1e-400}',
    '{"n":0.1000000000000000055511151231257827}',
    '{"s":"\\ud800"}',
    '{"\\udc00":1}',
    '{"s":"\\udc00\\ud800"}',
    '[]',
    '5',
    'null',
    '"{}"',
    '',
    '{',
    '{"a":1}}',
    '\ufeff{}',
    `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`,
  ])('text that is not the same after parse and print is refused: %.40s', (text) => {
    expect(() => opaque(text)).toThrow(
      expect.objectContaining({ code: 'SANDBOX_POLICY_UNREADABLE', message: expect.not.stringMatching(/\n/) }),
    )
  })

  test.each([
    '{"n":1.0}',
    '{"n":1e2}',
    '{"n":1E+2}',
    '{"n":0.10}',
    '{"n":9007199254740991}',
    '{"n":9007199254740992}',
    '{"n":0.0}',
    '{"n":5e-324}',
    '{"n":1e21}',
    '{"n":123.456e-7}',
    ' { "a" : [ { "a" : 1 } , { "a" : 1 } ] } ',
    '{"s":"\\ud83d\\ude00 \\"a\\": {"}',
    '{"a":"a","b":"a"}',
  ])('other spellings of the same value pass: %s', (text) => {
    expect(opaque(text)).toEqual(JSON.parse(text))
  })

  test.each([
    ['NaN', { n: Number.NaN }],
    ['minus zero', { n: [-0] }],
    ['a date', { d: new Date(0) }],
    ['a map', { m: new Map() }],
    ['a function', { toJSON: () => ({}) }],
    ['a bigint', { n: 1n }],
    ['a hole', { l: [undefined] }],
    ['half a pair', { s: '\ud800' }],
    ['an array', []],
    ['nothing', null],
  ])('an object that JSON cannot carry is refused: %s', (_, value) => {
    expect(() => opaque(value as unknown as JsonObject)).toThrow(expect.objectContaining({ code: 'SANDBOX_POLICY_UNREADABLE' }))
  })

  test('a cycle is refused', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(() => opaque(cycle as JsonObject)).toThrow(expect.objectContaining({ code: 'SANDBOX_POLICY_UNREADABLE' }))
  })
})
