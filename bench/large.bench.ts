/** A result of 10 MB over stdio. */
import { openSession } from '../src/index.ts'
import { best, measure, times } from './measure.ts'
import { PLAIN_SERVER } from './places.ts'
import { RawClient } from './raw-client.ts'
import { report, row, tell } from './report.ts'
import { sdkClient } from './sdk-client.ts'

const BYTES = 10_000_000
const params = { name: 'echo', arguments: { bytes: BYTES } }

tell('a result of 10 MB over stdio')
const raw = new RawClient(PLAIN_SERVER)
await raw.open()
const sdk = await sdkClient(PLAIN_SERVER)
const session = await openSession({
  mcpServers: { plain: { command: process.execPath, args: [PLAIN_SERVER], maxResultBytes: 64 * 1024 * 1024 } },
})
const capped = await openSession({ mcpServers: { plain: { command: process.execPath, args: [PLAIN_SERVER] } } })

function check(result: unknown): { readonly operations: number } {
  const { content } = result as { readonly content?: readonly { readonly text?: string }[] }
  if (content?.[0]?.text?.length !== BYTES) throw new Error('the result is not what was asked for')
  return { operations: 1 }
}

const measured = await measure(
  [
    { name: 'floor', run: async () => check(await raw.request('tools/call', params)) },
    { name: 'SDK', run: async () => check(await sdk.callTool(params)) },
    {
      name: 'ours',
      run: async () => {
        const outcome = await session.callTool({ server: 'plain', tool: 'echo', arguments: params.arguments })
        return check(outcome.outcome === 'completed' ? outcome.result : {})
      },
    },
    {
      name: 'ours, cut to 8 MiB',
      run: async () => {
        const outcome = await capped.callTool({ server: 'plain', tool: 'echo', arguments: params.arguments })
        if (outcome.outcome !== 'completed' || outcome.overflow === undefined) throw new Error('the result is not cut')
        return { operations: 1 }
      },
    },
  ],
  { rounds: times(20, 3), warmUp: times(3, 1) },
)
const inMs = (rounds: readonly number[]): readonly number[] => rounds.map((us) => us / 1000)
const floor = measured.get('floor')!
for (const [variant, { wall }] of measured) {
  row({
    work: '10 MB stdio result',
    variant,
    unit: 'ms',
    rounds: inMs(wall),
    floor: inMs(floor.wall),
    ...(variant === 'ours' && { must: { text: '<= 2.3 of floor', met: best(wall) <= 2.3 * best(floor.wall) } }),
  })
}
for (const [variant, { cpu }] of measured)
  row({ work: '10 MB stdio result, host CPU', variant, unit: 'ms', rounds: inMs(cpu), floor: inMs(floor.cpu) })
await Promise.all([raw.close(), sdk.close(), session.close(), capped.close()])
report()
