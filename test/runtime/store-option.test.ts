import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { LiveRuntime } from '../../src/runtime/live-runtime.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../src/runtime/types.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'

let base = ''
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'tapline-store-option-'))
})
afterAll(() => rm(base, { recursive: true, force: true }))

const storeOf = (runtime: unknown): Store => (runtime as LiveRuntime).parts.store
/** Where a runtime with these options keeps approvals: the folder that has a file after a write. */
async function writes(options: RuntimeOptions): Promise<void> {
  await using runtime = await openRuntime(options)
  await storeOf(runtime).put('approvals', 'a', '1')
}

test('the folder of a file; that of the options is stronger; without either it is the folder of the user', async () => {
  const config = join(base, 'tapline.json')
  await writeFile(config, JSON.stringify({ store: { file: './from-file' } }))
  await writes({ config })
  expect(await readdir(join(base, 'from-file'))).toEqual(['approvals.json'])
  await writes({ config, store: { file: join(base, 'from-options') } })
  expect(await readdir(join(base, 'from-options'))).toEqual(['approvals.json'])
  vi.stubEnv('XDG_STATE_HOME', join(base, 'state'))
  try {
    await writes({})
  } finally {
    vi.unstubAllEnvs()
  }
  expect(await readdir(join(base, 'state', 'tapline'))).toEqual(['approvals.json'])
})

test('a store of the host is used for everything and left open; a store for one area takes that area alone', async () => {
  const own = memoryStore()
  await writes({ store: own })
  expect((await own.get('approvals', 'a'))?.value).toBe('1')
  const approvals = memoryStore()
  vi.stubEnv('XDG_STATE_HOME', join(base, 'other-state'))
  try {
    await using runtime = await openRuntime({ store: { approvals } })
    await storeOf(runtime).put('approvals', 'b', '2')
    await storeOf(runtime).put('inventory', 'c', '3')
    await storeOf(runtime).delete('inventory', 'nothing')
    const listed: string[] = []
    for await (const { key } of storeOf(runtime).list('inventory')) listed.push(key)
    expect(listed).toEqual(['c'])
  } finally {
    vi.unstubAllEnvs()
  }
  expect((await approvals.get('approvals', 'b'))?.value).toBe('2')
  expect(await readdir(join(base, 'other-state', 'tapline'))).toEqual(['inventory.json'])
})

test('no area at all is as good as no option', async () => {
  await using runtime = await openRuntime({ store: {} })
  expect(runtime.diagnostics).toEqual([])
})

test.each([
  [{ file: '' }, 'folder'],
  [{ file: 3 }, 'folder'],
  [{ file: 'x', more: 1 }, '"more"'],
  [{ approval: memoryStore() }, 'approvals'],
  [{ approvals: {} }, 'store.approvals'],
  [null, 'must be an object'],
  ['x', 'must be an object'],
] as const)('%j is refused', async (store, problem) => {
  await expect(openRuntime({ store: store as never })).rejects.toMatchObject({
    code: 'CALL_INVALID_REQUEST',
    message: expect.stringContaining(problem),
  })
})
