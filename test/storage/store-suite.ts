import { expect, test } from 'vitest'
import type { Store, StoreEntry } from '../../src/storage/store.ts'

/** What every store has to do; `open` gives a new, empty one. */
export function storeSuite(open: () => Store | Promise<Store>): void {
  const listed = async (store: Store): Promise<readonly StoreEntry[]> => {
    const entries: StoreEntry[] = []
    for await (const entry of store.list('approvals')) entries.push(entry)
    return entries
  }

  test('gives back what was put, and null for the rest', async () => {
    const store = await open()
    expect(await store.get('approvals', 'a')).toBe(null)
    const put = await store.put('approvals', 'a', '{"x":1}')
    expect(put).toMatchObject({ key: 'a', value: '{"x":1}' })
    expect(await store.get('approvals', 'a')).toEqual(put)
    expect(await store.get('trust', 'a')).toBe(null)
    await store.close()
  })

  test('a revision changes with every write, the same text and a rewrite after a deletion included', async () => {
    const store = await open()
    const revisions = new Set<string | undefined>()
    for (let round = 0; round < 3; round++) {
      revisions.add((await store.put('approvals', 'a', 'same'))?.revision)
      if (round === 1) await store.delete('approvals', 'a')
    }
    expect(revisions.size).toBe(3)
    await store.close()
  })

  test('ifAbsent and ifRevision decide whether anything is written', async () => {
    const store = await open()
    const first = await store.put('approvals', 'a', '1', { ifAbsent: true })
    expect(await store.put('approvals', 'a', '2', { ifAbsent: true })).toBe(null)
    expect(await store.put('approvals', 'a', '3', { ifRevision: 'not this one' })).toBe(null)
    expect(await store.put('approvals', 'b', '3', { ifRevision: first?.revision as string })).toBe(null)
    expect((await store.get('approvals', 'a'))?.value).toBe('1')
    const second = await store.put('approvals', 'a', '4', { ifRevision: first?.revision as string })
    expect((await store.get('approvals', 'a'))?.value).toBe('4')
    expect(await store.delete('approvals', 'a', { ifRevision: first?.revision as string })).toBe(false)
    expect(await store.delete('approvals', 'a', { ifRevision: second?.revision as string })).toBe(true)
    expect(await store.delete('approvals', 'a')).toBe(false)
    await store.close()
  })

  test('of many that put with ifAbsent at once exactly one succeeds', async () => {
    const store = await open()
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.put('approvals', 'first', String(index), { ifAbsent: true })),
    )
    const winners = results.filter((entry) => entry !== null)
    expect(winners).toHaveLength(1)
    expect(await store.get('approvals', 'first')).toEqual(winners[0])
    await store.close()
  })

  test('what has run out is not there: not for get, list, delete or a condition', async () => {
    const store = await open()
    const gone = await store.put('approvals', 'gone', '1', { ttlMs: 0 })
    await store.put('approvals', 'here', '1', { ttlMs: 600_000 })
    expect(await store.get('approvals', 'gone')).toBe(null)
    expect((await listed(store)).map(({ key }) => key)).toEqual(['here'])
    expect(await store.delete('approvals', 'gone')).toBe(false)
    expect(await store.put('approvals', 'gone', '2', { ifRevision: gone?.revision as string })).toBe(null)
    expect(await store.put('approvals', 'gone', '2', { ifAbsent: true })).not.toBe(null)
    await expect(store.put('approvals', 'x', '1', { ttlMs: Number.NaN })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await store.close()
  })

  test('keys and values are any text', async () => {
    const store = await open()
    const keys = ['', '__proto__', 'constructor', 'a/../b', 'a\nb', '\0', 'ключ 🔑', '\ud800', 'x'.repeat(5_000)]
    for (const key of keys) await store.put('approvals', key, `value of ${key}`)
    for (const key of keys) expect((await store.get('approvals', key))?.value).toBe(`value of ${key}`)
    expect((await listed(store)).map(({ key }) => key)).toEqual(keys)
    await store.close()
  })

  test('an unknown area and a closed store are STORE_FAILED', async () => {
    const store = await open()
    await expect(store.get('../x' as 'trust', 'a')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await store.close()
    await expect(store.get('approvals', 'a')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(store.put('approvals', 'a', '1')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(listed(store)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await store.close()
  })
}
