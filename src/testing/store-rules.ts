/** What every store has to do, as checks for any test runner: for stores of one's own. */
import assert from 'node:assert/strict'
import type { Store, StoreEntry } from '../storage/store.ts'

/** One rule: `check` rejects with an AssertionError where the store breaks it. */
export interface StoreRule {
  readonly name: string
  readonly check: () => Promise<void>
}

/** The rules; `open` gives a new, empty store for each, which is closed at the end. Keys are `[A-Za-z0-9_.:/-]+`, values any text. */
export function storeRules(open: () => Store | Promise<Store>): readonly StoreRule[] {
  return RULES.map(([name, rule]) => ({
    name,
    check: async () => {
      const store = await open()
      try {
        await rule(store)
      } finally {
        await store.close()
      }
    },
  }))
}

const RULES: readonly (readonly [string, (store: Store) => Promise<void>])[] = [
  [
    'gives back what was put, and null for the rest',
    async (store) => {
      assert.equal(await store.get('approvals', 'a'), null)
      const put = await store.put('approvals', 'a', '{"x":1}')
      assert.deepEqual([put?.key, put?.value], ['a', '{"x":1}'])
      assert.deepEqual(same(await store.get('approvals', 'a')), same(put))
      assert.equal(await store.get('inventory', 'a'), null)
      assert.equal(await store.delete('approvals', 'a'), true)
      assert.equal(await store.get('approvals', 'a'), null)
    },
  ],
  [
    'a revision changes with every write, the same text and a rewrite after a deletion included',
    async (store) => {
      const revisions = new Set<string | undefined>()
      for (let round = 0; round < 3; round++) {
        revisions.add((await store.put('approvals', 'a', 'same'))?.revision)
        if (round === 1) await store.delete('approvals', 'a')
      }
      assert.equal(revisions.size, 3)
    },
  ],
  [
    'ifAbsent and ifRevision decide whether anything is written',
    async (store) => {
      const first = (await store.put('approvals', 'a', '1', { ifAbsent: true })) as StoreEntry
      assert.equal(await store.put('approvals', 'a', '2', { ifAbsent: true }), null)
      assert.equal(await store.put('approvals', 'a', '3', { ifRevision: 'not this one' }), null)
      assert.equal(await store.put('approvals', 'b', '3', { ifRevision: first.revision }), null)
      assert.equal((await store.get('approvals', 'a'))?.value, '1')
      const second = (await store.put('approvals', 'a', '4', { ifRevision: first.revision })) as StoreEntry
      assert.equal((await store.get('approvals', 'a'))?.value, '4')
      assert.equal(await store.delete('approvals', 'a', { ifRevision: first.revision }), false)
      assert.equal(await store.delete('approvals', 'a', { ifRevision: second.revision }), true)
      assert.equal(await store.delete('approvals', 'a'), false)
    },
  ],
  [
    'of many that put with ifAbsent at once exactly one succeeds',
    async (store) => {
      const puts = Array.from({ length: 20 }, (_, index) => store.put('approvals', 'first', String(index), { ifAbsent: true }))
      const winners = (await Promise.all(puts)).filter((entry) => entry !== null)
      assert.equal(winners.length, 1)
      assert.deepEqual(same(await store.get('approvals', 'first')), same(winners[0] ?? null))
    },
  ],
  [
    'of many that put one revision at once exactly one succeeds',
    async (store) => {
      const { revision } = (await store.put('approvals', 'a', 'start')) as StoreEntry
      const puts = Array.from({ length: 20 }, (_, index) => store.put('approvals', 'a', String(index), { ifRevision: revision }))
      assert.equal((await Promise.all(puts)).filter((entry) => entry !== null).length, 1)
    },
  ],
  [
    'many writes at once lose nothing',
    async (store) => {
      const keys = Array.from({ length: 50 }, (_, index) => `many/${index}`)
      await Promise.all(keys.map((key) => store.put('approvals', key, key)))
      assert.deepEqual((await listed(store)).map(({ key }) => key).sort(), keys.toSorted())
    },
  ],
  [
    'what has run out is not there: not for get, list, delete or a condition',
    async (store) => {
      const gone = (await store.put('approvals', 'gone', '1', { ttlMs: 0 })) as StoreEntry
      await store.put('approvals', 'here', '1', { ttlMs: 600_000 })
      assert.equal(await store.get('approvals', 'gone'), null)
      assert.deepEqual(
        (await listed(store)).map(({ key }) => key),
        ['here'],
      )
      assert.equal(await store.delete('approvals', 'gone'), false)
      assert.equal(await store.put('approvals', 'gone', '2', { ifRevision: gone.revision }), null)
      assert.notEqual(await store.put('approvals', 'gone', '2', { ifAbsent: true }), null)
    },
  ],
  [
    'areas are apart: a list has its own area alone',
    async (store) => {
      for (const area of ['approvals', 'tokens', 'inventory'] as const) await store.put(area, 'same', area)
      assert.deepEqual(
        (await listed(store)).map(({ value }) => value),
        ['approvals'],
      )
      await store.delete('tokens', 'same')
      assert.equal((await store.get('inventory', 'same'))?.value, 'inventory')
    },
  ],
  [
    'values are any text of any length, keys every character that keys may have',
    async (store) => {
      const values = ['', '__proto__', 'a\nb\r\n', '\0', 'ключ 🔑', '"\\', 'x'.repeat(200_000)]
      for (const [index, value] of values.entries()) await store.put('approvals', `value-${index}`, value)
      for (const [index, value] of values.entries()) assert.equal((await store.get('approvals', `value-${index}`))?.value, value)
      for (const key of ['__proto__', 'constructor', 'a/../b', '.', 'A:b_c-D.9', 'x'.repeat(500)]) {
        await store.put('approvals', key, key)
        assert.equal((await store.get('approvals', key))?.value, key)
      }
    },
  ],
  [
    'a store that is closed works no more, and can be closed again',
    async (store) => {
      await store.close()
      await assert.rejects(async () => store.get('approvals', 'a'))
      await assert.rejects(async () => store.put('approvals', 'a', '1'))
      await assert.rejects(async () => store.delete('approvals', 'a'))
      await assert.rejects(() => listed(store))
    },
  ],
]

async function listed(store: Store): Promise<readonly StoreEntry[]> {
  const entries: StoreEntry[] = []
  for await (const entry of store.list('approvals')) entries.push(entry)
  return entries
}

/** The three fields; a store may give more. */
const same = (entry: StoreEntry | null): unknown => entry && [entry.key, entry.value, entry.revision]
