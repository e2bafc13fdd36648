// Attacks on files that are for their owner alone: what another user, or an earlier run, has put where they go.
import { chmod, chown, link, lstat, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileStore } from '../../src/storage/file-store.ts'
import { writePrivateFile } from '../../src/storage/private-file.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapline-private-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))
const windows = process.platform === 'win32'
const isRoot = process.getuid?.() === 0

test.skipIf(windows)('a file that everybody could read is replaced by one that nobody else can', async () => {
  const file = join(folder, 'result.json')
  await writeFile(file, 'old', { mode: 0o666 })
  await chmod(file, 0o666)
  // another name of it, kept by somebody else
  await link(file, join(folder, 'kept'))
  await writePrivateFile(file, 'new')
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['new', 0o600])
  expect(await readFile(join(folder, 'kept'), 'utf8')).toBe('old')
})

test.skipIf(windows).each(['there', 'missing'])('a link is replaced and what it leads to stays as it is (%s)', async (target) => {
  const victim = join(folder, 'victim')
  if (target === 'there') await writeFile(victim, 'mine')
  const file = join(folder, 'result.json')
  await symlink(victim, file)
  await writePrivateFile(file, 'new')
  expect([(await lstat(file)).isFile(), await readFile(file, 'utf8')]).toEqual([true, 'new'])
  expect(await readFile(victim, 'utf8').catch(() => 'missing')).toBe(target === 'there' ? 'mine' : 'missing')
})

test.skipIf(windows)('what cannot be written leaves nothing beside it; a device stays a device', async () => {
  await mkdir(join(folder, 'result.json'))
  await expect(writePrivateFile(join(folder, 'result.json'), 'x')).rejects.toMatchObject({ code: 'EISDIR' })
  await expect(writePrivateFile(join(folder, 'none', 'result.json'), 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readdir(folder)).toEqual(['result.json'])
  await writePrivateFile('/dev/null', 'x')
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true)
})

test.skipIf(!isRoot)('a store that another user has prepared is not read, whatever its permissions say', async () => {
  const [stranger, me] = [65_533, 65_534]
  const prepared = join(folder, 'tapline')
  await fileStore(prepared).put('approvals', 'planted', 'yes')
  for (const path of [prepared, join(prepared, 'approvals.json')]) await chown(path, stranger, stranger)
  for (const [path, mode] of [
    [folder, 0o755],
    [prepared, 0o755],
    [join(prepared, 'approvals.json'), 0o644],
  ] as const)
    await chmod(path, mode)
  process.seteuid?.(me)
  try {
    const store = fileStore(prepared)
    const belongs = { code: 'STORE_FAILED', message: expect.stringContaining('belongs to another user') }
    await expect(store.get('approvals', 'planted')).rejects.toMatchObject(belongs)
    await expect(store.put('approvals', 'a', 'b')).rejects.toMatchObject(belongs)
    await expect(store.list('approvals')[Symbol.asyncIterator]().next()).rejects.toMatchObject(belongs)
  } finally {
    process.seteuid?.(0)
  }
})
