/** However a host ends while every server of servers.json is running or starting, none of their processes is left. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Case, until } from '../cases/driver.ts'
import { REAL_SERVERS, realServer } from './installed.ts'

const HOST = fileURLToPath(new URL('host.mjs', import.meta.url))
const ALL = { timeout: 240_000 } as const
/** processes that all of them have at least: one each but for the five that fail */
const MOST = REAL_SERVERS.length - 5

function everyServer(): Case {
  const at = new Case(undefined, 20_000)
  at.write('tapline.json', { mcpServers: Object.fromEntries(REAL_SERVERS.map(({ name }) => [name, realServer(name, at.dir, at.servers)])) })
  return at
}

interface Host {
  readonly pid: number
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>
  /** resolves when it has said so */
  said(word: string): Promise<void>
}

/** A host of the library that opens a session, lists the tools, and then waits or does what `how` says. */
function host(at: Case, how: string): Host {
  const child = spawn(process.execPath, [HOST, how, at.path('tapline.json')], {
    cwd: at.dir,
    env: at.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let words = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (words += text))
  const ended = new Promise<{ status: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.on('exit', (status, signal) => resolve({ status, signal })),
  )
  return { pid: child.pid!, ended, said: (word) => until(() => words.includes(word), 180_000) }
}

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('%s', ALL, async (signal) => {
  await using at = everyServer()
  const { pid, ended, said } = host(at, 'wait')
  await said('connected')
  expect(at.left().length).toBeGreaterThan(MOST)
  process.kill(pid, signal)
  expect(await ended).toEqual({ status: null, signal })
  await until(() => at.left().length === 0, 20_000)
})

test('an exception that nobody caught', ALL, async () => {
  await using at = everyServer()
  const { ended, said } = host(at, 'throw')
  await said('connected')
  expect((await ended).status).toBe(1)
  await until(() => at.left().length === 0, 20_000)
})

test('close while they are starting: all are gone when it returns, and the host goes on', ALL, async () => {
  await using at = everyServer()
  const { pid, ended, said } = host(at, 'close')
  await said('closed')
  // the host itself carries the mark too
  expect(at.left().filter((one) => one.pid !== pid)).toEqual([])
  process.kill(pid, 'SIGTERM')
  await ended
})

test('Ctrl-C at the command line while they are starting', ALL, async () => {
  await using at = everyServer()
  const command = at.start(['tools'])
  await until(() => at.left().length > 5)
  command.kill('SIGINT')
  expect((await command.done).status).toBe(130)
  await until(() => at.left().length === 0, 20_000)
})
