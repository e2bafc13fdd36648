/** Tools of 50 servers from the inventory on disk: no process is started. */
import { join } from 'node:path'
import { openRuntime } from '../src/index.ts'
import { best, measure, times } from './measure.ts'
import { PLAIN_SERVER } from './places.ts'
import { report, row, tell } from './report.ts'

const SERVERS = 50
const store = { file: join(process.env['XDG_STATE_HOME'] ?? '.', 'inventory') }
const servers = (more: object): Record<string, { command: string; args: string[] }> =>
  Object.fromEntries(
    Array.from({ length: SERVERS }, (_, i) => [`s${i}`, { command: process.execPath, args: [PLAIN_SERVER], env: { N: `${i}` }, ...more }]),
  )

tell(`the tools of ${SERVERS} servers from the inventory`)
{
  await using runtime = await openRuntime({ mcpServers: servers({}), store })
  await (await runtime.openSession()).listTools()
}

const measured = await measure(
  [
    {
      name: 'ours',
      run: async () => {
        const began = performance.now()
        // a server that is started in spite of it fails, and its tools are missing
        const runtime = await openRuntime({ mcpServers: servers({ startupTimeoutSec: 0.001 }), store })
        const { tools } = await (await runtime.openSession()).listTools({ cached: true })
        const tookMs = performance.now() - began
        if (new Set(tools.map(({ owner }) => owner)).size !== SERVERS || tools.some(({ cached }) => !cached))
          throw new Error('tools are missing')
        await runtime.close()
        return { operations: 1, tookMs }
      },
    },
  ],
  { rounds: times(20, 5), warmUp: 3 },
)
const rounds = measured.get('ours')!.wall.map((us) => us / 1000)
row({
  work: `tools of ${SERVERS} servers from the inventory`,
  variant: 'ours',
  unit: 'ms',
  rounds,
  must: { text: '<= 30 ms after import', met: best(rounds) <= 30 },
})
report()
