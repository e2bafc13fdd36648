/** What a trace costs a call of a stdio server: none, in the outcome, to a function, to a file. */
import { join } from 'node:path'
import { openRuntime } from '../src/index.ts'
import type { HookPlugin, Session, TraceOption } from '../src/index.ts'
import { measure, median, times, type Variant } from './measure.ts'
import { PLAIN_SERVER, tempFolder } from './places.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(2000, 200)
const TAPS = 4

/** Taps on every hook that a call waits for, so that there is something to write down. */
const plugin: HookPlugin = {
  name: 'taps',
  apply: ({ hooks }) => {
    for (let i = 0; i < TAPS; i++) {
      hooks.resolve.tapPromise(`r${i}`, async () => {})
      hooks.approve.tapPromise(`a${i}`, async () => {})
      hooks.attachMetadata.tapPromise(`m${i}`, async () => {})
      hooks.dispatch.tapPromise(`d${i}`, (_call, next) => next())
    }
  },
}

const folder = tempFolder()
const TRACES: Readonly<Record<string, TraceOption>> = {
  'no trace': false,
  'in the outcome': true,
  'to a function': { sink: () => {} },
  'to a file': { file: join(folder, 'traces.jsonl') },
}

tell('traces')
for (const [work, hooks] of [
  ['trace, no tap', []],
  [`trace, 4 hooks x ${TAPS} async`, [plugin]],
] as const) {
  const runtime = await openRuntime({ hooks, mcpServers: { plain: { command: process.execPath, args: [PLAIN_SERVER] } } })
  const sessions = new Map<string, Session>()
  for (const [name, trace] of Object.entries(TRACES)) sessions.set(name, await runtime.openSession({ trace }))
  const variants = [...sessions].map(
    ([name, session]): Variant => ({
      name,
      run: async () => {
        const took: number[] = []
        for (let i = 0; i < CALLS; i++) {
          const began = performance.now()
          const outcome = await session.callTool({ server: 'plain', tool: 'echo', arguments: { text: 'hello' } })
          took.push((performance.now() - began) * 1000)
          if (outcome.outcome !== 'completed') throw new Error(outcome.message)
        }
        return { operations: CALLS, p50: median(took) }
      },
    }),
  )
  const measured = await measure(variants, { rounds: times(15, 2), warmUp: times(2, 1) })
  const floor = measured.get('no trace')!
  for (const [variant, { p50 }] of measured) row({ work: `${work}, p50`, variant, unit: 'µs', rounds: p50, floor: floor.p50 })
  for (const [variant, { cpu }] of measured) row({ work: `${work}, host CPU`, variant, unit: 'µs/call', rounds: cpu, floor: floor.cpu })
  await runtime.close()
}
report()
