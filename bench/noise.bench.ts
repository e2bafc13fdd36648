/** How much slower the calls of a quiet server get while eight others flood the host. */
import { openSession } from '../src/index.ts'
import { best, measure, median, times, type Work } from './measure.ts'
import { NOISY_SERVER, PLAIN_SERVER } from './places.ts'
import { RawClient } from './raw-client.ts'
import { report, row, tell } from './report.ts'
import { sdkClient } from './sdk-client.ts'

const NOISY = 8
const CALLS = times(300, 30)

tell(`calls of a quiet server beside ${NOISY} that flood`)
const echo = { name: 'echo', arguments: { text: 'hello' } }
const noise = { name: 'noise', arguments: {} }

/** One client library: a call of the quiet server, and one of a noisy one. */
interface Client {
  quiet(): Promise<unknown>
  noisy(index: number): Promise<unknown>
  close(): Promise<unknown>
}

async function floor(): Promise<Client> {
  const all = [new RawClient(PLAIN_SERVER), ...Array.from({ length: NOISY }, () => new RawClient(NOISY_SERVER))] as const
  await Promise.all(all.map((one) => one.open()))
  return {
    quiet: () => all[0].request('tools/call', echo),
    noisy: (index) => all[index + 1]!.request('tools/call', noise),
    close: () => Promise.all(all.map((one) => one.close())),
  }
}

async function sdk(): Promise<Client> {
  const quiet = await sdkClient(PLAIN_SERVER)
  const noisy = await Promise.all(Array.from({ length: NOISY }, () => sdkClient(NOISY_SERVER)))
  return {
    quiet: () => quiet.callTool(echo),
    noisy: (index) => noisy[index]!.callTool(noise),
    close: () => Promise.all([quiet, ...noisy].map((one) => one.close())),
  }
}

async function ours(): Promise<Client> {
  const named = Array.from({ length: NOISY }, (_, n) => [`noisy_${n}`, { command: process.execPath, args: [NOISY_SERVER] }])
  const session = await openSession({
    mcpServers: { quiet: { command: process.execPath, args: [PLAIN_SERVER] }, ...Object.fromEntries(named) },
  })
  const { errors } = await session.listTools()
  if (errors.length > 0) throw errors[0]!.error
  const done = async (request: Parameters<typeof session.callTool>[0]): Promise<void> => {
    const outcome = await session.callTool(request)
    if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  }
  return {
    quiet: () => done({ server: 'quiet', tool: 'echo', arguments: echo.arguments }),
    noisy: (index) => done({ server: `noisy_${index}`, tool: 'noise' }),
    close: () => session.close(),
  }
}

/** Calls of the quiet server one after the other, each after a pause, while the noisy ones are called without one. */
async function round(client: Client, isNoisy: boolean): Promise<Work> {
  const over = new AbortController()
  const lane = async (index: number): Promise<void> => {
    while (!over.signal.aborted) await client.noisy(index)
  }
  const lanes = isNoisy ? Array.from({ length: NOISY }, (_, index) => lane(index)) : []
  const took: number[] = []
  for (let i = 0; i < CALLS; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    const began = performance.now()
    await client.quiet()
    took.push((performance.now() - began) * 1000)
  }
  over.abort()
  await Promise.all(lanes)
  return { operations: CALLS, p50: median(took) }
}

const clients = new Map([
  ['floor', await floor()],
  ['SDK', await sdk()],
  ['ours', await ours()],
])
for (const isNoisy of [false, true]) {
  const variants = [...clients].map(([name, client]) => ({ name, run: () => round(client, isNoisy) }))
  const measured = await measure(variants, { rounds: times(10, 2) })
  for (const [variant, { p50 }] of measured)
    row({
      work: `quiet call, ${isNoisy ? `beside ${NOISY} noisy servers` : 'alone'}`,
      variant,
      unit: 'µs',
      rounds: p50,
      floor: measured.get('floor')!.p50,
    })
  tell(`${isNoisy ? 'noisy' : 'alone'}: ${[...measured].map(([name, { p50 }]) => `${name} ${best(p50).toFixed(0)} µs`).join(', ')}`)
}
await Promise.all([...clients.values()].map((client) => client.close()))
report()
