/** Calls of an HTTP server, one after the other and 32 at a time: over node:http alone, with the SDK's client, with ours. */
import { spawn } from 'node:child_process'
import http from 'node:http'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { openSession } from '../src/index.ts'
import { best, measure, median, times, type Variant, type Work } from './measure.ts'
import { ROOT } from './places.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(800, 100)
const IN_FLIGHT = 32

tell('calls over HTTP')
// the SDK gives every request one and the same signal, and Node warns of each
process.removeAllListeners('warning')
const child = spawn(process.execPath, [join(ROOT, 'bench/servers/plain-http.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] })
const port = await new Promise<number>((resolve) => child.stdout.once('data', (text: Buffer) => resolve(Number(text))))
const url = new URL(`http://127.0.0.1:${port}/mcp`)

const agent = new http.Agent({ keepAlive: true })
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
let lastId = 0
/** The floor: a POST, its body, the answer parsed. */
function post(method: string, params: object): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params })
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { agent, method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => (text += part))
        answer.on('end', () => resolve(JSON.parse(text)))
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

const sdk = new Client({ name: 'bench', version: '1' })
await sdk.connect(new StreamableHTTPClientTransport(url))
const session = await openSession({ mcpServers: { plain: { url: url.href } } })
const { tools } = await session.listTools()
if (tools[0]?.tool !== 'echo') throw new Error('the server did not start')
const request = { name: tools[0].name, arguments: { text: 'hello' } }

const call: Readonly<Record<string, () => Promise<unknown>>> = {
  floor: () => post('tools/call', { name: 'echo', arguments: { text: 'hello' } }),
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
  let left = CALLS * 2
  const lane = async (): Promise<void> => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  return { operations: CALLS * 2 }
}

const variants = (how: (one: () => Promise<unknown>) => Promise<Work>): readonly Variant[] =>
  Object.entries(call).map(([name, one]) => ({ name, run: () => how(one) }))
const serial = await measure(variants(oneByOne), { rounds: times(10, 2), warmUp: times(2, 1) })
const parallel = await measure(variants(inFlight), { rounds: times(10, 2), warmUp: times(2, 1) })

const floor = serial.get('floor')!
for (const [variant, { p50 }] of serial) {
  row({
    work: 'HTTP call, p50',
    variant,
    unit: 'µs',
    rounds: p50,
    floor: floor.p50,
    ...(variant === 'ours' && { must: { text: '<= 4 of floor', met: best(p50) <= 4 * best(floor.p50) } }),
  })
}
for (const [variant, { cpu }] of serial) row({ work: 'HTTP call, host CPU', variant, unit: 'µs/call', rounds: cpu, floor: floor.cpu })
const perSecond = (wall: readonly number[]): readonly number[] => wall.map((us) => 1e6 / us)
const floorRate = perSecond(parallel.get('floor')!.wall)
for (const [variant, { wall }] of parallel)
  row({ work: `HTTP, ${IN_FLIGHT} in flight`, variant, unit: 'calls/s', rounds: perSecond(wall), floor: floorRate, isRate: true })

await Promise.all([sdk.close(), session.close()])
agent.destroy()
child.stdin.end()
report()
