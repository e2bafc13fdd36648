/** A result of 10 MB over stdio, and one of 12 MB, which ends the connection of the SDK's client. */
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

function check(result: unknown, bytes = BYTES): { readonly operations: number } {
  const { content } = result as { readonly content?: readonly { readonly text?: string }[] }
  if (content?.[0]?.text?.length !== bytes) throw new Error('the result is not what was asked for')
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

const MORE = 12_000_000
tell('a result of 12 MB over stdio')
const larger = await measure(
  [
    { name: 'floor', run: async () => check(await raw.request('tools/call', { name: 'echo', arguments: { bytes: MORE } }), MORE) },
    {
      name: 'ours',
      run: async () => {
        const outcome = await session.callTool({ server: 'plain', tool: 'echo', arguments: { bytes: MORE } })
        return check(outcome.outcome === 'completed' ? outcome.result : {}, MORE)
      },
    },
  ],
  { rounds: times(20, 3), warmUp: times(3, 1) },
)
const least = larger.get('floor')!
for (const [variant, { wall }] of larger)
  row({ work: '12 MB stdio result', variant, unit: 'ms', rounds: inMs(wall), floor: inMs(least.wall) })
// a small call on the same connection afterwards
await sdk.callTool({ name: 'echo', arguments: { bytes: MORE } }, undefined, { timeout: 20_000 }).catch(() => undefined)
const after = { arguments: { text: 'hello' } }
const goesOn = {
  SDK: await sdk.callTool({ name: 'echo', ...after }, undefined, { timeout: 5000 }).then(
    () => 1,
    () => 0,
  ),
  ours: (await session.callTool({ server: 'plain', tool: 'echo', ...after })).outcome === 'completed' ? 1 : 0,
}
for (const [variant, worked] of Object.entries(goesOn))
  row({
    work: '12 MB stdio result, calls that work after it',
    variant,
    unit: 'of 1',
    rounds: [worked],
    ...(variant === 'ours' && { must: { text: '1', met: worked === 1 } }),
  })

await Promise.all([raw.close(), sdk.close(), session.close(), capped.close()])
report()
