/** The owner of a call is decided once, by the resolver, and no hook can change it (docs/security.md). */
import { beforeAll, describe, expect, test } from 'vitest'
import { fight, type Kind, type Named } from './arena.ts'
import type { Result } from './attack.ts'
import { forgeries } from './attacks/forgeries.ts'
import { late } from './attacks/late.ts'
import { metadata } from './attacks/metadata.ts'
import { mutations } from './attacks/mutations.ts'
import { next } from './attacks/next.ts'
import { order } from './attacks/order.ts'
import { reflection } from './attacks/reflection.ts'
import { returned } from './attacks/returned.ts'
import { swallowed } from './attacks/swallowed.ts'
import { writes } from './attacks/writes.ts'

const TABLES = { returned, writes, reflection, swallowed, late, forgeries, order, metadata, next, mutations }
const ATTACKS: readonly Named[] = Object.entries(TABLES).flatMap(([table, attacks]) => attacks.map((attack) => ({ ...attack, id: `${table}: ${attack.name}` })))
const OWNER = 'files (environment exec-a)'

function judge(attack: Named, result: Result): void {
  const { ended, sent, seen, stray, settled } = result
  const { expect: expected, request = {} } = attack
  const tool = (request['tool'] as string | undefined) ?? 'write'
  expect(stray, 'what would have ended the process').toEqual([])
  expect(ended['outcome'], String(ended['message'])).not.toBe('hung')
  for (const one of seen) expect(one, 'what an innocent tap saw').toBe(`${OWNER} ${tool} exec-a`)
  for (const one of sent) expect([one.where, one.tool]).toEqual(['A', tool])
  if (expected !== 'HOOK_BAD_TAP' && expected !== 'HOOK_BAD_PLUGIN') {
    expect(ended['owner']).toBe(OWNER)
    if (attack.drive === undefined) expect(settled, 'settled events').toBe(1)
  }
  if (expected === 'unchanged' || expected === 'withheld') {
    expect(sent, String(ended['message'])).toHaveLength(1)
    expect(sent[0]!.args).toEqual(attack.args ?? request['arguments'] ?? { path: 'p', nested: { deep: [1] } })
  } else expect(sent).toEqual([])
  if (expected === 'unchanged') expect(ended, String(ended['message'])).toMatchObject({ outcome: 'completed', code: 'OK' })
  else if (expected !== 'stopped') {
    const outcome = { violation: 'ownership_violation', withheld: 'result_withheld', HOOK_BAD_TAP: 'threw', HOOK_BAD_PLUGIN: 'threw' }[expected as 'violation'] ?? 'refused'
    const code = outcome === 'ownership_violation' || expected === 'withheld' ? 'HOOK_CHANGED_OWNER' : expected
    expect([ended['outcome'], ended['code']], String(ended['message'])).toEqual([outcome, code])
    const tap = attack.tap ?? 'culprit'
    const plugin = `evil ${attack.id}`
    expect(ended['message']).toContain(plugin)
    if (expected !== 'HOOK_BAD_PLUGIN') expect(ended['message']).toContain(`tap "${tap}"`)
    expect(ended['message']).not.toContain('witness')
    if (outcome === 'ownership_violation') {
      expect(ended).toMatchObject({ tap, plugin, sent: 'no' })
      expect(ended['message']).toContain(` in ${ended['hook']}`)
      expect(ended['key']).not.toBe('')
    }
  } else expect(ended['outcome'], String(ended['message'])).not.toBe('completed')
  if (attack.says !== undefined) expect(ended['message']).toContain(attack.says)
  if (attack.reports !== undefined) expect(result.diagnostics.join('\n')).toContain(attack.reports)
  attack.check?.(result)
}

test('ten kinds of attack, five or more of each, and every name once', () => {
  expect(Object.values(TABLES).map((attacks) => attacks.length >= 5)).toEqual(Array.from({ length: 10 }, () => true))
  expect(new Set(ATTACKS.map(({ id }) => id)).size).toBe(ATTACKS.length)
})

describe.each<Kind>(['esm', 'cjs', 'code'])('%s', (kind) => {
  let results: ReadonlyMap<string, Result>
  beforeAll(async () => {
    results = await fight(ATTACKS, kind)
  }, 180_000)

  test.each(ATTACKS.filter(({ only }) => only === undefined || only === (kind === 'code' ? 'esm' : kind)))('$id', (attack) => {
    const result = results.get(attack.id)
    expect(result, 'no result').toBeDefined()
    judge(attack, result!)
  })
})
