import { expect, test } from 'vitest'
import { auditLog, openTelemetry, redact, retry, toolList } from '../../../src/plugins/builtin/index.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import { memoryMeter, memoryTracer } from './in-memory-telemetry.ts'
import { toolCalls } from './kit.ts'

test('all of them in two sessions at once, twice each: every call ends once, and nothing of one is in the other', async () => {
  const s = scriptedServer({ tools: { run: { run: ({ a }) => `got ${a as string}` }, drop: {} } })
  const lines: { readonly session: string; readonly tool: string; readonly outcome: string }[] = []
  const { tracer, spans } = memoryTracer()
  const all = [
    toolList({ deny: ['drop'] }),
    toolList({ allow: ['run', 'drop'] }),
    redact({ patterns: ['tok-[a-z]{8}'] }),
    redact({ keys: ['password'] }),
    retry(),
    auditLog({ write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
    openTelemetry({ tracer, meter: memoryMeter().meter }),
  ]
  await using t = await openTestRuntime({ threadWide: { s }, hooks: all, session: { id: 'one' } })
  const other = await t.openSession({ id: 'two' })
  const calls = [t.session, other].flatMap((session) =>
    Array.from({ length: 200 }, (_, n) =>
      session.callTool({ server: 's', tool: n % 4 === 0 ? 'drop' : 'run', arguments: { a: `${n} tok-abcdefgh`, password: n } }),
    ),
  )
  const outcomes = await Promise.all(calls)
  const count = (wanted: string): number => outcomes.filter(({ outcome }) => outcome === wanted).length
  expect([count('completed'), count('refused')]).toEqual([300, 100])
  expect(toolCalls(t)).toHaveLength(300)
  expect(JSON.stringify(toolCalls(t))).not.toContain('tok-abcdefgh')
  await other.close()
  for (const id of ['one', 'two']) expect(lines.filter(({ session }) => session === id)).toHaveLength(200)
  expect(spans.filter(({ isEnded }) => isEnded)).toHaveLength(400)
})
