/** One hop more: the same call straight to a stdio server, and through `tapline serve --stdio`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measure, median, times, type Work } from './measure.ts'
import { PLAIN_SERVER, ROOT, tempFolder } from './places.ts'
import { RawClient } from './raw-client.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(1500, 100)

tell('the hop through the gateway')
const config = join(tempFolder(), 'tapline.json')
writeFileSync(
  config,
  JSON.stringify({
    mcpServers: { plain: { command: process.execPath, args: [PLAIN_SERVER], defaultToolsApprovalMode: 'approve' } },
  }),
)
const direct = new RawClient(PLAIN_SERVER)
const gateway = new RawClient(join(ROOT, 'dist/cli/main.js'), ['--config', config, 'serve', '--stdio'])
await Promise.all([direct.open(), gateway.open()])

async function oneByOne(client: RawClient, name: string): Promise<Work> {
  const took: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const began = performance.now()
    const result = (await client.request('tools/call', { name, arguments: { text: 'hello' } })) as { readonly isError?: boolean }
    if (result.isError === true) throw new Error(JSON.stringify(result))
    took.push((performance.now() - began) * 1000)
  }
  return { operations: CALLS, p50: median(took) }
}

const results = await measure(
  [
    { name: 'floor', run: () => oneByOne(direct, 'echo') },
    { name: 'ours', run: () => oneByOne(gateway, 'mcp__plain__echo') },
  ],
  { rounds: times(11, 2), warmUp: times(2, 1) },
)
const floor = results.get('floor')!.p50
for (const [variant, { p50 }] of results) row({ work: 'stdio call through the gateway, p50', variant, unit: 'µs', rounds: p50, floor })
await Promise.all([direct.close(), gateway.close()])
report()
