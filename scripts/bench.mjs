// Runs bench/*.bench.ts, each in a process of its own, and prints one table: ours, the floor, the peers. docs/performance.md says what the rows mean.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { prepare } from './prepare.mjs'
import { bin, CACHE, childEnv, ROOT, runNode } from './tools.mjs'

const USAGE = `npm run bench -- [NAME …] [--only NAME] [--quick] [--json FILE]
  NAME, --only NAME  only benchmarks whose name contains it; may be given several times
  --quick            few rounds: shows that it works, not how fast it is
  --json FILE        writes the rows as JSON too`

/** What people set for their shells and what would be measured with every start of Node. */
const UNSET = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE']

function readArguments(args) {
  const options = {
    only: { type: 'string', multiple: true, default: [] },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  return { ...values, wanted: [...values.only, ...positionals] }
}

/** Compiles bench/ beside the sources into .cache; gives the folder of the compiled benchmarks, or null. */
function compile() {
  const folder = path.join(CACHE, 'bench')
  fs.rmSync(folder, { recursive: true, force: true })
  const status = runNode([bin('typescript', 'tsc'), '-p', 'tsconfig.bench.json', '--outDir', folder])
  return status === 0 ? path.join(folder, 'bench') : null
}

/** Runs one benchmark; gives its rows, or null where it failed. */
function run(script, quick) {
  const env = childEnv()
  for (const name of UNSET) delete env[name]
  // a store of its own: what runtimes keep must neither be found nor left in the home of whoever measures
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-bench-'))
  env.XDG_STATE_HOME = state
  const { status, stdout } = spawnSync(process.execPath, [script, ...(quick ? ['--quick'] : [])], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
  fs.rmSync(state, { recursive: true, force: true })
  return status === 0 ? JSON.parse(stdout) : null
}

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3))

function table(rows) {
  const lines = [['work', 'variant', 'best', 'median', 'unit', 'of floor', 'must', '']]
  let last = ''
  for (const { work, variant, best, median, unit, ratio, must } of rows) {
    lines.push([
      work === last ? '' : work,
      variant,
      number(best),
      number(median),
      unit,
      ratio === null ? '' : ratio.toFixed(2),
      must?.text ?? '',
      must === null ? '' : must.met ? 'ok' : 'MISSED',
    ])
    last = work
  }
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const isNumber = new Set([2, 3, 5])
  return lines
    .map((line) =>
      line
        .map((text, column) => (isNumber.has(column) ? text.padStart(widths[column]) : text.padEnd(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

async function main(args) {
  const { wanted, quick, json, help } = readArguments(args)
  if (help) return console.log(USAGE) ?? 0
  const ready = await prepare()
  if (ready !== 0) return ready
  const folder = compile()
  if (folder === null) return 1
  const names = fs.readdirSync(path.join(ROOT, 'bench')).filter((name) => name.endsWith('.bench.ts'))
  const chosen = names.filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  if (chosen.length === 0) {
    console.error(`no benchmark of that name; there are ${names.map((name) => name.replace('.bench.ts', '')).join(', ')}`)
    return 2
  }
  const rows = []
  let failed = 0
  for (const name of chosen.sort()) {
    const made = run(path.join(folder, name.replace(/\.ts$/, '.js')), quick)
    if (made === null) failed++
    else rows.push(...made.map((row) => ({ benchmark: name.replace('.bench.ts', ''), ...row })))
  }
  console.log(`\n${table(rows)}\n`)
  const musts = rows.filter(({ must }) => must !== null)
  const missed = musts.filter(({ must }) => !must.met)
  console.log(`${musts.length - missed.length} of ${musts.length} limits held${quick ? ' (--quick: the numbers mean little)' : ''}`)
  if (json !== undefined) {
    const machine = {
      node: process.version,
      platform: process.platform,
      arch: process.arch,
      cpu: os.cpus()[0]?.model ?? 'unknown',
      cpus: os.availableParallelism(),
    }
    fs.mkdirSync(path.dirname(path.resolve(json)), { recursive: true })
    fs.writeFileSync(json, `${JSON.stringify({ at: new Date().toISOString(), quick, machine, rows }, null, 2)}\n`)
  }
  return failed === 0 ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error.code?.startsWith('ERR_PARSE_ARGS') ? `${error.message}\n${USAGE}` : error)
  process.exitCode = 2
}
