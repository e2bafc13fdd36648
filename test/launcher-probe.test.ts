import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LauncherProbe } from '../src/launcher-probe.ts'

interface Row {
  readonly id: string
  readonly launcherFile: string
  readonly server?: string
  readonly probes: number
  readonly launcherPerCall: readonly boolean[]
  readonly ours: 'same' | { readonly probes?: number; readonly launcherPerCall?: readonly boolean[] }
}
const vectors = JSON.parse(readFileSync(new URL('./vectors/launcher-probe.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
  readonly path: readonly { readonly executable: string }[]
  readonly probe: { readonly argv: readonly string[] }
}

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapline-probe-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

let count = 0
/** A launcher in a folder of its own that notes each start in `starts` beside it. */
async function launcher(body: string, name = 'codex', folder = `l${count++}`): Promise<string> {
  await mkdir(join(root, folder), { recursive: true })
  const file = join(root, folder, name)
  await script(file, body)
  return file
}
async function script(file: string, body: string): Promise<void> {
  // Written beside and moved: a file that is open for writing cannot be started.
  await writeFile(
    `${file}.new`,
    `#!/bin/sh\nfor word; do printf '%s|' "$word"; done >> "\${0%/*}/starts"\necho >> "\${0%/*}/starts"\n${body}\n`,
  )
  await chmod(`${file}.new`, 0o755)
  await rename(`${file}.new`, file)
}
async function starts(file: string): Promise<string[]> {
  const text = await readFile(join(file, '..', 'starts'), 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean)
}
async function gone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      process.kill(pid, 0)
      // A killed process stays as a zombie until whoever adopted it looks.
      if (/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))) return true
    } catch {
      return true
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

const BODIES: Readonly<Record<string, string>> = {
  'real-hardlink': '[ "$1 $2 $3 $4" = "sandbox --sandbox-state-json {} --help" ]',
  'exit0-silent': 'exit 0',
  'exit0-help-without-flag': 'echo "Usage: something else"',
  'exit0-help-with-flag': 'echo "  --sandbox-state-json <JSON>"',
  'exit0-flag-on-stderr': 'echo "  --sandbox-state-json <JSON>" >&2',
  'exit1-with-flag': 'echo "  --sandbox-state-json <JSON>"; exit 1',
  exit2: 'exit 2',
  unlinked: 'exit 0',
  hang: 'sleep 40',
}

describe('launcher-probe.json', () => {
  // The rows `http-server` and `not-opted-in` are about which servers are probed for: the pipeline's tests have them.
  const rows = vectors.cases
    .filter(({ server }) => server === undefined)
    .map((row) => ({ ...row, title: row.launcherFile === 'the real CLI' ? 'a script that stands in for the real CLI' : row.launcherFile }))

  test('every row has a launcher here', () => {
    expect(rows.map(({ id }) => id)).toEqual(Object.keys(BODIES))
  })

  test.each(rows)('$id: $title', async ({ id, probes, launcherPerCall, ours }) => {
    const expected = { probes, launcherPerCall, ...(ours === 'same' ? {} : ours) }
    const file = await launcher(BODIES[id] as string)
    if (id === 'unlinked') await rm(file)
    const probe = new LauncherProbe({ timeoutMs: id === 'hang' ? 1000 : 10_000 })
    const first = await probe.check(file)
    if (id === 'exit2') await script(file, 'exit 0 # repaired')
    expect([first, await probe.check(file)]).toEqual(expected.launcherPerCall)
    expect(probe.known(file)).toBe(expected.launcherPerCall[1])
    expect(await starts(file)).toHaveLength(expected.probes)
  })

  test('the arguments are those of the row `probe`', async () => {
    const file = await launcher('exit 0')
    await new LauncherProbe().check(file)
    expect(await starts(file)).toEqual([
      vectors.probe.argv
        .slice(1)
        .map((word) => `${word}|`)
        .join(''),
    ])
  })

  describe('path', () => {
    test('the rows are those below', () => {
      expect(vectors.path.map(({ executable }) => executable)).toEqual([
        'started through a symlink',
        'renamed binary',
        'directory with blanks or non-ASCII letters',
        'directory that is not UTF-8',
      ])
    })
    test('started through a symlink: passes under the name given, and shares the probe with its target', async () => {
      const file = await launcher('exit 0')
      const link = join(file, '..', 'link')
      await symlink(file, link)
      const probe = new LauncherProbe()
      expect(await probe.check(link)).toBe(true)
      expect(await probe.check(file)).toBe(true)
      expect(await starts(file)).toHaveLength(1)
    })
    test('a renamed binary passes', async () => {
      expect(await new LauncherProbe().check(await launcher('exit 0', 'other-name'))).toBe(true)
    })
    test('a directory with blanks and non-ASCII letters passes', async () => {
      expect(await new LauncherProbe().check(await launcher('exit 0', 'co dex', "a b ü's $(x)"))).toBe(true)
    })
    test.skipIf(process.platform !== 'linux')('a directory that is not UTF-8: not used, not started', async () => {
      const folder = Buffer.concat([Buffer.from(join(root, 'bad-')), Buffer.from([0xff, 0xfe])])
      await mkdir(folder)
      await writeFile(Buffer.concat([folder, Buffer.from('/codex')]), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
      const probe = new LauncherProbe()
      for (const name of [`${folder.toString('utf8')}/codex`, join(root, 'bad-\udcff\udcfe/codex')]) {
        expect(await probe.check(name)).toBe(false)
        expect(probe.known(name)).toBe(false)
      }
    })
  })
})

test('callers at the same time share one run, and known is null until it ends', async () => {
  const file = await launcher('sleep 0.3')
  const probe = new LauncherProbe()
  expect(probe.known(file)).toBeNull()
  const checks = Array.from({ length: 8 }, () => probe.check(file))
  await Promise.resolve()
  expect(probe.known(file)).toBeNull()
  expect(await Promise.all(checks)).toEqual(Array.from({ length: 8 }, () => true))
  expect(probe.known(file)).toBe(true)
  expect(await starts(file)).toHaveLength(1)
})

test('a changed file is probed again, in both directions, and by its time alone', async () => {
  const file = await launcher('exit 0 #a')
  const probe = new LauncherProbe()
  expect(await probe.check(file)).toBe(true)
  await script(file, 'exit 7 #a')
  expect(probe.known(file)).toBeNull()
  expect(await probe.check(file)).toBe(false)
  await script(file, 'exit 0 #a')
  expect(await probe.check(file)).toBe(true)
  await utimes(file, new Date(1000), new Date(1000))
  expect(await probe.check(file)).toBe(true)
  expect(await starts(file)).toHaveLength(4)
})

test('two files are two probes', async () => {
  const probe = new LauncherProbe()
  const [good, bad] = [await launcher('exit 0'), await launcher('exit 1')]
  expect([await probe.check(good), await probe.check(bad), probe.known(good), probe.known(bad)]).toEqual([true, false, true, false])
})

test('what can be no launcher is false, and nothing is thrown', async () => {
  const probe = new LauncherProbe()
  const file = await launcher('exit 0')
  await mkdir(join(root, 'folder'), { recursive: true })
  for (const executable of [
    '',
    'codex',
    './codex',
    `${file}\0`,
    join(root, 'folder'),
    join(root, 'nothing'),
    `${file}/x`,
    '/dev/null',
    null as unknown as string,
    5 as unknown as string,
  ]) {
    expect(await probe.check(executable)).toBe(false)
    expect(probe.known(executable)).toBe(false)
  }
  expect(await starts(file)).toEqual([])
})

test('a file that could not be started is tried again once it can be', async () => {
  const file = await launcher('exit 0')
  await chmod(file, 0o644)
  const probe = new LauncherProbe()
  expect(await probe.check(file)).toBe(false)
  await chmod(file, 0o755)
  expect(await probe.check(file)).toBe(true)
})

test('after the time limit the whole group is dead', async () => {
  const file = await launcher('sleep 60 & echo $! > "${0%/*}/child"; echo $$ > "${0%/*}/self"; wait')
  expect(await new LauncherProbe({ timeoutMs: 4000 }).check(file)).toBe(false)
  for (const name of ['self', 'child']) expect(await gone(Number(await readFile(join(file, '..', name), 'utf8')))).toBe(true)
})

test('what a passing launcher leaves behind is ended, and does not hold up the result', async () => {
  const file = await launcher('sleep 60 & echo $! > "${0%/*}/child"; exit 0')
  expect(await new LauncherProbe({ timeoutMs: 20_000 }).check(file)).toBe(true)
  expect(await gone(Number(await readFile(join(file, '..', 'child'), 'utf8')))).toBe(true)
})

test('a launcher gets no input, no variables of the host but the basic ones, and may print without end of line', async () => {
  process.env.TAPLINE_TEST_SECRET = 'not for launchers'
  try {
    const file = await launcher('env > "${0%/*}/env"; head -c 300000 /dev/zero; cat > "${0%/*}/stdin"; exit 0')
    expect(await new LauncherProbe().check(file)).toBe(true)
    expect(await readFile(join(file, '..', 'stdin'), 'utf8')).toBe('')
    expect(await readFile(join(file, '..', 'env'), 'utf8')).not.toContain('TAPLINE_TEST_SECRET')
  } finally {
    delete process.env.TAPLINE_TEST_SECRET
  }
})

test('dispose ends what still runs; the guard hears of start and end', async () => {
  const file = await launcher('sleep 60')
  const seen: string[] = []
  const pids: number[] = []
  const probe = new LauncherProbe({
    timeoutMs: 30_000,
    guard: (pid) => {
      pids.push(pid)
      seen.push('start')
      return () => seen.push('end')
    },
  })
  const check = probe.check(file)
  probe.dispose()
  expect(await check).toBe(false)
  expect(seen).toEqual(['start', 'end'])
  expect(await gone(pids[0] as number)).toBe(true)
})
