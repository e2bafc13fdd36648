import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallMeta } from '../../src/sandbox/index.ts'
import { AuthorityGuard, SandboxAuthorityChangedError, SandboxContradictionError } from '../../src/sandbox/index.ts'
import { metaOf } from './launchers.ts'

const state = { permissionProfile: { type: 'managed', network: 'restricted', future: { a: [1, 2] } }, sandboxCwd: 'file:///x' }

test('the same state and launcher are the same, whatever else is in _meta and in which order', () => {
  const guard = new AuthorityGuard({ ...metaOf(state, '/codex'), progressToken: 1 })
  for (const meta of [
    metaOf(structuredClone(state), '/codex'),
    { progressToken: 2, 'x.test/y': {}, ...metaOf(state, '/codex') },
    { 'codex/sandbox-launcher': { codexExecutable: '/codex' }, 'codex/sandbox-state-meta': state },
    metaOf({ sandboxCwd: 'file:///x', permissionProfile: { future: { a: [1, 2] }, network: 'restricted', type: 'managed' } }, '/codex'),
  ]) {
    expect(guard.same(meta)).toBe(true)
    guard.assertSame(meta)
  }
})

test.each<[string, CallMeta]>([
  ['no authority', undefined],
  ['no launcher', { 'codex/sandbox-state': state }],
  ['no state', { 'codex/sandbox-launcher': { codexExecutable: '/codex' } }],
  ['another launcher', metaOf(state, '/other')],
  ['a field more in the launcher', { ...metaOf(state, '/codex'), 'codex/sandbox-launcher': { codexExecutable: '/codex', more: 1 } }],
  ['another folder', metaOf({ ...state, sandboxCwd: 'file:///y' }, '/codex')],
  ['looser', metaOf({ ...state, permissionProfile: { ...state.permissionProfile, network: 'enabled' } }, '/codex')],
  ['an unknown field changed', metaOf({ ...state, permissionProfile: { ...state.permissionProfile, future: { a: [2, 1] } } }, '/codex')],
  ['an unknown field more', metaOf({ ...state, more: null }, '/codex')],
  ['names that differ', { ...metaOf(state, '/codex'), 'codex/sandbox-state-meta': {} }],
  ['a launcher that is none', metaOf(state, 'codex')],
])('changed: %s', (_what, meta) => {
  const guard = new AuthorityGuard(metaOf(state, '/codex'))
  expect(guard.same(meta)).toBe(false)
  expect(() => guard.assertSame(meta)).toThrow(SandboxAuthorityChangedError)
  expect(() => guard.assertSame(meta)).toThrow(
    expect.objectContaining({ code: 'SANDBOX_AUTHORITY_CHANGED', name: 'SandboxAuthorityChangedError' }),
  )
})

test('none is an authority of its own: only none is the same', () => {
  const guard = new AuthorityGuard(undefined)
  expect([guard.same(undefined), guard.same({}), guard.same({ progressToken: 1 })]).toEqual([true, true, true])
  expect([guard.same(metaOf(state, '/codex')), guard.same({ 'codex/sandbox-state': state })]).toEqual([false, false])
})

test('it holds what was said then: changing the object afterwards changes nothing', () => {
  const meta = metaOf(structuredClone(state), '/codex') as Record<string, { sandboxCwd: string }>
  const guard = new AuthorityGuard(meta)
  meta['codex/sandbox-state']!.sandboxCwd = 'file:///y'
  meta['codex/sandbox-state-meta']!.sandboxCwd = 'file:///y'
  expect([guard.same(meta), guard.same(metaOf(state, '/codex'))]).toEqual([false, true])
})

test('a contradiction cannot be held', () => {
  expect(() => new AuthorityGuard({ 'codex/sandbox-state': 1, 'codex/sandbox-state-meta': 2 })).toThrow(SandboxContradictionError)
})

test('states are the same exactly where their values are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [one, other] = [a, b].map((value) => JSON.parse(JSON.stringify({ value })) as object)
      const guard = new AuthorityGuard(metaOf(one, '/codex'))
      expect(guard.same(metaOf(structuredClone(one), '/codex'))).toBe(true)
      expect(guard.same(metaOf(other, '/codex'))).toBe(isEqual(one, other))
    }),
  )
})

function isEqual(a: unknown, b: unknown): boolean {
  try {
    expect(a).toStrictEqual(b)
    return true
  } catch {
    return false
  }
}
