// Everything a change must pass, from a fresh clone on: install, build, static checks, tests.
// `--unit` leaves the static checks out; `--real` runs the tests against real servers instead, which it installs into a cache.
// Further arguments go to vitest. TAPLINE_TEST_REPORT names a file that keeps vitest's report as JSON.
import fs from 'node:fs'
import path from 'node:path'
import { runChecks } from './checks.mjs'
import { installServers } from './install-servers.mjs'
import { prepare } from './prepare.mjs'
import { bin, CACHE, childEnv, runNode } from './tools.mjs'

/** Runs vitest with the arguments; fails too where it ran no test at all. */
function vitest(args, env = {}) {
  const own = path.join(CACHE, `report-${process.pid}.json`)
  const report = process.env.TAPLINE_TEST_REPORT || own
  fs.rmSync(report, { force: true })
  const status = runNode([bin('vitest'), 'run', ...args], { env: { ...childEnv(), ...env, TAPLINE_TEST_REPORT: report } })
  const passed = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')).numPassedTests : 0
  fs.rmSync(own, { force: true })
  if (status !== 0 || passed > 0) return status
  console.error('no test ran')
  return 1
}

async function realServers(args) {
  const scripts = await installServers()
  return vitest(['--config', 'vitest.real.config.ts', ...args], { TAPLINE_REAL_SERVERS: JSON.stringify(scripts) })
}

async function main([first, ...rest]) {
  const status = await prepare()
  if (status !== 0) return status
  if (first === '--unit') return vitest(rest)
  if (first === '--real') return realServers(rest)
  const failed = await runChecks()
  const tests = vitest(first === undefined ? [] : [first, ...rest])
  if (failed.length === 0) return tests
  console.error(`failed: ${failed.join(', ')}${tests === 0 ? '' : ', tests'}`)
  return 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
