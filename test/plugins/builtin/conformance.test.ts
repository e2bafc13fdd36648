import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { auditLog, commandHooks, dryRun, openTelemetry, redact, retry, toolList } from '../../../src/plugins/builtin/index.ts'
import type { HookPlugin } from '../../../src/plugin.ts'
import { checkPlugin } from '../../../src/testing/index.ts'
import { memoryMeter, memoryTracer } from './in-memory-telemetry.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-conformance-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const PLUGINS: readonly (readonly [string, () => HookPlugin])[] = [
  ['toolList, deny', () => toolList({ deny: ['*drop*', { servers: ['x'] }] })],
  ['toolList, allow', () => toolList({ allow: ['*'] })],
  ['retry', () => retry({ safe: [{ servers: ['*'] }] })],
  ['redact', () => redact({ patterns: ['sec[a-z]+', /\d{6}/], keys: ['password'], paths: ['/a/*'] })],
  ['auditLog', () => auditLog({ file: path.join(folder, 'audit.jsonl'), arguments: 'full' })],
  ['dryRun', () => dryRun()],
  ['openTelemetry', () => openTelemetry({ tracer: memoryTracer().tracer, meter: memoryMeter().meter, arguments: true, results: true })],
]

test.each(PLUGINS)(
  '%s keeps every rule of the conformance kit',
  async (_, make) => {
    // 500 calls at once are enough to see what two thousand would show; time is not what is tested here
    expect((await checkPlugin(make(), { calls: 500, budgetMs: 5000, hangMs: 4000 })).findings).toEqual([])
  },
  120_000,
)

test('command hooks keep them too', async () => {
  const hook = { hooks: [{ type: 'command', command: 'exec cat >/dev/null' }] }
  const plugin = await commandHooks({ cwd: folder, hooks: { PreToolUse: [hook], PermissionRequest: [hook], PostToolUse: [hook] } })
  // each call starts processes
  expect((await checkPlugin(plugin, { calls: 4, budgetMs: 20_000, hangMs: 10_000 })).findings).toEqual([])
}, 120_000)
