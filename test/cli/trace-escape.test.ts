// Trace files come from other machines and people: whatever text stands in a record, a terminal is shown text and nothing else.
import picocolors from 'picocolors'
import { expect, test } from 'vitest'
import type { TraceRecord } from '../../src/index.ts'
import { rolloutText } from '../../src/cli/render/rollout.ts'
import { recordText } from '../../src/cli/render/trace-file.ts'
import { Rollout } from '../../src/trace/rollout.ts'
import { call, misfit, OWNER, session, tap } from '../trace/kit.ts'

const paint = picocolors.createColors(false)
const EVIL = ' \u001b[2J\u001b]0;t\u0007 \u009b31m \u202e\u2066 \u0000\b\r \u2028x'
const FULL: readonly TraceRecord[] = [
  session('a', true, [{ name: 'guard', mode: 'shadow', flag: 'guard_mode' }]),
  call(
    'a',
    'a.1',
    {
      candidates: [OWNER],
      taps: [
        tap('guard', 'deny', { reason: 'r' }),
        tap('guard', 'called_next', { hook: 'dispatch' }),
        tap('guard', 'rewrite', { hook: 'resolve' }),
      ],
      shadow: [{ plugin: 'guard', wouldHave: ['refused'] }],
      approval: { source: 'person', waitedMs: 2 },
      metaKeys: [{ key: 'k', by: 'b' }],
      notes: [{ hook: 'approve', tap: 't', plugin: 'p', text: 'n' }],
      connection: { id: 'c1', reused: true },
      timingsMs: { resolve: 1, approve: 1, attachMetadata: 1, dispatch: 1, server: 1 },
    },
    { outcome: 'refused', code: 'CALL_REFUSED', sent: 'no', message: 'm', by: 'person' },
  ),
  { v: 1, type: 'gap', time: 't', records: 7 },
]

/** The record once for each text in it, with the evil one behind that. */
function* spoilt(record: TraceRecord): Generator<TraceRecord> {
  const paths: (readonly (string | number)[])[] = []
  const look = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value === 'string') paths.push(path)
    else if (typeof value === 'object' && value !== null) for (const [key, member] of Object.entries(value)) look(member, [...path, key])
  }
  look(record, [])
  for (const path of paths) {
    const copy = structuredClone(record)
    let at: any = copy
    for (const key of path.slice(0, -1)) at = at[key]
    at[path.at(-1)!] += EVIL
    if (misfit(copy) === null) yield copy
  }
}

test.each(FULL.map((record) => [record.type, record] as const))('every text of a record of a %s', (_type, record) => {
  expect(misfit(record)).toBeNull()
  const all = [...spoilt(record)]
  expect(all.length).toBeGreaterThan(0)
  for (const one of all) {
    const rollout = new Rollout()
    for (const other of FULL) rollout.add(other === record ? one : other)
    const shown = recordText(one, paint) + rolloutText(rollout.report(), paint)
    // oxlint-disable-next-line no-control-regex -- that is the question
    expect(shown.replaceAll('\n', ''), JSON.stringify(one)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
  }
})
