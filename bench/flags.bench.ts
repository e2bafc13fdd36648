/** Opening a session: what flags from a file or a provider, and the `apply` of plugins, add to it. */
import { InMemoryProvider } from '@openfeature/server-sdk'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineFlag, memoryStore, openRuntime, type Flag, type HookPlugin, type Runtime, type RuntimeOptions } from '../src/index.ts'
import { measure, times } from './measure.ts'
import { tempFolder } from './places.ts'
import { report, row, tell } from './report.ts'

const SESSIONS = times(1_000, 50)
const FLAGS = 20

const define: readonly Flag[] = Array.from({ length: FLAGS }, (_, index) =>
  defineFlag({ name: `flag_${index}`, default: false, description: 'one of many' }),
)
const fractional = [
  ['on', 5],
  ['off', 95],
]
const variants = { on: true, off: false }
const file = join(tempFolder(), 'flags.json')
const rule = { state: 'ENABLED', variants, defaultVariant: 'off', targeting: { fractional } }
writeFileSync(file, JSON.stringify({ flags: Object.fromEntries(define.map(({ name }) => [name, rule])) }))
const provider = new InMemoryProvider(
  Object.fromEntries(define.map(({ name }) => [name, { variants, defaultVariant: 'off', disabled: false }])),
)

/** A tap on each of the five hooks. */
const plugin = (name: string): HookPlugin => ({
  name,
  apply: ({ hooks }) => {
    hooks.resolve.tap('a', () => {})
    hooks.approve.tap('b', () => {})
    hooks.attachMetadata.tap('c', () => {})
    hooks.dispatch.tapPromise('d', (_call, next) => next())
    hooks.settled.tap('e', () => {})
  },
})
const hooks = Array.from({ length: 5 }, (_, index) => plugin(`plugin_${index}`))

const open = (options: RuntimeOptions): Promise<Runtime> => openRuntime({ store: memoryStore(), ...options })
const runtimes: ReadonlyMap<string, Runtime> = new Map([
  ['no flag of its own', await open({})],
  [`${FLAGS} flags, defaults`, await open({ flags: { define } })],
  [`${FLAGS} flags, flagd file`, await open({ flags: { define, flagd: file } })],
  [`${FLAGS} flags, in-memory provider`, await open({ flags: { define, provider } })],
  ['5 plugins on every hook', await open({ hooks })],
])

async function sessions(runtime: Runtime): Promise<{ readonly operations: number }> {
  for (let index = 0; index < SESSIONS; index++) {
    const session = await runtime.openSession({ evaluationContext: { targetingKey: `user-${index}` } })
    await session.close()
  }
  return { operations: SESSIONS }
}

tell(`open and close a session, with ${FLAGS} flags and with 5 plugins`)
const measured = await measure(
  [...runtimes].map(([name, runtime]) => ({ name, run: () => sessions(runtime) })),
  { rounds: times(12, 2), warmUp: times(2, 1) },
)
const floor = measured.get('no flag of its own')?.cpu
for (const [name, { cpu }] of measured)
  row({ work: 'open a session, CPU', variant: name, unit: 'µs', rounds: cpu, ...(floor && { floor }) })
await Promise.all([...runtimes.values()].map((runtime) => runtime.close()))
report()
