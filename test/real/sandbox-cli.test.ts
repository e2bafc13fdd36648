/** The rows of vectors/sandbox-cli.json, by way of `readSandbox`: what the real launcher takes, confines and says, and what we make of it. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sandboxState } from '../../src/pipeline/sandbox-state.ts'
import type { SandboxOutput } from '../../src/sandbox/index.ts'
import { readSandbox, SandboxLauncherError } from '../../src/sandbox/index.ts'
import type { PermissionProfile } from '../../src/servers/environment.ts'
import { isAlive, until } from '../cases/driver.ts'
import { codexBinary } from './codex.ts'
import { outsideOfTemporary } from './outside.ts'

interface Row {
  readonly kind: 'state' | 'argv' | 'confinement'
  readonly id: string
  readonly state?: unknown
  readonly text?: string
  readonly class?: string
  readonly argv?: readonly string[]
  readonly exitCode?: number
  readonly stderr?: string
  readonly canWrite?: Readonly<Record<'cwd' | 'tmp' | 'elsewhere', boolean>>
  readonly socketAllowed?: boolean
}
const { cases } = JSON.parse(readFileSync(new URL('../vectors/sandbox-cli.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Row[]
}
const codex = codexBinary()

let cwd: string
let temporary: string
/** neither below the working folder nor a folder for temporary files */
let elsewhere: string
beforeAll(() => {
  const cache = outsideOfTemporary()
  cwd = realpathSync(mkdtempSync(join(cache, 'sandbox-cwd-')))
  elsewhere = realpathSync(mkdtempSync(join(cache, 'sandbox-other-')))
  temporary = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-')))
})
afterAll(() => {
  for (const folder of [cwd, elsewhere, temporary]) rmSync(folder, { recursive: true, force: true })
})

const filled = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state).replaceAll('{cwd}', cwd).replaceAll('{sandbox-helper}', codex)) as unknown
const sandboxOf = (state: unknown): ReturnType<typeof readSandbox> =>
  readSandbox({ 'codex/sandbox-state': state, 'codex/sandbox-state-meta': state, 'codex/sandbox-launcher': { codexExecutable: codex } })
const ended = (state: unknown, script: string): Promise<SandboxOutput | SandboxLauncherError> =>
  sandboxOf(state)
    .run('sh', ['-c', script])
    .catch((error: unknown) => {
      if (error instanceof SandboxLauncherError) return error
      throw error
    })

describe('state', () => {
  // text that is no JSON cannot be a state of ours: it is a string then, which is no state of the launcher either
  test.each(cases.filter(({ kind, state }) => kind === 'state' && state !== null))('$id: $class', async (row) => {
    const end = await ended(row.text ?? filled(row.state), 'echo ran; exit 5')
    const seen =
      end instanceof SandboxLauncherError
        ? { from: 'launcher', ran: false, code: null }
        : { from: end.from, ran: end.stdout === 'ran\n', code: end.code }
    // where the state was understood the launcher may say what any command may say: that is never taken for the command's
    const expected: Readonly<Record<string, object>> = {
      accepted: { from: 'command', ran: true, code: 5 },
      rejected: { from: 'launcher', ran: false, code: null },
      panic: { from: 'launcher', ran: false, code: null },
      failed: { from: expect.stringMatching(/^(?:launcher|unknown)$/), ran: false },
    }
    expect(seen).toMatchObject(expected[row.class as string] as object)
  })

  test('null is no state', () => {
    expect(() => sandboxOf(null)).toThrow(expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE' }))
  })
})

describe('argv', () => {
  const readOnly = (): unknown => filled(cases.find(({ id, kind }) => kind === 'state' && id === 'read-only')?.state)

  test('exit-code, signal: the status of the command comes through', async () => {
    expect(await ended(readOnly(), 'echo ran; exit 7')).toMatchObject({ code: 7, from: 'command' })
    expect(await ended(readOnly(), 'echo ran; kill -9 $$')).toMatchObject({ code: 137, signal: null, from: 'command' })
    for (const code of [1, 2, 101]) {
      expect(await ended(readOnly(), `echo ran; exit ${code}`)).toMatchObject({ code, from: 'command' })
      expect(await ended(readOnly(), `exit ${code}`)).toMatchObject({ code, from: 'unknown' })
    }
  })

  test('missing-binary: a command that is not there never ran', async () => {
    await expect(sandboxOf(readOnly()).run('/nonexistent/bin')).rejects.toThrow(/^the command did not run: .*\/nonexistent\/bin/)
  })

  test('options of the launcher behind -- are words of the command', async () => {
    const { stdout } = await sandboxOf(readOnly()).run('printf', ['%s ', '--sandbox-state-json', '{}', '--', '-C', '/'])
    expect(stdout).toBe('--sandbox-state-json {} -- -C / ')
  })

  test.runIf(process.platform === 'linux')('big-100k runs, big-130k is an error of ours before anything is started', async () => {
    const big = (bytes: number): unknown => ({ ...(readOnly() as object), padding: 'x'.repeat(bytes) })
    expect(await ended(big(100_000), 'echo ran')).toMatchObject({ code: 0, stdout: 'ran\n' })
    await expect(sandboxOf(big(131_072)).run('true')).rejects.toThrow(/the sandbox state has \d+ bytes; this platform allows 131071/)
  })

  test('the command starts in the folder of the state, whatever cwd says', async () => {
    expect((await sandboxOf(readOnly()).run('pwd', [], { cwd: homedir() })).stdout).toBe(`${cwd}\n`)
  })

  test('programs that look at their streams print: Node does where the network is forbidden', async () => {
    const script = 'process.stdin.on("data", (d) => console.log("in " + d)); console.error("err")'
    const { stdout, stderr } = await sandboxOf(readOnly()).run(process.execPath, ['-e', script], { input: 'x' })
    expect([stdout, stderr]).toEqual(['in x\n', expect.stringContaining('err\n')])
  })

  test.runIf(process.platform === 'linux')('an abort ends the command and what it has started, confined or not', async () => {
    const mark = `tapline-${randomUUID()}`
    for (const id of ['workspace-write', 'disabled']) {
      const state = filled(cases.find((row) => row.kind === 'state' && row.id === id)?.state)
      const controller = new AbortController()
      const env = { ...process.env, MARK: mark }
      const child = sandboxOf(state).run('sh', ['-c', 'sleep 60 & : > started; wait'], { env, signal: controller.signal })
      await until(() => existsSync(join(cwd, 'started')))
      rmSync(join(cwd, 'started'))
      expect(marked(mark)).not.toEqual([])
      controller.abort()
      await expect(child).rejects.toMatchObject({ name: 'AbortError' })
      await until(() => marked(mark).length === 0)
    }
  })
})

/** Live processes with the mark in their variables. */
function marked(mark: string): number[] {
  const has = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark) && isAlive(pid)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && has(pid))
}

describe('confinement', () => {
  const OURS: Readonly<Record<string, PermissionProfile>> = {
    'read-only': 'read-only',
    'read-only-network': { type: 'read-only', networkAccess: true },
    'workspace-write': 'workspace-write',
    disabled: 'full-access',
    'external-restricted': 'external',
    'external-enabled': { type: 'external', networkAccess: true },
  }
  const rows = cases.filter(({ kind }) => kind === 'confinement')

  test('every row has a profile of ours', () => {
    expect(rows.map(({ id }) => id)).toEqual(Object.keys(OURS))
  })

  test.each(rows)('$id: the state that we send confines as it does', async ({ id, canWrite, socketAllowed }) => {
    const state = sandboxState({ permissions: OURS[id] as PermissionProfile, cwd, codexExecutable: codex })
    const folders = { cwd, tmp: temporary, elsewhere }
    const script = `for d in '${Object.values(folders).join("' '")}'; do (: > "$d/new") 2>/dev/null; done; :`
    expect(await ended(state, script)).toMatchObject({ code: 0 })
    const written = Object.entries(folders).map(([name, folder]) => [name, existsSync(join(folder, 'new'))])
    for (const folder of Object.values(folders)) rmSync(join(folder, 'new'), { force: true })
    expect(Object.fromEntries(written)).toEqual(canWrite)
    const socket =
      'require("net").createServer().on("error", () => console.log("no")).listen(0, "127.0.0.1", function () { console.log("yes"); this.close() })'
    const { stdout } = await sandboxOf(state).run(process.execPath, ['-e', socket])
    expect(stdout).toBe(socketAllowed === true ? 'yes\n' : 'no\n')
  })
})
