/** What a command hook costs a call, beside the process that it is. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { commandHooks } from '../src/plugins/builtin/index.ts'
import type { LiveSession } from '../src/runtime/live-session.ts'
import { instantSession, servers } from './instant-session.ts'
import { measure, times, type Variant } from './measure.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(60, 10)
const folder = mkdtempSync(path.join(tmpdir(), 'tapline-bench-hooks-'))
const catalog = servers(1, 1)
const request = { name: 'mcp__server_0__tool_0', arguments: { text: 'hello' } }

async function calls(session: LiveSession): Promise<void> {
  for (let i = 0; i < CALLS; i++) {
    const outcome = await session.callTool(request)
    if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  }
}

/** A session whose calls go through so many hooks of this command. */
async function hooked(count: number, matcher: string): Promise<LiveSession> {
  const hook = { matcher, hooks: [{ type: 'command', command: ':' }] }
  return instantSession(catalog, [await commandHooks({ cwd: folder, hooks: { PreToolUse: Array.from({ length: count }, () => hook) } })])
}

/** The same process by hand: started, fed, read to its end. */
function bare(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['--norc', '-c', ':'], { cwd: folder, stdio: 'pipe', detached: true })
    child.on('error', reject).on('close', () => resolve())
    child.stdout.resume()
    child.stderr.resume()
    child.stdin.on('error', () => {})
    child.stdin.end('{}\n')
  })
}

tell('command hooks')
const none = instantSession(catalog)
const idle = await hooked(1, 'another')
const single = await hooked(1, '')
const five = await hooked(5, '')
const work = 'command hooks'
const session =
  (one: LiveSession): Variant['run'] =>
  () =>
    calls(one).then(() => ({ operations: CALLS }))
const alone = 'its process alone'
const measured = await measure(
  [
    {
      name: alone,
      run: async () => {
        for (let i = 0; i < CALLS; i++) await bare()
        return { operations: CALLS }
      },
    },
    { name: 'no hook', run: session(none) },
    { name: '1 hook that does not fit', run: session(idle) },
    { name: '1 hook', run: session(single) },
    { name: '5 hooks', run: session(five) },
  ],
  { rounds: times(9, 2) },
)
const floor = measured.get(alone)!.wall
for (const [name, { wall }] of measured) row({ work, variant: name, unit: 'µs/call', rounds: wall, floor })
rmSync(folder, { recursive: true, force: true })
report()
