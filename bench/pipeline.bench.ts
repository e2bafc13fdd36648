/** A call without I/O: what the pipeline and its taps cost. */
import type { HookPlugin } from '../src/hooks/plugin.ts'
import type { LiveSession } from '../src/runtime/live-session.ts'
import { instantConnection, instantSession, servers } from './instant-session.ts'
import { measure, median, times, type Variant } from './measure.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(20_000, 2_000)
const SAMPLE = 200

/** `count` taps on each of the four hooks that a call waits for. `dispatch` takes asynchronous ones only. */
function plugin(count: number, kind: 'sync' | 'async'): HookPlugin {
  return {
    name: `${kind}_${count}`,
    apply: ({ hooks }) => {
      for (let i = 0; i < count; i++) {
        const name = `tap_${i}`
        if (kind === 'sync') {
          hooks.resolve.tap(name, () => {})
          hooks.approve.tap(name, () => {})
          hooks.attachMetadata.tap(name, () => {})
        } else {
          hooks.resolve.tapPromise(name, async () => {})
          hooks.approve.tapPromise(name, async () => {})
          hooks.attachMetadata.tapPromise(name, async () => {})
        }
        hooks.dispatch.tapPromise(name, (_call, next) => next())
      }
    },
  }
}

const one = servers(1, 1)
const request = { name: 'mcp__server_0__tool_0', arguments: { text: 'hello' } }

async function calls(session: LiveSession, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const outcome = await session.callTool(request)
    if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  }
}

/** Bytes of heap that a call takes: the median over short samples, of which few have a collection in them. */
async function bytes(run: (count: number) => Promise<void>): Promise<number> {
  const samples: number[] = []
  for (let i = 0; i < times(200, 20); i++) {
    const before = process.memoryUsage().heapUsed
    await run(SAMPLE)
    const used = process.memoryUsage().heapUsed - before
    if (used > 0) samples.push(used / SAMPLE)
  }
  return median(samples)
}

type Run = (count: number) => Promise<void>

const connection = instantConnection(one)
const direct: Run = async (count) => {
  for (let i = 0; i < count; i++) await connection.request('tools/call', request, { idleTimeoutMs: 1000 })
}
const callsOf = (session: LiveSession): Run => {
  return (count) => calls(session, count)
}
const MUSTS: Readonly<Record<string, number>> = { 'no tap, one session': 1, '4 hooks x 4 async': 6 }

async function measured(runs: ReadonlyMap<string, Run>): Promise<void> {
  const variants = [...runs].map(([name, run]): Variant => ({ name, run: () => run(CALLS).then(() => ({ operations: CALLS })) }))
  for (const [name, { wall }] of await measure(variants, { rounds: times(15, 2), warmUp: times(3, 1) })) {
    const limit = MUSTS[name]
    row({
      work: 'pipeline, no I/O',
      variant: name,
      unit: 'µs/call',
      rounds: wall,
      ...(limit !== undefined && { must: { text: `<= ${limit} µs`, met: Math.min(...wall) <= limit } }),
    })
  }
}

tell('pipeline without I/O')
// first: what a host without plugins runs. Beside sessions of all kinds the same call is compiled for all of them
await measured(new Map([['no tap, one session', callsOf(instantSession(one))]]))

const runs = new Map([
  ['connection alone', direct],
  ['no tap', callsOf(instantSession(one))],
])
/** Five plugins with a tap on every hook, as a harness with guards, redaction and an audit log has them. */
const five = ['a', 'b', 'c', 'd', 'e'].map((name): HookPlugin => ({ name, apply: (ports) => plugin(1, 'async').apply(ports) }))
for (const mode of ['enforce', 'shadow'] as const) {
  const session = instantSession(one, five, mode)
  runs.set(`5 plugins on every hook, ${mode}`, callsOf(session))
}
for (const kind of ['sync', 'async'] as const) {
  for (const taps of [1, 4, 16]) {
    const session = instantSession(one, [plugin(taps, kind)])
    runs.set(`4 hooks x ${taps} ${kind}`, callsOf(session))
  }
}

await measured(runs)
for (const [name, run] of runs) row({ work: 'pipeline, heap', variant: name, unit: 'bytes/call', rounds: [await bytes(run)] })
report()
