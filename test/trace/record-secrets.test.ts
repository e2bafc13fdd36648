/** Secrets in records: taken out of what comes from outside, never out of what makes it a record. */
import { expect, test } from 'vitest'
import { CallArguments } from '../../src/hooks/call-arguments.ts'
import type { TraceRecord } from '../../src/trace/records.ts'
import { SessionTrace } from '../../src/trace/session-trace.ts'
import { redactRecord } from '../../src/trace/redact-record.ts'
import { Secrets } from '../../src/secrets.ts'
import { answering } from '../hooks/answering.ts'
import { plugin } from '../pipeline/kit.ts'
import { call, misfit, session, tap } from './kit.ts'

const knowing = (...values: readonly string[]): Secrets => {
  const secrets = new Secrets()
  for (const value of values) secrets.add(value)
  return secrets
}

test('a secret that is a word of ours leaves the record one', () => {
  const words = [
    'shadow',
    'session',
    'method',
    'approve',
    'enforce',
    'refused',
    'person',
    'outcome',
    'wouldHave',
    'arguments',
    'durationMs',
  ]
  const secrets = knowing(...words, 'call-1', 'tools/call', 'CALL_REFUSED', '2026-01-01T00:00:00.000Z', 'resolve', 'dropped')
  const records = [
    session('a', true, [{ name: 'guard', mode: 'shadow' }]),
    call(
      'a',
      'a.1',
      {
        taps: [tap('guard', 'deny')],
        shadow: [{ plugin: 'guard', wouldHave: ['refused'] }],
        metaKeys: [{ key: 'example.com/a', by: 'dropped' }],
        timingsMs: { approve: 1, resolve: 2 },
      },
      { outcome: 'refused', code: 'CALL_REFUSED', by: 'person' },
    ),
    { v: 1, type: 'gap', time: 't', records: 7 } as const,
  ]
  const shown = records.map((record) => redactRecord(record, secrets))
  expect(shown.map(misfit)).toEqual([null, null, null])
  expect(shown).toEqual(records)
})

test('what a session hands on is still a record, its arguments without the secret', () => {
  const records: TraceRecord[] = []
  const trace = new SessionTrace({
    header: () => session('s', true, [{ name: 'guard', mode: 'shadow' }]),
    secrets: knowing('shadow', 'session', 'method', 'arguments'),
    target: (record) => void records.push(record),
    withArguments: true,
  })
  const outcome = {
    outcome: 'completed',
    code: 'OK',
    callId: 'c',
    owner: null,
    tool: null,
    sent: 'yes',
    durationMs: 1,
    result: { content: [] },
  }
  const run = { id: 's.1', method: 'tools/call', arguments: new CallArguments({ MODE: 'shadow' }), trace: null, began: 0 } as const
  trace.add(run, outcome as never)
  trace.flush()
  expect(records.map(misfit)).toEqual([null, null])
  expect(records).toMatchObject([{ plugins: [{ mode: 'shadow' }] }, { method: 'tools/call', arguments: { value: { MODE: '[redacted]' } } }])
})

test('a secret is taken out of everything that comes from outside', () => {
  const text = 'a shadow b'
  const owner = { name: text, environmentId: text, installationId: text, display: text }
  const records = [
    {
      ...session(text, true, [{ name: text, mode: 'shadow', flag: text }]),
      environments: [{ id: text, executor: text, cwd: text }],
      flags: [{ flagKey: text, value: text, variant: text, reason: text, errorMessage: text, source: 'provider' as const }],
    },
    call(
      text,
      text,
      {
        candidates: [owner],
        taps: [tap(text, 'deny', { tap: text, reason: text })],
        shadow: [{ plugin: text, wouldHave: ['refused'] }],
        notes: [{ hook: 'approve', tap: text, plugin: text, text }],
        metaKeys: [{ key: text, by: text }],
        connection: { id: text, reused: true },
      },
      {
        callId: text,
        owner,
        tool: text,
        message: text,
        reason: text,
        by: text,
        arguments: { bytes: 1, digest: 'd', value: { [text]: [text] } },
      },
    ),
  ]
  const shown = records.map((record) => redactRecord(record, knowing('shadow')))
  expect(shown.map(misfit)).toEqual([null, null])
  // what is left is ours: the modes, and the list of the trace
  expect(JSON.stringify(shown).match(/shadow/g)).toHaveLength(3)
  expect(JSON.stringify(shown)).not.toContain('a shadow')
  expect(shown[1]).toMatchObject({ arguments: { value: { 'a [redacted] b': ['a [redacted] b'] } } })
})

test('a secret across the place where a note or the words of an error are cut is taken out whole', async () => {
  const SECRET = 'correct-horse-battery'
  process.env['TAPLINE_TEST_CUT'] = SECRET
  try {
    const env = { TOKEN: '${TAPLINE_TEST_CUT}' }
    const says = plugin(({ hooks }) => {
      hooks.resolve.tap('notes', (_call: unknown, { note }: { note(text: string): void }) => note(`${'x'.repeat(1990)}${SECRET}`))
      hooks.approve.tap('throws', () => {
        throw new Error(`${'x'.repeat(280)}${SECRET}`)
      })
    })
    await using t = await answering('"result":{"content":[]}', [says], env)
    const outcome = await t.session.callTool({ server: 'x', tool: 'run' }, { trace: true })
    expect(outcome).toMatchObject({ outcome: 'refused', code: 'HOOK_FAILED' })
    expect(JSON.stringify(outcome)).not.toContain(SECRET.slice(0, 8))
    expect(outcome.trace!.notes![0]!.text).toHaveLength(2000)
    const broken = plugin(() => {
      throw new Error(`${'x'.repeat(280)}${SECRET}`)
    })
    const error: unknown = await answering('', [broken], env).catch((one: unknown) => one)
    expect(error).toMatchObject({ code: 'HOOK_BAD_PLUGIN' })
    expect((error as Error).message).not.toContain(SECRET.slice(0, 8))
  } finally {
    delete process.env['TAPLINE_TEST_CUT']
  }
})
