/** Servers that answer initialize wrongly, half, to nobody or never, and commands that are none. */
import { chmodSync, mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Case, end, isAlive, said, server, SLOW } from './driver.ts'

const all = (modes: readonly string[], more: object = {}): { mcpServers: Record<string, any> } => ({
  mcpServers: Object.fromEntries(['ok', ...modes].map((mode) => [mode, server('starts.mjs', [mode], mode === 'ok' ? {} : more)])),
})
const errorOf = (json: any, name: string): any => json.errors.find((entry: any) => JSON.stringify(entry).includes(`"${name}"`))

test('initialize answered with a word, a list, null, a number: an error of its own at once, not at the limit', SLOW, async () => {
  const modes = ['word', 'list', 'null', 'number', 'true', 'empty', 'nested'].map((kind) => `garbage-${kind}`)
  await using at = new Case(all(modes, { startupTimeoutSec: 25 }))
  const out = await at.run(['tools'])
  expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['ok'])
  for (const mode of modes)
    expect([mode, JSON.stringify(errorOf(out.json, mode))]).toEqual([mode, expect.stringMatching(/SERVER_PROTOCOL|SERVER_START_FAILED/)])
  expect(out.ms).toBeLessThan(20_000)
  expect(said(out)).not.toMatch(/ZodError|\n\s+at /)
})

test('an answer to another id is no answer; an id that comes back as text is one', SLOW, async () => {
  await using at = new Case(all(['wrong-id', 'text-id'], { startupTimeoutSec: 3 }))
  const { json } = await at.run(['tools'])
  expect(json.tools.map((row: any) => row.owner.name).sort()).toEqual(['ok', 'text-id'])
  expect(JSON.stringify(errorOf(json, 'wrong-id'))).toMatch(/SERVER_START_TIMED_OUT.*initialize/)
})

test('an end without a word, in the middle of a frame, after a while, by a signal: told at once, with what is known', SLOW, async () => {
  await using at = new Case(all(['quiet-exit', 'half-frame-exit', 'crashes-late', 'killed'], { startupTimeoutSec: 25 }))
  const out = await at.run(['tools'])
  expect(out.ms).toBeLessThan(20_000)
  expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['ok'])
  expect(errorOf(out.json, 'quiet-exit').message).toMatch(/\b0\b/)
  expect(errorOf(out.json, 'half-frame-exit').message).toMatch(/\b0\b/)
  expect(errorOf(out.json, 'crashes-late').message).toMatch(/\b9\b[^]*ECONNREFUSED/)
  expect(errorOf(out.json, 'killed').message).toContain('SIGKILL')
  for (const entry of out.json.errors) expect(entry.remedy ?? entry.error?.remedy).not.toBe('')
})

test(
  'half a frame, a question to a person, a flood on stderr, a shell that hangs: the limit of the server, and nothing is left',
  SLOW,
  async () => {
    const modes = ['half-frame', 'asks-a-person', 'noisy-stderr', 'child-hangs']
    await using at = new Case(all(modes, { startupTimeoutSec: 3 }))
    const out = await at.run(['tools'])
    expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['ok'])
    for (const mode of modes)
      expect([mode, JSON.stringify(errorOf(out.json, mode))]).toEqual([mode, expect.stringMatching(/SERVER_START_TIMED_OUT.*initialize/)])
    expect(errorOf(out.json, 'asks-a-person').message).toContain('Need to install the following packages')
    expect(errorOf(out.json, 'noisy-stderr').message).toContain('waiting for the database')
    expect(out.stdout.length).toBeLessThan(50_000)
    expect(out.ms).toBeLessThan(20_000)
    expect(isAlive(at.ledger({ who: 'child-hangs' })[0]?.['kid'])).toBe(false)
  },
)

test(
  'commands that are none: missing, not executable, a folder, a script without an interpreter, a folder to run in that is not there',
  SLOW,
  async () => {
    await using at = new Case()
    at.write('plain.txt', 'no program\n')
    chmodSync(at.write('broken.sh', '#!/no/such/interpreter\n'), 0o755)
    mkdirSync(at.path('folder'))
    at.write('tapline.json', {
      mcpServers: {
        missing: { command: 'no-such-command-of-ours' },
        absent: { command: './absent.sh' },
        plain: { command: './plain.txt' },
        folder: { command: './folder' },
        broken: { command: './broken.sh' },
        nowhere: server('starts.mjs', ['ok'], { cwd: './not-there' }),
        ok: server('starts.mjs', ['ok']),
      },
    })
    const out = await at.run(['tools'])
    expect(out.status).toBe(0)
    expect(out.json.tools.map((row: any) => row.owner.name)).toEqual(['ok'])
    expect(out.json.errors).toHaveLength(6)
    expect(errorOf(out.json, 'missing').message).toContain('no-such-command-of-ours')
    expect(errorOf(out.json, 'nowhere').message).toContain('not-there')
    expect(said(out)).not.toMatch(/\n\s+at /)
    expect(end(await at.run(['call', '--server', 'plain', 'fast']))).toEqual([4, 'server_failed', 'no'])
  },
)
