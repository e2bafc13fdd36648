/** What a server that has nothing to do costs the host: heap and buffers after a collection, connected and listed. */
import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openSession } from '../src/index.ts'
import { QUICK, times } from './measure.ts'
import { PLAIN_SERVER } from './places.ts'
import { RawClient } from './raw-client.ts'
import { report, row, tell } from './report.ts'
import { sdkClient } from './sdk-client.ts'

const SERVERS = QUICK ? 5 : 25
/** Must, in bytes for each server. */
const MUST = 400_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use, once they no longer change: what was closed before is gone only after its streams have ended. */
async function inUse(): Promise<number> {
  for (let last = Infinity, i = 0; ; i++) {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    const now = heapUsed + external
    if (Math.abs(now - last) < 2000 || i === 20) return now
    last = now
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const definition = { command: process.execPath, args: [PLAIN_SERVER, '', '10'] }
const mcpServers = Object.fromEntries(Array.from({ length: SERVERS }, (_, n) => [`idle_${n}`, definition]))
const each = <T>(start: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: SERVERS }, start))

/** Starts all, and gives what closes them. */
const starts: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  floor: async () => {
    const all = await each(async () => {
      const client = new RawClient(PLAIN_SERVER, ['', '10'])
      return { client, list: await client.open() }
    })
    return () => Promise.all(all.map(({ client }) => client.close()))
  },
  SDK: async () => {
    const all = await each(async () => {
      const client = await sdkClient(PLAIN_SERVER, ['', '10'])
      return { client, list: await client.listTools() }
    })
    return () => Promise.all(all.map(({ client }) => client.close()))
  },
  ours: async () => {
    const session = await openSession({ mcpServers })
    const { tools } = await session.listTools()
    if (tools.length !== SERVERS * 10) throw new Error('the servers did not start')
    return () => session.close()
  },
}

/** In a process of its own: what others have left for the collector is not counted. The first start loads the code, and does not count. */
async function measureHere(name: string): Promise<void> {
  const start = starts[name]!
  const closeFirst = await start()
  await closeFirst()
  const before = await inUse()
  const close = await start()
  process.stdout.write(String(((await inUse()) - before) / SERVERS / 1000))
  await close()
}

function measureIn(name: string): number {
  const { status, stdout } = spawnSync(process.execPath, [import.meta.filename, ...process.argv.slice(2), '--variant', name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${name} failed`)
  return Number(stdout)
}

const only = process.argv.indexOf('--variant')
if (only > 0) await measureHere(process.argv[only + 1]!)
else {
  tell(`memory of the host for each of ${SERVERS} idle servers`)
  const rounds = new Map(Object.keys(starts).map((name) => [name, [] as number[]]))
  for (let round = 0; round < times(3, 1); round++) for (const [name, numbers] of rounds) numbers.push(measureIn(name))
  for (const [variant, numbers] of rounds) {
    row({
      work: 'memory of an idle server',
      variant,
      unit: 'kB',
      rounds: numbers,
      floor: rounds.get('floor')!,
      ...(variant === 'ours' && { must: { text: '<= 400 kB', met: Math.min(...numbers) * 1000 <= MUST } }),
    })
  }
  report()
}
