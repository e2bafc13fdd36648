/** Servers behind a real sshd on loopback, with a configuration, keys and a port of its own. Debian: openssh-server. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sshExecutor } from '../../src/connections/executors/command/ssh.ts'
import type { TaplineError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/json.ts'
import { Environment } from '../../src/servers/environment.ts'
import { alive, hostPool, lease, until } from '../connections/fixtures/pool.ts'

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((file) => existsSync(file))
const SERVER = fileURLToPath(new URL('../connections/executors/fixtures/echo.mjs', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tapline-ssh-')))
const configFile = join(folder, 'ssh_config')
let port = 0
let daemon: ReturnType<typeof spawn> | null = null

beforeAll(async () => {
  if (SSHD === undefined) return
  for (const name of ['host', 'client', 'stranger']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
  // where sshd leaves its privileges; it wants the folder to be there
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'client.pub')), { mode: 0o600 })
  port = await freePort()
  writeFileSync(
    join(folder, 'sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'authorized')}`,
      `PidFile ${join(folder, 'pid')}`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'UsePAM no',
      'StrictModes no',
      'PermitRootLogin prohibit-password',
      // bash reads the user's .bashrc for ssh, unless it finds itself below another shell: what is in there is no part of this test
      'SetEnv SHLVL=2',
      '',
    ].join('\n'),
  )
  writeFileSync(join(folder, 'known'), `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`)
  writeConfig('client')
  daemon = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  await new Promise<void>((resolve, reject) => {
    let said = ''
    daemon?.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('Server listening')) resolve()
    })
    daemon?.once('exit', () => reject(new Error(`sshd ended: ${said}`)))
  })
})
afterAll(async () => {
  if (daemon?.exitCode === null) {
    const gone = new Promise((resolve) => daemon?.once('exit', resolve))
    daemon.kill()
    await gone
  }
  rmSync(folder, { recursive: true, force: true })
})

function writeConfig(key: string): void {
  writeFileSync(
    configFile,
    `Host *\n  IdentityFile ${join(folder, key)}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${join(folder, 'known')}\n  StrictHostKeyChecking yes\n`,
  )
}
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address() as net.AddressInfo
      server.close(() => resolve(free))
    })
  })
}
function place(options: JsonObject = {}): Environment {
  return new Environment({
    id: 'far',
    executor: { kind: 'ssh', options: { host: '127.0.0.1', port, user: userInfo().username, configFile, ...options } },
    cwd: '/',
    extraRoots: [],
    permissions: null,
    approvalPolicy: 'on-request',
    codexExecutable: null,
    where: 'host',
  })
}
const failure = (promise: Promise<unknown>): Promise<TaplineError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as TaplineError,
  )

test('sshd is installed where these tests must run', () => {
  // on a developer's machine without it the tests below are skipped; apt-get install openssh-server has it
  expect(process.env['TAPLINE_CI'] === undefined || SSHD !== undefined).toBe(true)
})

describe.skipIf(SSHD === undefined)('over ssh', () => {
  test('a server starts with its arguments and variables as they are, answers, and is gone with the pool; no value is in any argument list', async () => {
    const pool = hostPool({ more: [sshExecutor] })
    const TOKEN = `secret ' " $(id) \\ ü\n${Math.random()}`
    const odd = ['a b', "it's", '"q"', '$(id)', '`id`', '*', '', 'two\nlines', 'ü-環境-😀', '\\', '!x']
    const launch = { command: process.execPath, args: [SERVER, ...odd], cwd: '/', env: { TOKEN } }
    const { connection } = lease(pool, 'plain', { on: place(), launch, policy: { startupTimeoutMs: 30_000 } })
    await connection.ready()
    const call = async (name: string, args: JsonObject = {}): Promise<any> => {
      const result: any = await connection.request('tools/call', { name, arguments: args }, { idleTimeoutMs: 30_000 })
      return result.content[0].text
    }
    const info = JSON.parse(await call('info'))
    expect(info.env.TOKEN).toBe(TOKEN)
    expect(info.args).toEqual(odd)
    expect(await call('big', { bytes: 2_000_000 })).toHaveLength(2_000_000)
    const listed = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(TOKEN.slice(0, 20))
        } catch {
          return false
        }
      })
    expect(listed).toEqual([])
    await pool.close()
    await until(() => !alive(info.pid), 'the server has ended', 20_000)
    expect(alive(info.pid)).toBe(false)
  })

  test('a client that is killed takes its server along', async () => {
    const pool = hostPool({ more: [sshExecutor] })
    const { connection } = lease(pool, 'plain', {
      on: place(),
      launch: { command: process.execPath, args: [SERVER], cwd: '/' },
      policy: { startupTimeoutMs: 30_000 },
    })
    await connection.ready()
    const result: any = await connection.request('tools/call', { name: 'info', arguments: {} }, { idleTimeoutMs: 30_000 })
    const { pid } = JSON.parse(result.content[0].text)
    for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
      try {
        if (
          readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith('ssh\0') &&
          readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(configFile)
        )
          process.kill(Number(name), 'SIGKILL')
      } catch {
        // gone already
      }
    }
    await until(() => connection.state === 'failed', 'the end is seen', 20_000)
    await until(() => !alive(pid), 'the server has ended', 20_000)
    expect(alive(pid)).toBe(false)
    await pool.close()
  })

  test('a key that is not let in, a host that is not known, and nobody at the port: ENVIRONMENT_UNAVAILABLE in the words of ssh, and no question', async () => {
    const pool = hostPool({ more: [sshExecutor] })
    const start = (name: string, environment: Environment): Promise<TaplineError> =>
      failure(lease(pool, 'plain', { name, on: environment, policy: { startupTimeoutMs: 30_000 } }).connection.ready())
    writeConfig('stranger')
    expect(await start('stranger', place())).toMatchObject({
      code: 'ENVIRONMENT_UNAVAILABLE',
      message: expect.stringContaining('Permission denied'),
    })
    writeConfig('client')
    expect(await start('nobody', place({ port: await freePort() }))).toMatchObject({
      code: 'ENVIRONMENT_UNAVAILABLE',
      message: expect.stringContaining('refused'),
    })
    expect(await start('unknown', place({ host: 'localhost' }))).toMatchObject({
      code: 'ENVIRONMENT_UNAVAILABLE',
      message: expect.stringMatching(/Host key verification failed|refused/),
    })
    await pool.close()
  })
})
