import { expect, test } from 'vitest'
import type { Store } from '../../src/storage/store.ts'
import { storeRules } from '../../src/testing/index.ts'

/** What every store has to do, and what ours do beyond that; `open` gives a new, empty one. */
export function storeSuite(open: () => Store): void {
  // the rule rejects where it is broken
  test.each(storeRules(open))('$name', ({ check }) => check())

  test('keys are any text, and are listed in the order in which they came', async () => {
    const store = open()
    const keys = ['', '__proto__', 'constructor', 'a/../b', 'a\nb', '\0', 'ключ 🔑', '\ud800', 'x'.repeat(5_000)]
    for (const key of keys) await store.put('approvals', key, `value of ${key}`)
    for (const key of keys) expect((await store.get('approvals', key))?.value).toBe(`value of ${key}`)
    const listed: string[] = []
    for await (const { key } of store.list('approvals')) listed.push(key)
    expect(listed).toEqual(keys)
    await store.close()
  })

  test('an unknown area, a life time that is none and a closed store are STORE_FAILED', async () => {
    const store = open()
    const failed = { code: 'STORE_FAILED' }
    await expect(store.get('../x' as 'trust', 'a')).rejects.toMatchObject(failed)
    await expect(store.put('approvals', 'x', '1', { ttlMs: Number.NaN })).rejects.toMatchObject(failed)
    await store.close()
    await expect(store.get('approvals', 'a')).rejects.toMatchObject(failed)
    await expect(store.put('approvals', 'a', '1')).rejects.toMatchObject(failed)
  })
}
