import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { spawn } from 'node:child_process'
import { describe, expect, test, vi } from 'vitest'
import { readSandbox, SandboxLauncherError, SandboxOutputError } from '../../src/sandbox/index.ts'
import { isAlive, until } from '../cases/driver.ts'
import { folder, metaOf, passing, RUNS, script } from './launchers.ts'

const state = { permissionProfile: { type: 'disabled' } }
const withLauncher = (body: string): ReturnType<typeof readSandbox> => readSandbox(metaOf(state, script(body)))

describe('run', () => {
  test('gives output, code and where they come from', async () => {
    const sandbox = withLauncher(RUNS)
    expect(await sandbox.run('sh', ['-c', 'echo out; echo err >&2; exit 7'])).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      code: 7,
      signal: null,
      from: 'command',
    })
  })

  test('input is what the command reads; without it stdin is at its end; a command that reads nothing is no failure', async () => {
    const sandbox = withLauncher(RUNS)
    expect((await sandbox.run('cat', [], { input: 'ü\n' })).stdout).toBe('ü\n')
    expect((await sandbox.run('cat')).stdout).toBe('')
    expect((await sandbox.run('true', [], { input: 'x'.repeat(5_000_000) })).code).toBe(0)
  })

  test('cwd and env are those of the options', async () => {
    const sandbox = withLauncher(RUNS)
    const cwd = folder()
    const { stdout } = await sandbox.run('sh', ['-c', 'pwd; echo "$X-$HOME-"'], { cwd, env: { PATH: process.env['PATH'], X: 'x' } })
    expect(stdout).toBe(`${cwd}\nx--\n`)
  })

  test('many at once do not mix', async () => {
    const sandbox = withLauncher(RUNS)
    const outputs = await Promise.all(Array.from({ length: 20 }, (_, at) => sandbox.run('echo', [String(at)])))
    expect(outputs.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 20 }, (_, at) => `${at}\n`))
  })

  test('more output than allowed ends the command; as much as allowed is fine', async () => {
    const sandbox = withLauncher(RUNS)
    expect((await sandbox.run('sh', ['-c', 'printf 12345; printf 67890 >&2'], { maxBytes: 10 })).stderr).toBe('67890')
    await expect(sandbox.run('sh', ['-c', 'printf 12345; printf 678901 >&2; sleep 60'], { maxBytes: 10 })).rejects.toThrow(
      SandboxOutputError,
    )
    await expect(sandbox.run('yes')).rejects.toMatchObject({ code: 'SANDBOX_OUTPUT_TOO_LARGE' })
  })

  test('an abort ends the command with what it has started, and rejects with the reason', async () => {
    const sandbox = withLauncher(RUNS.replace('exec ', '')) // the launcher stays beside the command
    const file = join(folder(), 'pids')
    const controller = new AbortController()
    const reason = new Error('stop')
    const running = sandbox.run('sh', ['-c', `trap "" TERM; sleep 60 & echo $$ $! > ${file}; wait`], { signal: controller.signal })
    await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
    const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number)
    expect(pids).toHaveLength(2)
    await until(() => !pids.some(isAlive))
    await expect(sandbox.run('true', [], { signal: controller.signal })).rejects.toBe(reason)
  })

  test('what the command leaves behind holds nothing up, and is ended', async () => {
    const file = join(folder(), 'pid')
    const { stdout, code } = await withLauncher(RUNS).run('sh', ['-c', `sleep 60 & echo $! > ${file}; echo done; exit 3`])
    expect([stdout, code]).toEqual(['done\n', 3])
    await until(() => !isAlive(Number(readFileSync(file, 'utf8'))))
  })

  test('a server that ends takes its commands with it', async () => {
    const file = join(folder(), 'pid')
    const launcher = script(RUNS)
    const entry = new URL('../../dist/sandbox/index.js', import.meta.url).href
    const meta = JSON.stringify(metaOf(state, launcher))
    const code = `import { readSandbox } from '${entry}'
      readSandbox(${meta}).run('sh', ['-c', 'echo $$ > ${file}; sleep 60'])
      process.stdin.on('data', () => process.exit(0))`
    const server = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'inherit', 'inherit'] })
    await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
    server.stdin.write('end')
    expect(await once(server, 'exit')).toEqual([0, null])
    await until(() => !isAlive(Number(readFileSync(file, 'utf8'))))
  })
})

describe('a launcher that fails is an error of its own', () => {
  test.each<[string, string]>([
    ['a state that it does not take', 'echo "Error: invalid --sandbox-state-json value: missing field" >&2; exit 1'],
    ['a usage error', 'echo "error: the argument \'--sandbox-state-json <JSON>\' cannot be used multiple times" >&2; exit 2'],
    [
      'a panic',
      'echo; echo "thread \'main\' (2) panicked at linux-sandbox/src/linux_run_main.rs:1361:5:" >&2; exit 101'.replace(
        'echo; ',
        'echo >&2; ',
      ),
    ],
    [
      'a warning before it',
      'printf "WARNING: proceeding, even though ...\\nError: invalid --sandbox-state-json value: missing field\\n" >&2; exit 1',
    ],
    ['no namespaces', 'echo "bwrap: No permissions to create new namespace" >&2; exit 1'],
  ])('%s', async (_what, body) => {
    const failing = withLauncher(passing(body)).run('true')
    await expect(failing).rejects.toThrow(SandboxLauncherError)
    await expect(failing).rejects.toMatchObject({ code: 'SANDBOX_LAUNCHER_FAILED', stderr: expect.stringMatching(/\S/) })
    await expect(failing).rejects.toThrow(/the command did not run: the sandbox launcher ended with status \d+: \S/)
  })

  test("a status that may be anybody's, from a launcher that does not pass its probe", async () => {
    for (const status of [1, 2, 101])
      await expect(withLauncher(`exit ${status}`).run('true')).rejects.toMatchObject({ code: 'SANDBOX_LAUNCHER_FAILED', stderr: '' })
  })

  test.each<[string, () => string]>([
    ['missing', () => join(folder(), 'gone')],
    ['a folder', folder],
    ['no program', () => script('').replace(/codex$/, 'given.txt')],
  ])('not startable: %s', async (_what, path) => {
    const sandbox = readSandbox(metaOf(state, path()))
    await expect(sandbox.run('true')).rejects.toThrow(/^the sandbox launcher could not be started: /)
    await expect(sandbox.spawn('true').ended).rejects.toMatchObject({ code: 'SANDBOX_LAUNCHER_FAILED' })
  })
})

describe('whose status it is', () => {
  test.each<[string, string, string, number, string]>([
    ['no status of a launcher', passing(RUNS), 'exit 5', 5, 'command'],
    ['a killed command', passing(RUNS), 'exit 137', 137, 'command'],
    ['silence', passing(RUNS), 'exit 1', 1, 'unknown'],
    ['silence, 2', passing(RUNS), 'exit 2', 2, 'unknown'],
    ['silence, 101', passing(RUNS), 'exit 101', 101, 'unknown'],
    ['output shows that it ran', passing(RUNS), 'echo x; exit 1', 1, 'command'],
    [
      'output, and words of a launcher',
      passing(RUNS),
      'echo x; echo "Error: invalid --sandbox-state-json value" >&2; exit 1',
      1,
      'command',
    ],
    ['words of no launcher', passing(RUNS), 'echo "ls: no such file" >&2; exit 2', 2, 'command'],
    ['a warning of the launcher, then silence', passing(`echo "WARNING: x" >&2\n${RUNS}`), 'exit 1', 1, 'unknown'],
    ['a warning of the launcher, then words', passing(`echo "WARNING: x" >&2\n${RUNS}`), 'echo y >&2; exit 1', 1, 'command'],
    ['words that both may use', passing(RUNS), 'echo "Error: No such file or directory (os error 2)" >&2; exit 1', 1, 'unknown'],
  ])('%s', async (_what, body, command, code, from) => {
    const sandbox = withLauncher(body)
    expect(await sandbox.run('sh', ['-c', command])).toMatchObject({ code, from })
    const child = sandbox.spawn('sh', ['-c', command], { stdio: 'pipe' })
    const output = await Promise.all([text(child.stdout!), text(child.stderr!), child.ended])
    expect(output[2]).toEqual({ code, signal: null, from })
  })

  test('a signal that ended the launcher tells nothing about the command', async () => {
    expect(await withLauncher(passing('kill -9 $$')).run('true')).toMatchObject({ code: null, signal: 'SIGKILL', from: 'unknown' })
  })
})

describe('spawn', () => {
  test('leaves the streams to the author, also one who listens late', async () => {
    const child = withLauncher(RUNS).spawn('sh', ['-c', 'echo one; cat; echo err >&2; exit 1'], { stdio: 'pipe' })
    await new Promise((resolve) => setTimeout(resolve, 100)) // late is what this is about
    child.stdin!.end('two\n')
    expect(await text(child.stdout!)).toBe('one\ntwo\n')
    expect(await text(child.stderr!)).toBe('err\n')
    expect(await child.ended).toEqual({ code: 1, signal: null, from: 'command' })
  })

  test.runIf(process.platform === 'linux')('streams are pipes, not sockets, and leave no files', async () => {
    const sandbox = withLauncher(RUNS)
    const tmp = folder()
    vi.stubEnv('TMPDIR', tmp)
    try {
      const look = 'readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2'
      expect((await sandbox.run('sh', ['-c', look], { input: '' })).stdout).toMatch(/^(?:pipe:\[\d+\]\n|\/.*\/\d( \(deleted\))?\n){3}$/)
      const child = sandbox.spawn('sh', ['-c', 'cat; echo err >&2; exit 3'])
      expect(child.stdio.slice(0, 3)).toEqual([child.stdin, child.stdout, child.stderr])
      child.stdin!.end('in')
      const closed = once(child, 'close')
      expect(await text(child.stdout!)).toBe('in')
      expect(await text(child.stderr!)).toBe('err\n')
      expect(await closed).toEqual([3, null])
      expect(readdirSync(tmp)).toEqual([])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('close comes after the last byte, also where much is printed; no file stays open', async () => {
    const sandbox = withLauncher(RUNS)
    const files = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0)
    const before = files()
    for (let at = 0; at < 10; at++) {
      const child = sandbox.spawn('head', ['-c', '1000000', '/dev/zero'], { stdio: ['ignore', 'pipe', 'inherit'] })
      let length = 0
      child.stdout!.on('data', (chunk: Buffer) => (length += chunk.length))
      await once(child, 'close')
      expect(length).toBe(1_000_000)
    }
    await Promise.allSettled([1, 2, 3].map(() => readSandbox(metaOf(state, join(folder(), 'gone'))).run('true')))
    expect(() => sandbox.spawn('true', ['\0'])).toThrow(TypeError)
    await until(() => files() <= before)
    expect(files()).toBeLessThanOrEqual(before)
  })

  test('an end is told where nobody reads, or there is nothing to read', async () => {
    const sandbox = withLauncher(passing(RUNS))
    expect(await sandbox.spawn('sh', ['-c', 'echo "Error: x" >&2; exit 1'], { stdio: ['ignore', 'ignore', 'pipe'] }).ended).toMatchObject({
      code: 1,
      from: 'unknown',
    })
    expect(await sandbox.spawn('sh', ['-c', 'exit 1'], { stdio: 'ignore' }).ended).toEqual({ code: 1, signal: null, from: 'unknown' })
    expect(await sandbox.spawn('sh', ['-c', 'exit 4'], { stdio: 'ignore' }).ended).toEqual({ code: 4, signal: null, from: 'command' })
  })

  test('a failure that nobody looks at ends no process', async () => {
    const child = readSandbox(metaOf(state, join(folder(), 'gone'))).spawn('true')
    await once(child, 'error')
    await new Promise((resolve) => setImmediate(resolve))
    expect(child.pid).toBeUndefined()
  })

  test('a signal of the options ends it', async () => {
    const controller = new AbortController()
    const child = withLauncher(RUNS).spawn('sleep', ['60'], { signal: controller.signal })
    await once(child, 'spawn')
    controller.abort()
    expect(await child.ended).toMatchObject({ signal: 'SIGTERM', from: 'unknown' })
  })
})
