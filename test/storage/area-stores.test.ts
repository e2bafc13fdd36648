import { expect, test } from 'vitest'
import { areaStores } from '../../src/storage/area-stores.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { storeRules } from '../../src/testing/index.ts'
import { storeSuite } from './store-suite.ts'

// areas of a store of its own are a store like any other; `tokens` has one here
storeSuite(() => areaStores({ tokens: memoryStore() }, memoryStore()))

test('the rules find a store that breaks one', async () => {
  const broken: readonly [string, Partial<Store>][] = [
    ['ifAbsent', { put: (area, key, value) => memory.put(area, key, value) }],
    [
      'lose nothing',
      {
        put: async (area, key, value, options) =>
          key.startsWith('many/7') ? memory.get(area, 'x') : memory.put(area, key, value, options),
      },
    ],
    ['closed', { close: async () => {} }],
  ]
  let memory = memoryStore()
  for (const [word, part] of broken) {
    const rules = storeRules(() => {
      memory = memoryStore()
      const { get, put, delete: remove, list, close } = memory
      return Object.assign(
        { get: get.bind(memory), put: put.bind(memory), delete: remove.bind(memory), list: list.bind(memory), close: close.bind(memory) },
        part,
      )
    })
    const failed: string[] = []
    for (const { name, check } of rules) await check().catch(() => failed.push(name))
    expect(failed.length, word).toBeGreaterThan(0)
    expect(failed.join(), word).toContain(word)
  }
})
