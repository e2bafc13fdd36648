/** Servers that do not want to end, with what they started, and commands that are ended in every way. */
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { Case, end, isAlive, said, server, SLOW, text, until } from './driver.ts'

const one = (mode: string, more: object = {}): object => ({ mcpServers: { s: server('stubborn.mjs', [mode], more) } })
const call = (tool: string): string[] => ['call', '--server', 's', tool]
const kids = (at: Case): number[] => at.ledger({ ev: 'kid' }).map(({ kid }) => kid)

/** Starts a call that never ends, and waits until it runs. */
async function hanging(at: Case): Promise<ReturnType<Case['start']>> {
  const command = at.start(call('hang'))
  await until(() => at.calls().length === 1)
  return command
}

test('the driver itself: a process that is left fails the test', SLOW, async () => {
  const at = new Case(undefined, 300)
  const left = spawn('sleep', ['60'], { env: at.env, detached: true, stdio: 'ignore' })
  await until(() => at.left().length === 1)
  await expect(at[Symbol.asyncDispose]()).rejects.toThrow(`left behind: ${left.pid} sleep 60`)
  await until(() => !isAlive(left.pid as number))
})

test('a daemon that forked twice is not waited for', SLOW, async () => {
  await using at = new Case(one('double-fork'))
  const out = await at.run(call('pid'))
  expect(end(out)).toEqual([0, 'completed', 'yes'])
  expect(out.ms).toBeLessThan(15_000)
  await until(() => kids(at).length === 1)
  // nothing connects it with the server any more; who starts daemons ends them
  const [kid] = kids(at)
  if (kid !== undefined && isAlive(kid)) process.kill(kid, 'SIGKILL')
})

test('one second for the last words after SIGTERM', SLOW, async () => {
  await using at = new Case(one('slow-goodbye'))
  expect(end(await at.run(call('pid')))).toEqual([0, 'completed', 'yes'])
  expect(
    at
      .ledger()
      .map(({ ev }) => ev)
      .filter((ev) => ev !== 'in'),
  ).toEqual(['start', 'eof', 'sigterm', 'saved'])
})

test('a server that hears only SIGINT, and one that starts its child again: ended all the same', SLOW, async () => {
  for (const mode of ['only-sigint', 'respawns']) {
    await using at = new Case(one(mode))
    const out = await at.run(call('pid'))
    expect([mode, ...end(out)]).toEqual([mode, 0, 'completed', 'yes'])
    expect(out.ms).toBeLessThan(15_000)
    await until(() => at.left().length === 0)
    for (const kid of kids(at)) expect(isAlive(kid)).toBe(false)
  }
})

test('a shell that passes no signal on, and twenty children, half of them in sessions of their own', SLOW, async () => {
  for (const mode of ['shell', 'many']) {
    await using at = new Case(one(mode))
    expect(end(await at.run(call('pid')))).toEqual([0, 'completed', 'yes'])
    await until(() => at.left().length === 0)
    expect(kids(at).length).toBe(mode === 'many' ? 20 : 1)
    for (const kid of kids(at)) expect(isAlive(kid)).toBe(false)
  }
})

test('a server that closes its stdout during a call: the call ends by its limit or at once, and so does the server', SLOW, async () => {
  await using at = new Case(one('mute', { toolTimeoutSec: 3 }))
  const out = await at.run(call('mute'))
  expect(out.status).toBe(4)
  expect(['server_failed', 'timed_out']).toContain(out.json.outcome)
  expect(out.json.sent).not.toBe('no')
  expect(out.ms).toBeLessThan(20_000)
  await until(() => at.left().length === 0)
})

test.each([
  ['SIGHUP', 129],
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s to the host: exit status %i, a document of a cancelled call, nothing left', SLOW, async (signal, status) => {
  await using at = new Case(one('shell'))
  const command = await hanging(at)
  command.kill(signal)
  const out = await command.done
  expect(out.status).toBe(status)
  expect(out.json.outcome).toBe('cancelled')
  await until(() => at.left().length === 0, 12_000)
})

test('two Ctrl-C: the command ends at once, and what it started is ended after it', SLOW, async () => {
  await using at = new Case(one('only-sigint'))
  const command = await hanging(at)
  command.kill('SIGINT')
  await new Promise((resolve) => setTimeout(resolve, 200))
  command.kill('SIGINT')
  const out = await command.done
  expect(out.status).toBe(130)
  await until(() => at.left().length === 0, 12_000)
})

test('Ctrl-C while servers start, one of which never will', SLOW, async () => {
  await using at = new Case({
    mcpServers: { s: server('stubborn.mjs', ['shell']), hangs: server('starts.mjs', ['child-hangs'], { startupTimeoutSec: 25 }) },
  })
  const command = at.start(['tools'])
  await until(() => at.ledger({ ev: 'start' }).length === 2)
  command.kill('SIGINT')
  const out = await command.done
  expect([out.status, out.ms < 20_000]).toEqual([130, true])
  await until(() => at.left().length === 0, 12_000)
})

test('a crash of the host in the middle of a call (SIGKILL)', SLOW, async () => {
  for (const mode of ['many', 'respawns']) {
    await using at = new Case(one(mode))
    const command = await hanging(at)
    command.kill('SIGKILL')
    expect((await command.done).signal).toBe('SIGKILL')
    await until(() => at.left().length === 0, 12_000)
  }
})

test('a reader that goes away (`tapline … | head`) ends the command without a stack, and leaves nothing', SLOW, async () => {
  await using at = new Case(one('polite'))
  const command = at.start(call('pid'))
  command.closeStdout()
  const out = await command.done
  expect(out.stderr).not.toMatch(/EPIPE|\n\s+at /)
  await until(() => at.left().length === 0)
  expect(text(await at.run(call('pid')))).toMatch(/^\d+$/)
  expect(said(out)).not.toContain('bug in tapline')
})
