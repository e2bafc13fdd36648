import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileStore } from '../../src/storage/file-store.ts'
import { compileStore, ended, storeProcess } from './store-processes.ts'
import { storeSuite } from './store-suite.ts'

let base = ''
let count = 0
const fresh = (): string => join(base, `store-${++count}`)
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'tapline-store-'))
})
afterAll(() => rm(base, { recursive: true, force: true }))

storeSuite(() => fileStore(fresh()))

/** Root may write anywhere: for what an ordinary user meets, the test becomes one for a moment. */
async function asOrdinaryUser(folder: string, work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work()
  const nobody = 65_534
  await chmod(base, 0o755)
  for (const path of [folder, ...(await readdir(folder)).map((name) => join(folder, name))]) await chown(path, nobody, nobody)
  process.seteuid?.(nobody)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}

const files = async (folder: string): Promise<readonly string[]> => (await readdir(folder)).sort()

describe('on disk', () => {
  test('the folder is 0700, the file 0600, and nothing is left beside it', async () => {
    const folder = join(fresh(), 'deep', 'er')
    const store = fileStore(folder)
    expect(await store.get('approvals', 'a')).toBe(null)
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
    await store.put('approvals', 'a', '1')
    expect(await files(folder)).toEqual(['approvals.json'])
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'approvals.json'))).mode & 0o777).toBe(0o600)
    await store.close()
  })

  test('another instance reads it; a file with wider permissions is narrowed by the next write', async () => {
    const folder = fresh()
    await fileStore(folder).put('tokens', 'a', 'secret')
    await chmod(join(folder, 'tokens.json'), 0o644)
    const store = fileStore(folder)
    expect((await store.get('tokens', 'a'))?.value).toBe('secret')
    await store.put('tokens', 'b', 'secret')
    expect((await stat(join(folder, 'tokens.json'))).mode & 0o777).toBe(0o600)
  })

  test('a condition that does not hold leaves the file as it is', async () => {
    const folder = fresh()
    const store = fileStore(folder)
    await store.put('approvals', 'a', '1')
    const { ino } = await stat(join(folder, 'approvals.json'))
    await store.put('approvals', 'a', '2', { ifAbsent: true })
    await store.delete('approvals', 'nothing')
    expect((await stat(join(folder, 'approvals.json'))).ino).toBe(ino)
  })

  test('a folder that others can write to is refused, for reading too', async () => {
    const folder = fresh()
    await mkdir(folder)
    await chmod(folder, 0o777)
    const store = fileStore(folder)
    await expect(store.get('trust', 'a')).rejects.toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('mode 777') })
    await expect(store.put('trust', 'a', '1')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await files(folder)).toEqual([])
  })

  test('a folder that cannot be made or written to is STORE_FAILED with its path', async () => {
    await writeFile(join(base, 'a-file'), '')
    const folder = join(base, 'a-file', 'store')
    const store = fileStore(folder)
    await expect(store.put('approvals', 'a', '1')).rejects.toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining(folder) })
    await expect(store.get('approvals', 'a')).rejects.toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining(folder) })
  })

  test('a folder without write permission is STORE_FAILED, and can still be read', async () => {
    const folder = fresh()
    const store = fileStore(folder)
    await store.put('approvals', 'a', '1')
    await chmod(folder, 0o500)
    await asOrdinaryUser(folder, async () => {
      await expect(store.put('approvals', 'a', '2')).rejects.toMatchObject({ code: 'STORE_FAILED' })
      expect((await store.get('approvals', 'a'))?.value).toBe('1')
    })
    await chmod(folder, 0o700)
  })

  test('a write that fails does not stop the next one', async () => {
    const folder = fresh()
    const store = fileStore(folder)
    await writeFile(folder, '')
    await expect(store.put('approvals', 'a', '1')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await rm(folder)
    expect(await store.put('approvals', 'a', '1')).not.toBe(null)
  })

  test('a link in the place of the file is replaced, not followed', async () => {
    const folder = fresh()
    await mkdir(folder, { mode: 0o700 })
    await writeFile(join(base, 'victim'), '{"version":1,"entries":[]}')
    await symlink(join(base, 'victim'), join(folder, 'approvals.json'))
    await fileStore(folder).put('approvals', 'a', '1')
    expect(await readFile(join(base, 'victim'), 'utf8')).toBe('{"version":1,"entries":[]}')
  })

  test('what a killed writer left behind is swept up after a while', async () => {
    const folder = fresh()
    await fileStore(folder).put('approvals', 'a', '1')
    const [old, young] = [join(folder, 'approvals.json.1-aa.tmp'), join(folder, 'approvals.json.2-bb.tmp')]
    for (const file of [old, young]) await writeFile(file, 'half')
    await utimes(old, new Date(0), new Date(0))
    await fileStore(folder).put('approvals', 'b', '1')
    expect(await files(folder)).toEqual(['approvals.json', 'approvals.json.2-bb.tmp'])
  })
})

describe('a damaged file', () => {
  const damaged = [
    '',
    '{"version":1,"entries":[{"key"',
    '[]',
    'null',
    '{"version":1}',
    '{"version":1,"entries":[{"key":"a"}]}',
    '{"entries":[]}',
    '\0\0\0\0',
  ]

  test.each(damaged)('%j is set aside and said, by a read and by a write', async (text) => {
    for (const use of ['get', 'list', 'put', 'delete'] as const) {
      const folder = fresh()
      await mkdir(folder, { mode: 0o700 })
      await writeFile(join(folder, 'approvals.json'), text)
      const store = fileStore(folder)
      const done = async (): Promise<unknown> => {
        if (use === 'get') return store.get('approvals', 'a')
        if (use === 'put') return store.put('approvals', 'a', '1')
        if (use === 'delete') return store.delete('approvals', 'a')
        for await (const entry of store.list('approvals')) return entry
        return null
      }
      const error = await done().then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('is damaged; it was set aside as approvals.json.damaged-'),
      })
      const [aside, ...others] = await files(folder)
      expect(others).toEqual([])
      expect(aside).toMatch(/^approvals\.json\.damaged-\d{8}T\d{9}Z$/)
      expect(await readFile(join(folder, aside as string), 'utf8')).toBe(text)
      expect(await store.put('approvals', 'a', '1')).not.toBe(null)
    }
  })

  test('of many readers at once none sees an empty store without one of them having said it, and the new file is not set aside', async () => {
    const folder = fresh()
    await mkdir(folder, { mode: 0o700 })
    await writeFile(join(folder, 'approvals.json'), 'damaged')
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => fileStore(folder).get('approvals', 'a')))
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(await files(folder)).toHaveLength(1)
  })

  test('the file of a newer release is neither read nor set aside', async () => {
    const folder = fresh()
    await mkdir(folder, { mode: 0o700 })
    await writeFile(join(folder, 'approvals.json'), '{"version":2,"entries":{}}')
    const store = fileStore(folder)
    await expect(store.get('approvals', 'a')).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('newer release'),
    })
    await expect(store.put('approvals', 'a', '1')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await files(folder)).toEqual(['approvals.json'])
  })
})

describe('several processes', () => {
  let module = ''
  beforeAll(async () => {
    module = await compileStore(join(base, 'compiled'))
  }, 60_000)

  test('lose nothing when they write at once, each key its own', async () => {
    const folder = fresh()
    const body = (id: number): string => `for (let n = 0; n < 25; n++) await store.put('approvals', '${id}/' + n, 'v'); await store.close()`
    expect(await Promise.all([1, 2, 3, 4].map((id) => ended(storeProcess(module, folder, body(id)))))).toEqual([0, 0, 0, 0])
    const keys: string[] = []
    for await (const { key } of fileStore(folder).list('approvals')) keys.push(key)
    expect(keys.sort()).toEqual([1, 2, 3, 4].flatMap((id) => Array.from({ length: 25 }, (_, n) => `${id}/${n}`)).sort())
    expect(await files(folder)).toEqual(['approvals.json'])
  }, 60_000)

  test('count together with compare-and-set', async () => {
    const folder = fresh()
    const body = `for (let n = 0; n < 15; ) {
      const before = await store.get('inventory', 'count')
      const options = before ? { ifRevision: before.revision } : { ifAbsent: true }
      if (await store.put('inventory', 'count', String(Number(before?.value ?? 0) + 1), options)) n++
    }`
    expect(await Promise.all([1, 2, 3].map(() => ended(storeProcess(module, folder, body))))).toEqual([0, 0, 0])
    expect((await fileStore(folder).get('inventory', 'count'))?.value).toBe('45')
  }, 60_000)

  test('one that is killed while it writes costs the others only time: nothing is lost, damaged or doubled', async () => {
    const folder = fresh()
    const loop = `for (let n = 0; ; n++) { const entry = await store.put('approvals', 'victim', String(n)); process.stdout.write('wrote ' + entry.value + '\\n') }`
    const victims = [storeProcess(module, folder, loop), storeProcess(module, folder, loop)]
    for (const victim of victims) await once(victim.stdout as NodeJS.ReadableStream, 'data')
    await sleep(300)
    for (const victim of victims) victim.kill('SIGKILL')
    expect(await Promise.all(victims.map(ended))).toEqual(['SIGKILL', 'SIGKILL'])
    // whether or not a kill hit a moment with the lock held, the next writers find one that was left behind
    await mkdir(join(folder, 'approvals.json.lock')).catch(() => {})
    const writer = (id: number): string => `for (let n = 0; n < 10; n++) await store.put('approvals', '${id}/' + n, 'v')`
    expect(await Promise.all([1, 2, 3].map((id) => ended(storeProcess(module, folder, writer(id)))))).toEqual([0, 0, 0])
    const store = fileStore(folder)
    const keys: string[] = []
    for await (const { key } of store.list('approvals')) keys.push(key)
    expect(keys.filter((key) => key !== 'victim').sort()).toEqual(
      [1, 2, 3].flatMap((id) => Array.from({ length: 10 }, (_, n) => `${id}/${n}`)).sort(),
    )
    expect(Number((await store.get('approvals', 'victim'))?.value)).toBeGreaterThanOrEqual(0)
  }, 60_000)

  test('20 that write approvals at once, one of them killed at a random moment: every entry that was written is there, and whole', async () => {
    const folder = fresh()
    const body = (id: number): string => `for (let n = 0; n < 4; n++) {
      const key = 'approval/${id}-' + n
      await store.put('approvals', key, JSON.stringify({ key, more: 'x'.repeat(2000) }))
      process.stdout.write('wrote ' + key + '\\n')
    }`
    const writers = Array.from({ length: 20 }, (_, id) => storeProcess(module, folder, body(id)))
    const said = writers.map((writer) => {
      let text = ''
      writer.stdout?.on('data', (chunk: Buffer) => (text += String(chunk)))
      return { wrote: () => [...text.matchAll(/^wrote (.+)$/gm)].map(([, key]) => key as string) }
    })
    // not `exit`: what it printed last comes after that
    const closed = Promise.all(writers.map((writer) => once(writer, 'close')))
    // somewhere between its start and its end
    const victim = Math.floor(Math.random() * 20)
    const delay = Math.random() * 1_500
    await once(writers[victim]!.stdout as NodeJS.ReadableStream, 'data')
    await sleep(delay)
    writers[victim]!.kill('SIGKILL')
    await closed
    expect(
      writers.filter(({ exitCode }, id) => id !== victim && exitCode !== 0),
      `victim ${victim} after ${delay} ms`,
    ).toEqual([])
    const keys: string[] = []
    for await (const { key, value } of fileStore(folder).list('approvals')) {
      expect(JSON.parse(value)).toEqual({ key, more: 'x'.repeat(2000) })
      keys.push(key)
    }
    const written = said.flatMap(({ wrote }) => wrote())
    expect(written.length).toBeGreaterThanOrEqual(19 * 4)
    expect(written.filter((key) => !keys.includes(key))).toEqual([])
    // the victim may have written one that it could not tell of any more
    expect(keys.length - written.length).toBeLessThanOrEqual(1)
    expect((await files(folder)).filter((name) => !/\.(tmp|lock)$/.test(name))).toEqual(['approvals.json'])
  }, 120_000)

  test('a lock that was left behind is taken over by one of many that find it at the same moment', async () => {
    for (let round = 0; round < 4; round++) {
      const folder = fresh()
      const lock = join(folder, 'trust.json.lock')
      await mkdir(lock, { recursive: true, mode: 0o700 })
      // it turns stale when all of them are waiting
      const lastSign = new Date(Date.now() - 4_400)
      await utimes(lock, lastSign, lastSign)
      const writer = (id: number): string => `for (let n = 0; n < 3; n++) await store.put('trust', '${id}/' + n, 'v')`
      const ids = [1, 2, 3, 4, 5, 6, 7, 8]
      expect(await Promise.all(ids.map((id) => ended(storeProcess(module, folder, writer(id)))))).toEqual(ids.map(() => 0))
      let count = 0
      for await (const entry of fileStore(folder).list('trust')) count += entry.value === 'v' ? 1 : 0
      expect(count).toBe(24)
      expect(await files(folder)).toEqual(['trust.json'])
    }
  }, 60_000)

  test('a reader never sees half a file while others write', async () => {
    const folder = fresh()
    const writer = storeProcess(module, folder, `for (let n = 0; n < 60; n++) await store.put('approvals', 'a', String(n).repeat(20000))`)
    await once(writer.stdout as NodeJS.ReadableStream, 'data')
    const store = fileStore(folder)
    const lengths: number[] = []
    while (writer.exitCode === null && writer.signalCode === null) lengths.push((await store.get('approvals', 'a'))?.value.length ?? 0)
    expect(lengths.length).toBeGreaterThan(0)
    expect(lengths.filter((length) => length % 20000 !== 0)).toEqual([])
    expect(await ended(writer)).toBe(0)
  }, 60_000)
})
