/** Starting many servers, and a status page that starts only its own. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSession, type ServerDefinition, type Session } from '../src/index.ts'
import { best, measure, QUICK, times, type Work } from './measure.ts'
import { PLAIN_SERVER, tempFolder } from './places.ts'
import { RawClient } from './raw-client.ts'
import { report, row, tell } from './report.ts'
import { sdkClient } from './sdk-client.ts'

const SERVERS = QUICK ? 10 : 50
const PAGE = 5
/** as many at a time as the pool of a runtime starts */
const WIDTH = 16
const startsFile = join(tempFolder(), 'starts')
const args = [startsFile, '5']

const starts = (): number => (existsSync(startsFile) ? readFileSync(startsFile, 'utf8').trim().split('\n').length : 0)

async function limited<T>(count: number, start: () => Promise<T>): Promise<readonly T[]> {
  const done: T[] = []
  let left = count
  const lane = async (): Promise<void> => {
    while (left-- > 0) done.push(await start())
  }
  await Promise.all(Array.from({ length: Math.min(WIDTH, count) }, lane))
  return done
}

/** Starts, stops the clock, closes. */
async function round<T>(start: () => Promise<T>, close: (started: T) => Promise<unknown>, expected: number): Promise<Work> {
  rmSync(startsFile, { force: true })
  const began = performance.now()
  const started = await start()
  const tookMs = performance.now() - began
  if (starts() !== expected) throw new Error(`${starts()} servers were started instead of ${expected}`)
  await close(started)
  return { operations: 1, tookMs }
}

async function startRaw(): Promise<RawClient> {
  const client = new RawClient(PLAIN_SERVER, args)
  await client.open()
  return client
}

async function startSdk(): Promise<Awaited<ReturnType<typeof sdkClient>>> {
  const client = await sdkClient(PLAIN_SERVER, args)
  await client.listTools()
  return client
}

const definition: ServerDefinition = { command: process.execPath, args: [PLAIN_SERVER, ...args] }
const mcpServers = Object.fromEntries(Array.from({ length: SERVERS }, (_, index) => [`server_${index}`, definition]))
const closeAll = (all: readonly { close(): Promise<unknown> }[]): Promise<unknown> => Promise.all(all.map((one) => one.close()))
const closeOne = (one: Session): Promise<void> => one.close()

async function startOurs(): Promise<Session> {
  const session = await openSession({ mcpServers })
  const { tools, errors } = await session.listTools()
  if (errors.length > 0 || tools.length !== SERVERS * 5) throw new Error(`${tools.length} tools, ${errors[0]?.error.message ?? 'no error'}`)
  return session
}

async function page(session: Session): Promise<void> {
  const { data } = await session.status({ limit: PAGE })
  if (data.length !== PAGE || data.some(({ runtimeStatus }) => runtimeStatus !== 'connected')) throw new Error('the page is not complete')
}

tell(`connect and list ${SERVERS} stdio servers`)
const all = await measure(
  [
    { name: 'floor', run: () => round(() => limited(SERVERS, startRaw), closeAll, SERVERS) },
    { name: 'SDK', run: () => round(() => limited(SERVERS, startSdk), closeAll, SERVERS) },
    { name: 'ours', run: () => round(startOurs, closeOne, SERVERS) },
  ],
  { rounds: times(5, 1) },
)
const inMs = (rounds: readonly number[]): readonly number[] => rounds.map((us) => us / 1000)
const floor = all.get('floor')!
for (const [variant, { wall }] of all) {
  row({
    work: `connect + list ${SERVERS} stdio servers`,
    variant,
    unit: 'ms',
    rounds: inMs(wall),
    floor: inMs(floor.wall),
    ...(variant === 'ours' && { must: { text: '<= 1.15 of floor', met: best(wall) <= 1.15 * best(floor.wall) } }),
  })
}

tell(`a status page of ${PAGE} out of ${SERVERS}`)
const again: number[] = []
const pages = await measure(
  [
    { name: 'floor', run: () => round(() => limited(PAGE, startRaw), closeAll, PAGE) },
    {
      name: 'ours',
      run: () =>
        round(
          async () => {
            const session = await openSession({ mcpServers })
            await page(session)
            return session
          },
          async (session) => {
            await page(session)
            again.push(starts() - PAGE)
            await session.close()
          },
          PAGE,
        ),
    },
  ],
  { rounds: times(9, 2) },
)
const five = pages.get('floor')!
for (const [variant, { wall }] of pages) {
  row({
    work: `status page, ${PAGE} of ${SERVERS}`,
    variant,
    unit: 'ms',
    rounds: inMs(wall),
    floor: inMs(five.wall),
    ...(variant === 'ours' && { must: { text: '<= 1.4 of floor', met: best(wall) <= 1.4 * best(five.wall) } }),
  })
}
// `round` has thrown where it were not so many
row({
  work: `status page, ${PAGE} of ${SERVERS}`,
  variant: 'ours',
  unit: 'starts',
  rounds: [PAGE],
  must: { text: `exactly ${PAGE}`, met: true },
})
const most = Math.max(...again)
row({ work: 'the same page again', variant: 'ours', unit: 'starts', rounds: [most], must: { text: 'exactly 0', met: most === 0 } })
report()
