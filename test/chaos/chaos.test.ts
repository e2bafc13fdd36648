/** 40 servers that crash, hang, flood, send half frames, change their tools and go away; 5 sessions; 5,000 calls. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Case, until } from '../cases/driver.ts'

const HOST = fileURLToPath(new URL('host.mjs', import.meta.url))
const CALLS = 5000

interface Call {
  readonly call: string
  readonly kind: string
  readonly outcome: string
  readonly sent: 'no' | 'yes' | 'unknown'
  /** what a completed call was answered */
  readonly text: string | null
}
interface Report {
  readonly calls: readonly Call[]
  /** bytes after a collection, after each fifth of the calls */
  readonly heap: readonly number[]
  /** of each call, how often its end was told */
  readonly ends: readonly number[]
  /** ids whose end was told */
  readonly told: number
}

async function runHost(at: Case, folder: string): Promise<Report> {
  const child = spawn(process.execPath, ['--expose-gc', HOST, folder], { cwd: at.dir, env: at.env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const status = await new Promise((resolve) => child.on('close', resolve))
  expect(status).toBe(0)
  return JSON.parse(text) as Report
}

/** Ids of the calls that reached the servers, as often as they did. */
function delivered(folder: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const file of readdirSync(folder))
    for (const call of readFileSync(`${folder}/${file}`, 'utf8').split('\n').filter(Boolean)) counts.set(call, (counts.get(call) ?? 0) + 1)
  return counts
}

test('every call ends once, none is delivered twice, quiet servers answer all, memory is flat, nothing is left', {
  timeout: 300_000,
}, async () => {
  await using at = new Case()
  const folder = at.path('ledgers')
  mkdirSync(folder)
  const { calls, heap, ends, told } = await runHost(at, folder)
  expect([calls.length, new Set(calls.map(({ call }) => call)).size, told]).toEqual([CALLS, CALLS, CALLS])
  expect(ends.filter((count) => count !== 1)).toEqual([])

  const counts = delivered(folder)
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([])
  // the ledger and `sent` agree
  const of = (sent: Call['sent']): readonly Call[] => calls.filter((call) => call.sent === sent)
  expect(of('no').filter(({ call }) => counts.has(call))).toEqual([])
  const completed = calls.filter(({ outcome }) => outcome === 'completed')
  expect(completed.filter(({ call, text, sent }) => text !== call || sent !== 'yes' || !counts.has(call))).toEqual([])

  expect(calls.filter(({ kind, outcome }) => kind === 'quiet' && outcome !== 'completed')).toEqual([])
  // the others did misbehave, and nothing but that ended their calls
  const ended = (kind: string): ReadonlySet<string> => new Set(calls.filter((call) => call.kind === kind).map(({ outcome }) => outcome))
  expect(ended('crashes')).toContain('server_failed')
  expect(ended('partial')).toContain('server_failed')
  expect(ended('hangs')).toContain('timed_out')
  const allowed = new Set(['completed', 'cancelled', 'server_failed', 'timed_out', 'invalid_request'])
  expect(calls.filter(({ outcome }) => !allowed.has(outcome))).toEqual([])
  for (const kind of ['crashes', 'hangs', 'floods', 'partial', 'changes', 'leaves']) {
    const own = calls.filter((call) => call.kind === kind)
    expect(own.filter(({ outcome }) => outcome === 'completed').length / own.length, kind).toBeGreaterThan(0.5)
  }

  const [, , middle, , last] = heap as [number, number, number, number, number]
  expect(last).toBeLessThan(middle * 1.25 + 2_000_000)
  await until(() => at.left().length === 0)
})
