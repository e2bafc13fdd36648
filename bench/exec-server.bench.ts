/** Calls of a server behind a real `codex exec-server`, against the same server as a child. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { openSession } from '../src/index.ts'
import { best, measure, median, times, type Variant } from './measure.ts'
import { PLAIN_SERVER, ROOT, tempFolder } from './places.ts'
import { report, row, tell } from './report.ts'

const CALLS = times(1000, 100)

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
const variants = await Promise.all(
  Object.entries(sessions).map(async ([name, session]): Promise<Variant> => {
    const { tools, errors } = await session.listTools()
    if (tools[0]?.tool !== 'echo') throw new Error(errors[0]?.error.message ?? 'the server did not start')
    const request = { name: tools[0].name, arguments: { text: 'hello' } }
    const run = async (): Promise<{ operations: number; p50: number }> => {
      const took: number[] = []
      for (let i = 0; i < CALLS; i++) {
        const began = performance.now()
        const outcome = await session.callTool(request)
        if (outcome.outcome !== 'completed') throw new Error(outcome.message)
        took.push((performance.now() - began) * 1000)
      }
      return { operations: CALLS, p50: median(took) }
    }
    return { name, run }
  }),
)
const results = await measure(variants, { rounds: times(9, 2), warmUp: 2 })
const floor = results.get('direct stdio')!.p50
for (const [variant, { p50, cpu }] of results) {
  row({
    work: 'exec-server call, p50',
    variant,
    unit: 'µs',
    rounds: p50,
    floor,
    ...(variant === 'ours' && { must: { text: '<= 2.5 of direct stdio', met: best(p50) <= 2.5 * best(floor) } }),
  })
  row({ work: 'exec-server call, host CPU', variant, unit: 'µs/call', rounds: cpu, floor: results.get('direct stdio')!.cpu })
}
for (const session of Object.values(sessions)) await session.close()
executor.kill('SIGKILL')
report()
