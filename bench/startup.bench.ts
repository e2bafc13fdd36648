/** Cold starts: importing the library, and commands that a person waits for. Every measurement is a process of its own. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measure, times, type Variant } from './measure.ts'
import { PLAIN_SERVER, ROOT, tempFolder } from './places.ts'
import { report, row, tell } from './report.ts'

const folder = tempFolder()
const config = join(folder, 'tapline.json')
writeFileSync(config, JSON.stringify({ mcpServers: { plain: { command: process.execPath, args: [PLAIN_SERVER] } } }))
const empty = join(folder, 'empty.mjs')
writeFileSync(empty, '')
const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, XDG_DATA_HOME: folder }
const client = (name: string): string => join(ROOT, 'bench/clients', name)
const TAPLINE = join(ROOT, 'dist/cli/main.js')

function run(args: readonly string[], expected = ''): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' })
  if (status !== 0 || !stdout.includes(expected)) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
  return stdout
}

const whole = (name: string, args: readonly string[], expected?: string): Variant => ({
  name,
  run: () => {
    run(args, expected)
    return { operations: 1 }
  },
})
const importing = (name: string, module: string): Variant => ({
  name,
  run: () => ({ operations: 1, tookMs: Number(run([client('import.mjs'), module])) }),
})
const inMs = (rounds: readonly number[]): readonly number[] => rounds.map((us) => us / 1000)
const rounds = times(15, 2)

tell('imports')
const IMPORT_MS = 130
const imports = await measure(
  [
    importing('an empty module', empty),
    importing('SDK client', '@modelcontextprotocol/sdk/client/index.js'),
    importing('tapline', join(ROOT, 'dist/index.js')),
    importing('tapline/plugin', join(ROOT, 'dist/plugin.js')),
  ],
  { rounds },
)
for (const [variant, { wall }] of imports) {
  const ms = inMs(wall)
  row({
    work: 'import',
    variant,
    unit: 'ms',
    rounds: ms,
    ...(variant === 'tapline' && { must: { text: `<= ${IMPORT_MS} ms`, met: Math.min(...ms) <= IMPORT_MS } }),
  })
}

tell('commands')
const CALL_MS = 280
const commands = await measure(
  [
    whole('node, empty module', [empty]),
    whole('tapline --help', [TAPLINE, '--help'], 'Usage'),
    whole('floor: one raw call', [client('raw-call.mjs'), PLAIN_SERVER], 'hello'),
    whole('SDK: one call', [client('sdk-call.mjs'), PLAIN_SERVER], 'hello'),
    whole('tapline call', [TAPLINE, '--config', config, 'call', 'mcp__plain__echo', '{"text":"hello"}'], 'hello'),
  ],
  { rounds },
)
const floor = inMs(commands.get('floor: one raw call')!.wall)
for (const [variant, { wall }] of commands) {
  const ms = inMs(wall)
  const calls = variant.endsWith('call')
  row({
    work: 'cold command',
    variant,
    unit: 'ms',
    rounds: ms,
    ...(calls && { floor }),
    ...(variant === 'tapline call' && { must: { text: `<= ${CALL_MS} ms`, met: Math.min(...ms) <= CALL_MS } }),
  })
}
report()
