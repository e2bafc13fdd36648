import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileFixture } from '../connections/fixtures/compile.ts'

test('calls that have ended leave nothing that keeps the process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-'))
  try {
    const child = spawn(process.execPath, [compileFixture(new URL('fixtures/exit.ts', import.meta.url), folder)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const status = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)))
    clearTimeout(timer)
    expect({ output, status }).toEqual({ output: 'cancelled cancelled cancelled cancelled timed_out cancelled', status: 0 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
