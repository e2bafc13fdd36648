/** Calls of a stdio server: one after the other, and 32 at a time. */
import { openSession } from '../src/index.ts'
import { best, measure, median, times, type Variant, type Work } from './measure.ts'
import { PLAIN_SERVER } from './places.ts'
import { RawClient } from './raw-client.ts'
import { report, row, tell } from './report.ts'
import { sdkClient } from './sdk-client.ts'

const CALLS = times(2000, 200)
const IN_FLIGHT = 32

tell('calls over stdio')
const raw = new RawClient(PLAIN_SERVER)
await raw.open()
const sdk = await sdkClient(PLAIN_SERVER)
const session = await openSession({ mcpServers: { plain: { command: process.execPath, args: [PLAIN_SERVER] } } })
const { tools } = await session.listTools()
if (tools[0]?.tool !== 'echo') throw new Error('the server did not start')
const request = { name: tools[0].name, arguments: { text: 'hello' } }

const call: Readonly<Record<string, () => Promise<unknown>>> = {
  floor: () => raw.request('tools/call', { name: 'echo', arguments: { text: 'hello' } }),
  SDK: () => sdk.callTool({ name: 'echo', arguments: { text: 'hello' } }),
  ours: async () => {
    const outcome = await session.callTool(request)
    if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  },
}

async function oneByOne(one: () => Promise<unknown>): Promise<Work> {
  const took: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const began = performance.now()
    await one()
    took.push((performance.now() - began) * 1000)
  }
  return { operations: CALLS, p50: median(took) }
}

async function inFlight(one: () => Promise<unknown>): Promise<Work> {
  let left = CALLS * 4
  const lane = async (): Promise<void> => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  return { operations: CALLS * 4 }
}

const variants = (how: (one: () => Promise<unknown>) => Promise<Work>): readonly Variant[] =>
  Object.entries(call).map(([name, one]) => ({ name, run: () => how(one) }))
const serial = await measure(variants(oneByOne), { rounds: times(15, 2), warmUp: times(2, 1) })
const parallel = await measure(variants(inFlight), { rounds: times(15, 2), warmUp: times(2, 1) })

const floor = serial.get('floor')!
const sdkCpu = best(serial.get('SDK')!.cpu)
for (const [variant, { p50 }] of serial) row({ work: 'stdio call, p50', variant, unit: 'µs', rounds: p50, floor: floor.p50 })
for (const [variant, { cpu }] of serial) {
  row({
    work: 'stdio call, host CPU',
    variant,
    unit: 'µs/call',
    rounds: cpu,
    floor: floor.cpu,
    ...(variant === 'ours' && { must: { text: '<= SDK + 8 µs', met: best(cpu) <= sdkCpu + 8 } }),
  })
}
const perSecond = (wall: readonly number[]): readonly number[] => wall.map((us) => 1e6 / us)
const floorRate = perSecond(parallel.get('floor')!.wall)
for (const [variant, { wall }] of parallel) {
  const rate = perSecond(wall)
  row({
    work: `stdio, ${IN_FLIGHT} in flight`,
    variant,
    unit: 'calls/s',
    rounds: rate,
    floor: floorRate,
    isRate: true,
    ...(variant === 'ours' && { must: { text: '>= 0.3 of floor', met: Math.max(...rate) >= 0.3 * Math.max(...floorRate) } }),
  })
}
await Promise.all([raw.close(), sdk.close(), session.close()])
report()
