// The client scenarios of the public MCP conformance suite that need no authentication, against test/conformance/client.mjs on the
// built library: `node scripts/conformance.mjs`; with `--sdk` against the SDK's own client, to compare. The suite needs Node 22.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { installServers } from './install-servers.mjs'
import { filesBelow, ROOT } from './tools.mjs'

/** Scenario → checks that must have been made, and made well: a scenario passes too where nothing was checked. */
const SCENARIOS = {
  initialize: ['mcp-client-initialization'],
  tools_call: ['tool-add-numbers'],
  'elicitation-sep1034-client-defaults': ['string', 'integer', 'number', 'enum', 'boolean'].map(
    (type) => `client-elicitation-sep1034-${type}-default`,
  ),
  'sse-retry': ['client-sse-graceful-reconnect', 'client-sse-retry-timing', 'client-sse-last-event-id'],
}
/** The one check that depends on the clock: a machine that was busy for a moment gets a second chance. */
const TIMED = 'client-sse-retry-timing'

const isNode22 = Number(process.versions.node.split('.')[0]) >= 22
const [command, before] = isNode22 ? [process.execPath, []] : ['npx', ['-y', 'node@22']]

function runSuite(suite, client, scenario, folder) {
  const args = ['client', '--command', `${process.execPath} ${client}`, '--scenario', scenario, '-o', folder, '--timeout', '60000']
  return new Promise((resolve) => {
    const child = spawn(command, [...before, suite, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ status: 1, output: `${output}${error.message}\n` }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

/** What is wrong; empty where all is well. */
async function problems(suite, client, scenario, wanted) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-conformance-'))
  try {
    const { status, output } = await runSuite(suite, client, scenario, folder)
    const checks = filesBelow(folder)
      .filter((file) => path.basename(file) === 'checks.json')
      .flatMap((file) => JSON.parse(fs.readFileSync(file, 'utf8')))
    const bad = checks.filter((check) => check.status === 'FAILURE' || check.status === 'WARNING')
    const found = [
      ...bad.map(({ id, errorMessage }) => ({ id, text: `${id}: ${errorMessage ?? 'failed'}` })),
      ...wanted.filter((id) => !checks.some((check) => check.id === id)).map((id) => ({ id, text: `${id}: was not checked` })),
    ]
    // the client itself failed, or the suite did
    if (status !== 0 && bad.length === 0) found.push({ id: '', text: `the suite ended with ${status}\n${output}` })
    return found
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function main() {
  const client = path.join('test', 'conformance', process.argv.includes('--sdk') ? 'sdk-client.mjs' : 'client.mjs')
  const { conformance } = await installServers(['conformance'])
  let failed = 0
  for (const [scenario, wanted] of Object.entries(SCENARIOS)) {
    let found = await problems(conformance, client, scenario, wanted)
    if (found.length > 0 && found.every(({ id }) => id === TIMED)) found = await problems(conformance, client, scenario, wanted)
    if (found.length > 0) failed++
    console.log(`  ${found.length === 0 ? 'pass' : 'fail'} ${scenario} (${wanted.length} checks)`)
    for (const { text } of found) console.log(`       ${text.replaceAll('\n', '\n       ')}`)
  }
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
