/** The owner of a call is decided once, by the resolver, and no hook can change it (docs/security.md). */
import { beforeAll, describe, expect, test } from 'vitest'
import { fight, isFor, type Kind, type Named } from './arena.ts'
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
import { judge, judgeShadow } from './judge.ts'

const TABLES = { returned, writes, reflection, swallowed, late, forgeries, order, metadata, next, mutations }
const ATTACKS: readonly Named[] = Object.entries(TABLES).flatMap(([table, attacks]) =>
  attacks.map((attack) => ({ ...attack, id: `${table}: ${attack.name}` })),
)
test('ten kinds of attack, five or more of each, and every name once', () => {
  expect(Object.values(TABLES).map((attacks) => attacks.length >= 5)).toEqual(Array.from({ length: 10 }, () => true))
  expect(new Set(ATTACKS.map(({ id }) => id)).size).toBe(ATTACKS.length)
})

describe.each<Kind>(['esm', 'cjs', 'code'])('%s', (kind) => {
  let results: ReadonlyMap<string, Result>
  beforeAll(async () => {
    results = await fight(ATTACKS, kind)
  }, 180_000)

  test.each(ATTACKS.filter((attack) => isFor(attack, kind)))('$id', (attack) => {
    const result = results.get(attack.id)
    expect(result, 'no result').toBeDefined()
    judge(attack, result!)
  })
})

describe('in shadow', () => {
  let results: ReadonlyMap<string, Result>
  beforeAll(async () => {
    results = await fight(ATTACKS, 'shadow')
  }, 180_000)

  test.each(ATTACKS.filter((attack) => isFor(attack, 'shadow')))('$id', (attack) => {
    const result = results.get(attack.id)
    expect(result, 'no result').toBeDefined()
    judgeShadow(attack, result!)
  })
})
