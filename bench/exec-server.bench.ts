/** Calls of a server behind a real `codex exec-server`, against the same server as a child. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { openSession } from '../src/index.ts'
import { ExecClient } from './exec-client.ts'
import { best, measure, median, times, type Variant } from './measure.ts'
import { PLAIN_SERVER, ROOT, tempFolder } from './places.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(1000, 100)
/** Back to back, a host and its server never leave the processor; a call of a harness comes out of the blue. */
const PAUSED_CALLS = times(150, 20)
const PAUSE_MS = 5
/** What the way over the executor takes whoever goes it. */
const BARE = 'bare client'

/** The program of the package that scripts/install-servers.mjs keeps in its cache. */
function codexBinary(): string {
  const { stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'scripts', 'install-servers.mjs')], { encoding: 'utf8' })
  if (stdout === '') throw new Error(`codex could not be installed: ${stderr}`)
  const packages = path.resolve(path.dirname((JSON.parse(stdout) as { codex: string }).codex), '..', '..')
  for (const name of readdirSync(packages)) {
    const vendor = path.join(packages, name, 'vendor')
    for (const target of existsSync(vendor) ? readdirSync(vendor) : []) {
      const file = path.join(vendor, target, 'bin', 'codex')
      if (existsSync(file)) return file
    }
  }
  throw new Error('the package of codex has no program for this machine')
}

tell('calls over exec-server')
const home = tempFolder()
for (const name of ['home', 'codex']) mkdirSync(path.join(home, name))
const executor = spawn(codexBinary(), ['exec-server', '--listen', 'ws://127.0.0.1:0'], {
  env: { PATH: process.env['PATH'], HOME: path.join(home, 'home'), CODEX_HOME: path.join(home, 'codex') },
  stdio: ['ignore', 'pipe', 'ignore'],
})
process.on('exit', () => executor.kill('SIGKILL'))
const url = await new Promise<string>((resolve) => executor.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())))

const server = { command: process.execPath, args: [PLAIN_SERVER], defaultToolsApprovalMode: 'approve' } as const
const sessions = {
  'direct stdio': await openSession({ mcpServers: { plain: server } }),
  ours: await openSession({
    environments: { vm: { executor: { kind: 'exec-server', url }, cwd: ROOT, mcpServers: { plain: server } } },
  }),
}
type Call = () => Promise<unknown>
const calls = new Map<string, Call>()
for (const [name, session] of Object.entries(sessions)) {
  const { tools, errors } = await session.listTools()
  if (tools[0]?.tool !== 'echo') throw new Error(errors[0]?.error.message ?? 'the server did not start')
  const request = { name: tools[0].name, arguments: { text: 'hello' } }
  calls.set(name, async () => {
    const outcome = await session.callTool(request)
    if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  })
}
const bare = await ExecClient.open(url, PLAIN_SERVER)
calls.set(BARE, () => bare.request('tools/call', { name: 'echo', arguments: { text: 'hello' } }))
const rounds = async (call: Call, count: number, pauseMs: number): Promise<{ operations: number; p50: number }> => {
  const took: number[] = []
  for (let i = 0; i < count; i++) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const began = performance.now()
    await call()
    took.push((performance.now() - began) * 1000)
  }
  return { operations: count, p50: median(took) }
}
const variants = [...calls].map(([name, call]) => ({
  name,
  busy: () => rounds(call, CALLS, 0),
  idle: () => rounds(call, PAUSED_CALLS, PAUSE_MS),
}))
const how = (way: 'busy' | 'idle'): readonly Variant[] => variants.map((variant) => ({ name: variant.name, run: variant[way] }))
const busy = await measure(how('busy'), { rounds: times(9, 2), warmUp: 2 })
const idle = await measure(how('idle'), { rounds: times(9, 2), warmUp: 1 })
for (const [work, results] of [
  ['exec-server call, p50', busy],
  ['exec-server call after a pause, p50', idle],
] as const) {
  const floor = results.get('direct stdio')!.p50
  for (const [variant, { p50 }] of results) {
    const must = { text: '<= 2.5 of direct stdio', met: best(p50) <= 2.5 * best(floor) }
    // back to back the scheduler decides what direct stdio takes, and with it the ratio: docs/performance.md
    row({ work, variant, unit: 'µs', rounds: p50, floor, ...(variant === 'ours' && results === idle && { must }) })
  }
  const ours = results.get('ours')!.p50
  const bareP50 = results.get(BARE)!.p50
  const must = { text: '<= 1.8 of the bare client', met: best(ours) <= 1.8 * best(bareP50) }
  row({ work: `${work}, over the bare client`, variant: 'ours', unit: 'µs', rounds: ours, floor: bareP50, must })
}
for (const [variant, { cpu }] of busy)
  row({ work: 'exec-server call, host CPU', variant, unit: 'µs/call', rounds: cpu, floor: busy.get('direct stdio')!.cpu })
for (const session of Object.values(sessions)) await session.close()
bare.close()
executor.kill('SIGKILL')
report()
