import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Executor, StdioProcess } from '../../../src/connections/executor.ts'
import { commandExecutor } from '../../../src/connections/executors/command/command.ts'
import type { TaplineError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/json.ts'
import { Environment } from '../../../src/servers/environment.ts'
import { httpConnection } from '../fixtures/http.ts'
import { alive, hostPool, lease, until } from '../fixtures/pool.ts'

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-command-')))
const signal = new AbortController().signal
const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
const open: Executor[] = []
let daemon: ReturnType<typeof spawn>
const SOCKET = join(folder, 'daemon.sock')
/** Places as a user would write them; all run on this machine, the last one under a process that is not ours. */
const PREFIXES: Record<string, JsonObject> = {
  'a bare prefix': { prefix: ['env', '-i', `PATH=${PATH}`, 'HOME=/far-home'] },
  'a prefix that joins arguments to a shell line': {
    prefix: ['env', '-i', `PATH=${PATH}`, 'HOME=/far-home', 'sh', '-c', 'eval "$*"', 'x'],
    shell: true,
  },
  'a daemon that holds the process': { prefix: [process.execPath, join(FIXTURES, 'daemon.mjs'), 'exec', SOCKET] },
}
const DAEMON = PREFIXES['a daemon that holds the process'] as JsonObject

beforeAll(async () => {
  daemon = spawn(process.execPath, [join(FIXTURES, 'daemon.mjs'), 'serve', SOCKET], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PATH },
  })
  await new Promise((resolve) => daemon.stdout?.once('data', resolve))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((executor) => executor.dispose()))
})
afterAll(() => {
  daemon.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function place(options: JsonObject): Promise<Executor> {
  const executor = await commandExecutor.connect({
    signal,
    environmentId: 'far',
    options,
    log: () => {},
    watch: { add() {}, delete() {} },
  })
  open.push(executor)
  return executor
}

interface Wanted {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly command?: string
}
const start = (executor: Executor, { args = [], env = {}, cwd = '/', command = process.execPath }: Wanted = {}): Promise<StdioProcess> =>
  executor.startStdio(
    { command, args: command === process.execPath ? [join(FIXTURES, 'far.mjs'), ...args] : args, cwd, env, label: 'files' },
    { signal },
  )

/** Reads lines of stdout one after the other. */
function reader(process: StdioProcess): () => Promise<string> {
  const lines = (async function* () {
    let rest = ''
    for await (const chunk of process.stdout) {
      const parts = (rest + Buffer.from(chunk).toString('utf8')).split('\n')
      rest = parts.pop() ?? ''
      yield* parts
    }
  })()
  return async () => String((await lines.next()).value)
}
const hello = async (process: StdioProcess): Promise<any> => JSON.parse(await reader(process)())
const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )

const ODD = [
  'a b',
  '',
  "it's",
  '"q"',
  '$(id)',
  '`id`',
  '$HOME ${HOME} $$',
  '*',
  '~',
  '-n',
  'a\\nb\\',
  'two\nlines\n\n',
  '\n',
  'tab\tcr\r',
  'ünï-環境-😀',
  '!history',
  '%s %d \\012',
  '; rm x & | > <',
  '#',
  Array.from({ length: 64 }, (_, n) => String.fromCodePoint(0x80 + n, 0x3000 + n)).join(''),
]

describe.each(Object.entries(PREFIXES))('%s', (_, options) => {
  test('arguments, variables and folder arrive as they are, whatever is in them', async () => {
    const cwd = join(folder, `wo"r'k $(id) ü\nx`)
    mkdirSync(cwd, { recursive: true })
    const env = Object.fromEntries(ODD.map((value, n) => [`V${n}`, value]))
    const far = await start(await place(options), { args: ODD, env, cwd })
    const got = await hello(far)
    expect(got.args).toEqual(ODD)
    expect(got.env).toMatchObject(env)
    expect(got.cwd).toBe(cwd)
    expect(got.env['HOME']).toBe('/far-home')
    // nothing of ours crosses, and nothing of the bootstrap is left in the environment
    expect(Object.keys(got.env).filter((name) => !/^(V\d+|HOME|PATH|LANG|PWD|OLDPWD|SHLVL|_)$/.test(name))).toEqual([])
  })

  test('bytes go both ways unchanged, 5 MiB of them; a large variable too', async () => {
    const far = await start(await place(options), { env: { BIG: 'x'.repeat(100_000) } })
    const all = Buffer.from(`${'0123456789abcdef-é環😀'.repeat(250_000)}\n`)
    let received = 0
    let head = ''
    const echoed = (async () => {
      for await (const chunk of far.stdout) {
        received += chunk.length
        if (head.length < 200_000) head += Buffer.from(chunk).toString('latin1')
        if (head.includes('\n') && received >= head.indexOf('\n') + 1 + all.length) return
      }
    })()
    for (let at = 0; at < all.length; at += 65_537) await far.write(all.subarray(at, at + 65_537))
    await echoed
    expect(JSON.parse(head.slice(0, head.indexOf('\n'))).env.BIG).toHaveLength(100_000)
    expect(received).toBe(head.indexOf('\n') + 1 + all.length)
  })

  test('the end of input reaches the server, its exit status comes back, and its children end with it', async () => {
    const far = await start(await place(options))
    const next = reader(far)
    await next()
    await far.write(Buffer.from('one\n'))
    expect(await next()).toBe('one')
    expect(await far.endStdin()).toBe(true)
    expect(await next()).toBe('end of input')
    expect(await far.exited).toEqual({ code: 0, signal: null })
    expect(await (await start(await place(options), { args: ['quits'] })).exited).toEqual({ code: 5, signal: null })
    const parent = await start(await place(options), { args: ['kid'] })
    const { pid, kid } = await hello(parent)
    expect([alive(pid), alive(kid)]).toEqual([true, true])
    await parent.endStdin()
    await parent.exited
    await until(() => !alive(pid) && !alive(kid), 'the group has ended')
  })

  test('a server that ignores the end of its input and SIGTERM is gone when the bridge is killed', async () => {
    const far = await start(await place(options), { args: ['stubborn'] })
    const { pid } = await hello(far)
    await far.kill('kill')
    await far.exited
    await until(() => !alive(pid), 'the far process has ended', 20_000)
    expect(alive(pid)).toBe(false)
  })
})

test('behind a daemon a stubborn server ends because its input did, and is told first', async () => {
  const far = await start(await place(DAEMON), { args: ['stubborn'] })
  const next = reader(far)
  const { pid, parent } = JSON.parse(await next())
  // held by the far side, not by us
  expect(readFileSync(`/proc/${parent}/stat`, 'latin1').split(' ')[3]).not.toBe(String(process.pid))
  await far.endStdin()
  expect([await next(), await next()]).toEqual(['end of input', 'SIGTERM'])
  expect((await far.exited).code).toBe(137)
  expect(alive(pid)).toBe(false)
})

/** The usual command lines, as docs/guides/environments.md has them, read by programs that take arguments as the real ones document it. */
describe('the command line of', () => {
  const bin = join(folder, 'clis')
  const saved = process.env['PATH']
  beforeAll(() => {
    mkdirSync(bin)
    for (const name of ['docker', 'podman', 'kubectl', 'wsl'])
      writeFileSync(join(bin, name), `#!/bin/sh\nexec ${process.execPath} ${join(FIXTURES, 'bridge-cli.mjs')} ${name} ${SOCKET} "$@"\n`, {
        mode: 0o755,
      })
    process.env['PATH'] = `${bin}:${PATH}`
  })
  afterAll(() => {
    process.env['PATH'] = saved
  })

  test.each([
    [['docker', 'exec', '-i', 'box'], false],
    [['docker', 'exec', '--interactive', '-w', '/', '-u', 'me', 'box'], false],
    [['podman', 'exec', '-i', 'box'], false],
    [['kubectl', 'exec', '-i', 'pod', '--'], false],
    [['kubectl', 'exec', 'pod', '-c', 'main', '-i', '--'], false],
    [['wsl', '-d', 'Debian', '--exec'], false],
    [['wsl', '--'], true],
  ])('%j: words, variables and folder arrive, and the end of input and its status', async (prefix, shell) => {
    const executor = await place({ prefix, shell })
    const TOKEN = `it's $(secret) "${prefix[0]}"`
    const far = await start(executor, { args: ODD, env: { TOKEN }, cwd: folder })
    const next = reader(far)
    const { args, env, cwd, pid } = JSON.parse(await next())
    expect([args, env.TOKEN, cwd, env.HOME]).toEqual([ODD, TOKEN, folder, '/far-home'])
    await far.endStdin()
    expect([await next(), (await far.exited).code, alive(pid)]).toEqual(['end of input', 0, false])
    expect((await (await start(executor, { args: ['quits'] })).exited).code).toBe(5)
  })

  test('a variable that a prefix takes over by its name comes from here, and its value is no argument', async () => {
    process.env['FROM_HERE'] = `value-${process.pid}`
    try {
      const executor = await place({ prefix: ['docker', 'exec', '-i', '-e', 'FROM_HERE', 'box'], envVars: ['FROM_HERE'] })
      const { env, pid } = await hello(await start(executor))
      expect(env.FROM_HERE).toBe(process.env['FROM_HERE'])
      const holders = readdirSync('/proc').filter((one) => {
        try {
          return /^\d+$/.test(one) && readFileSync(`/proc/${one}/cmdline`, 'latin1').includes(env.FROM_HERE)
        } catch {
          return false
        }
      })
      expect([holders, alive(pid)]).toEqual([[], true])
    } finally {
      delete process.env['FROM_HERE']
    }
  })

  test.each([
    [['docker', 'exec', 'box'], /the prefix carries no stdin/],
    [['docker', 'exec', '-it', 'box'], /the input device is not a TTY/],
    [['docker', 'exec', '-i', 'other'], /No such container: other/],
    [['kubectl', 'exec', '-i', 'pod'], /Use exec \[POD\] -- \[COMMAND\] instead/],
    // its shell takes the words apart
    [['wsl', '--'], /syntax error/i],
  ])('%j is told apart with its words', async (prefix, words) => {
    expect(await failure(start(await place({ prefix })))).toMatchObject({
      code: 'ENVIRONMENT_UNAVAILABLE',
      message: expect.stringMatching(words),
    })
  })
})

test('no value of a variable is in any list of arguments, and none in the environment of the bridge', async () => {
  const TOKEN = `secret-${process.pid}-${Math.random()}`
  const far = await start(await place(DAEMON), { env: { TOKEN } })
  const { pid } = await hello(far)
  const holders: string[] = []
  for (const one of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const file of ['cmdline', 'environ']) {
      try {
        if (readFileSync(`/proc/${one}/${file}`, 'latin1').includes(TOKEN)) holders.push(`${one === String(pid) ? 'server' : one} ${file}`)
      } catch {
        // it has ended, or is not ours to read
      }
    }
  }
  expect(holders).toEqual(['server environ'])
})

test('with bash as sh and no setsid there is a group all the same', async () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const [name, target] of [
    ['sh', '/bin/bash'],
    ['cat', '/bin/cat'],
    ['sleep', '/bin/sleep'],
    ['env', '/usr/bin/env'],
  ] as const)
    symlinkSync(target, join(bin, name))
  const executor = await place({ prefix: [join(bin, 'env'), '-i', `PATH=${bin}`] })
  const parent = await start(executor, { args: ['kid', ...ODD] })
  const { pid, kid, args } = await hello(parent)
  expect(args.slice(1)).toEqual(ODD)
  await parent.endStdin()
  await parent.exited
  await until(() => !alive(pid) && !alive(kid), 'the group has ended')
})

test('what cannot be started says why, in the words of the far side', async () => {
  const said = async (far: StdioProcess): Promise<[string, number | null]> => {
    let text = ''
    for await (const chunk of far.stderr) text += Buffer.from(chunk).toString()
    return [text.trim(), (await far.exited).code]
  }
  const executor = await place(DAEMON)
  expect(await said(await start(executor, { command: 'no-such "program', args: ['x'] }))).toEqual([
    'tapline: command no-such "program was not found',
    127,
  ])
  expect(await said(await start(executor, { cwd: "/no/such '$(folder)" }))).toEqual([
    expect.stringContaining("/no/such '$(folder) cannot be used as cwd"),
    126,
  ])
  expect(await failure(start(executor, { env: { 'a.b': 'x' } }))).toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.stringContaining('"a.b"'),
  })
})

test('a bridge that fails, is missing, or says other things is ENVIRONMENT_UNAVAILABLE with its words', async () => {
  const fails = (prefix: readonly string[]): Promise<TaplineError> => place({ prefix }).then((executor) => failure(start(executor)))
  expect(await fails(['sh', '-c', 'echo "no such container: box" >&2; exit 125'])).toMatchObject({
    code: 'ENVIRONMENT_UNAVAILABLE',
    message: 'environment far cannot be reached: sh ended with exit code 125 before the far side answered: no such container: box',
  })
  expect((await fails([join(folder, 'no-such-bridge')])).message).toContain('was not found')
  expect(await fails(['sh', '-c', 'yes'])).toMatchObject({
    code: 'ENVIRONMENT_UNAVAILABLE',
    message: expect.stringContaining('prints other things'),
  })
})

test('what a login shell prints first is left out', async () => {
  const executor = await place({ prefix: ['sh', '-c', 'echo "Welcome!"; printf "no line end "; exec "$@"', 'x'] })
  expect((await hello(await start(executor, { args: ['plain'] }))).args).toEqual(['plain'])
})

test('an abort while the bridge is being opened leaves nothing behind', async () => {
  const file = join(folder, 'pid')
  const executor = await place({ prefix: ['sh', '-c', `echo $$ >${file}; exec sleep 60`, 'x'] })
  const ended = new AbortController()
  const starting = failure(executor.startStdio({ command: 'x', args: [], cwd: '/', env: {}, label: 'x' }, { signal: ended.signal }))
  const pid = (): number => {
    try {
      return Number(readFileSync(file, 'utf8'))
    } catch {
      return 0
    }
  }
  await until(() => pid() > 0, 'the bridge runs')
  ended.abort()
  await starting
  expect(alive(pid())).toBe(false)
})

test('files and folders are read through the bridge', async () => {
  const at = join(folder, "files 'and' ü")
  mkdirSync(join(at, '.hidden'), { recursive: true })
  const content = Buffer.from([0, 255, 10, 13, 39, 128])
  writeFileSync(join(at, '-odd\nname'), content)
  symlinkSync('nowhere', join(at, 'dangling'))
  const executor = await place(DAEMON)
  expect(Buffer.from((await executor.readFile?.(join(at, '-odd\nname'), { signal })) as Uint8Array)).toEqual(content)
  const entries = await executor.listDirectory?.(at, { signal })
  expect([...(entries ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: '-odd\nname', kind: 'file' },
    { name: '.hidden', kind: 'directory' },
    { name: 'dangling', kind: 'other' },
  ])
  expect(await failure(executor.readFile?.(join(at, 'none'), { signal }) as Promise<unknown>)).toMatchObject({
    code: 'ENVIRONMENT_FILE_FAILED',
  })
  expect(await failure(executor.listDirectory?.('/no/such', { signal }) as Promise<unknown>)).toMatchObject({
    code: 'ENVIRONMENT_FILE_FAILED',
  })
})

test.each([
  [{}, 'prefix'],
  [{ prefix: [] }, 'prefix'],
  [{ prefix: ['x', 1] }, 'prefix'],
  [{ prefix: ['x'], shell: 'yes' }, 'shell'],
  [{ prefix: ['x'], envVars: 'A' }, 'envVars'],
  [{ prefix: ['x'], host: 'y' }, 'host'],
])('options %j are refused', async (options, word) => {
  const { readCommandOptions } = await import('../../../src/connections/executors/command/options.ts')
  expect(() => readCommandOptions(options as JsonObject)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(word) }),
  )
})

test('an MCP server behind a bridge: started, called, ended and started again through the pool', async () => {
  const environment = new Environment({
    id: 'far',
    executor: { kind: 'command', options: DAEMON },
    cwd: '/',
    extraRoots: [],
    permissions: null,
    approvalPolicy: 'on-request',
    codexExecutable: null,
    where: 'host',
  })
  const pool = hostPool({ more: [commandExecutor] })
  try {
    const { connection } = lease(pool, 'plain', { on: environment, env: { NAMED: 'x y' }, launch: { cwd: '/' } })
    await connection.ready()
    const call = (name: string): Promise<JsonObject> => connection.request('tools/call', { name, arguments: {} }, { idleTimeoutMs: 10_000 })
    expect(JSON.stringify(await call('env'))).toContain('x y')
    expect(await failure(call('crash'))).toMatchObject({ code: 'SERVER_EXITED', data: { exitCode: 7 } })
    await connection.ready()
    expect(connection.info?.pid).toBe(null)
    // what cannot be carried there is refused, never asked from here
    expect(await failure(httpConnection(pool, 'http://127.0.0.1:9/mcp', { on: environment }).ready())).toMatchObject({
      code: 'ENVIRONMENT_UNSUPPORTED',
    })
  } finally {
    await pool.close()
  }
})
