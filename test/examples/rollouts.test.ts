/** The guide to roll-outs, word for word: its files, its calls, and the report that it prints. */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

const ROOT = path.join(import.meta.dirname, '..', '..')
/** Inside of the repository, so that `tapline` means the package that was built here. */
const FOLDER = path.join(ROOT, '.cache', `rollouts-${process.pid}`)

afterAll(() => fs.rmSync(FOLDER, { recursive: true, force: true }))

/** Exit status and stdout of a command in the folder of the example. */
async function tapline(...args: readonly string[]): Promise<{ status: number; stdout: string }> {
  const env = { PATH: process.env['PATH'], HOME: FOLDER, XDG_STATE_HOME: path.join(FOLDER, 'state') }
  const command = [path.join(ROOT, 'dist', 'cli', 'main.js'), ...args]
  return promisify(execFile)(process.execPath, command, { cwd: path.join(FOLDER, 'rollout'), env, timeout: 25_000 }).then(
    ({ stdout }) => ({ status: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ status: code, stdout }),
  )
}

/** What differs from run to run. */
const plain = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'SESSION')
    .replace(/[\d.]+ m?s\b/g, 'T')
    .replace(/ +/g, ' ')

test('a guard in shadow, its report, the guard in force, and off', { timeout: 60_000 }, async () => {
  fs.cpSync(path.join(ROOT, 'examples', 'rollout'), path.join(FOLDER, 'rollout'), { recursive: true })
  for (const file of ['read-only.mjs', 'notes-server.mjs']) fs.copyFileSync(path.join(ROOT, 'examples', file), path.join(FOLDER, file))
  const call = (tool: string, args: string, ...more: readonly string[]): ReturnType<typeof tapline> =>
    tapline('--config', 'guard.json', '--quiet', '--targeting-key', 'ada', ...more, 'call', '--server', 'notes', tool, args)
  expect(await call('add', '{"text":"buy milk"}')).toEqual({ status: 0, stdout: 'note 1: buy milk\n' })
  expect((await call('list', '{}')).status).toBe(0)
  const guide = fs.readFileSync(path.join(ROOT, 'docs', 'guides', 'rollouts.md'), 'utf8')
  const printed = /^```text\n([^]*?)^```$/m.exec(guide)?.[1] ?? ''
  expect(plain((await tapline('rollout', 'report', 'traces.jsonl')).stdout)).toBe(plain(printed))

  const flags = path.join(FOLDER, 'rollout', 'guard-flags.json')
  const set = (variant: string): void =>
    fs.writeFileSync(flags, fs.readFileSync(flags, 'utf8').replace(/("defaultVariant": )"\w+"/, `$1"${variant}"`))
  set('enforce')
  expect((await call('add', '{"text":"buy milk"}')).status).toBe(3)
  set('off')
  expect((await call('add', '{"text":"buy milk"}')).status).toBe(0)
  // nobody can say any more
  fs.writeFileSync(flags, '{')
  expect((await call('add', '{"text":"buy milk"}')).status).toBe(3)
})
