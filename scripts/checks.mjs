// Runs the static checks, which are plain commands in the scripts of package.json, two at a time and with short output.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { childEnv, ROOT } from './tools.mjs'

/** The slow ones first, so that the lanes end at about the same time. */
const CHECKS = ['api:check', 'knip', 'attw', 'publint', 'lint', 'types', 'format:check']

function run(command) {
  return new Promise((resolve) => {
    const child = spawn(command, { cwd: ROOT, shell: true, stdio: ['ignore', 'pipe', 'pipe'], env: childEnv() })
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ status: 1, output: `${output}${error.message}\n` }))
    child.on('close', (status) => resolve({ status: status ?? 1, output }))
  })
}

/** Runs every check, prints one line each and what the failed ones said; resolves with the names of those. */
export async function runChecks() {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  const waiting = [...CHECKS]
  const failed = []
  async function lane() {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const began = Date.now()
      const { status, output } = await run(scripts[name])
      console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
      if (status === 0) continue
      failed.push(name)
      process.stdout.write(output.endsWith('\n') ? output : `${output}\n`)
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, os.availableParallelism()) }, lane))
  return failed
}
