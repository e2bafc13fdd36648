/** What the report of a rollout counts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallRecord, TraceRecord } from '../../src/index.ts'
import { Durations } from '../../src/trace/durations.ts'
import { SHADOW_EFFECTS } from '../../src/hooks/shadow-effects.ts'
import { Rollout } from '../../src/trace/rollout.ts'
import type { RolloutReport } from '../../src/trace/rollout-report.ts'
import { call, misfit, OWNER, session, tap } from './kit.ts'

function reportOf(records: readonly TraceRecord[]): RolloutReport {
  const rollout = new Rollout()
  for (const record of records) rollout.add(record)
  return rollout.report()
}

const REFUSED = { outcome: 'refused', code: 'CALL_REFUSED', sent: 'no', by: 'person' } as const
const SHADOWED: readonly TraceRecord[] = [
  session('a', true, [
    { name: 'guard', mode: 'shadow', flag: 'guard_mode' },
    { name: 'idle', mode: 'shadow' },
    { name: 'none', mode: 'off' },
  ]),
  session('b', false, [{ name: 'guard', mode: 'enforce' }]),
  call('a', 'a.1', { taps: [tap('guard', 'deny', { durationMs: 2 })], shadow: [{ plugin: 'guard', wouldHave: ['refused'] }] }),
  call('a', 'a.2', { taps: [tap('guard', 'deny')], shadow: [{ plugin: 'guard', wouldHave: ['refused'] }] }, REFUSED),
  call('a', 'a.3', { taps: [tap('guard', 'none')], shadow: [{ plugin: 'guard', wouldHave: [] }] }, { isError: true }),
  call('a', 'a.4', { taps: [tap('guard', 'none')], shadow: [{ plugin: 'guard', wouldHave: [] }] }, { ...REFUSED, tool: 'other' }),
  call('a', 'a.5', {
    taps: [tap('guard', 'rewrite', { hook: 'resolve', changedArguments: true }), tap('guard', 'timed_out'), tap('guard', 'skipped')],
    shadow: [{ plugin: 'guard', wouldHave: ['failed', 'rewritten'] }],
  }),
  call('b', 'b.1', { taps: [tap('guard', 'deny', { mode: 'enforce', inEffect: true })] }, { ...REFUSED, by: 'tap' }),
  call('b', 'b.2', { taps: [tap('guard', 'failed', { mode: 'enforce' })] }),
  call('lost', 'c.1', {}),
  { v: 1, type: 'gap', time: 't', records: 7 },
]

test('the fixtures are records', () => {
  expect(SHADOWED.map(misfit)).toEqual(SHADOWED.map(() => null))
})

test('plugins in shadow against what happened, plugins in force, sessions by flag', () => {
  const report = reportOf(SHADOWED)
  expect(report).toMatchObject({ sessions: 2, calls: 8, missing: 7, callsWithoutSession: 1 })
  expect(report.plugins.map(({ plugin, mode, sessions, calls }) => [plugin, mode, sessions, calls])).toEqual([
    ['guard', 'shadow', 1, 5],
    ['idle', 'shadow', 1, 0],
    ['guard', 'enforce', 1, 2],
  ])
  const [shadow, idle, enforce] = report.plugins
  expect(shadow).toMatchObject({
    effects: { failed: 1, refused: 2, rewritten: 1 },
    nothing: 2,
    stops: 3,
    stopsThatRan: 2,
    timedOut: 1,
    skipped: 1,
    examples: { failed: ['a.5'], refused: ['a.1', 'a.2'], rewritten: ['a.5'] },
  })
  // a.2 would have been stopped and was, a.3 would not have been and was not
  expect(shadow?.agreement).toBeCloseTo(2 / 5)
  expect(Object.keys(shadow?.effects ?? {})).toEqual(['failed', 'refused', 'rewritten'])
  expect(shadow?.tools).toEqual([
    { owner: OWNER, tool: 'drop', calls: 4, effects: { failed: 1, refused: 2, rewritten: 1 } },
    { owner: OWNER, tool: 'other', calls: 1, effects: {} },
  ])
  expect(shadow?.taps.map(({ hook, runs }) => [hook, runs])).toEqual([
    ['approve', 5],
    ['resolve', 1],
  ])
  expect(idle).toMatchObject({ effects: {}, agreement: null })
  expect(enforce).toMatchObject({ effects: { refused: 1 }, nothing: 1, stops: 1, stopsThatRan: null, agreement: null })
  expect(report.flags).toEqual([
    {
      flag: 'multi_environment_mcp',
      variants: [
        expect.objectContaining({
          value: true,
          variant: 'on',
          sources: ['provider'],
          sessions: 1,
          calls: 5,
          outcomes: { completed: 3, refused: 2 },
          toolErrors: 1,
        }),
        expect.objectContaining({ value: false, sessions: 1, calls: 2, outcomes: { refused: 1, completed: 1 }, toolErrors: 0 }),
      ],
    },
  ])
})

test('a call of which every tap was skipped is no call that the plugin judged, and its time is none', () => {
  const skips = tap('p', 'skipped', { durationMs: 0 })
  const [plugin] = reportOf([
    session('s', true),
    call('s', 's.1', { taps: [tap('p', 'none', { durationMs: 8 })], shadow: [{ plugin: 'p', wouldHave: [] }] }),
    ...['s.2', 's.3'].map((id) => call('s', id, { taps: [skips, skips], shadow: [{ plugin: 'p', wouldHave: [] }] })),
  ]).plugins
  expect(plugin).toMatchObject({ calls: 1, nothing: 1, skipped: 4, agreement: 1, taps: [{ runs: 1 }], tools: [{ calls: 1 }] })
})

test('a tool that is known keeps its row, however many others follow', () => {
  const calls = [...Array.from({ length: 501 }, (_, at) => `t${at}`), 't0', 't501'].map((tool, at) =>
    call('s', `s.${at}`, { taps: [tap('p', 'none')] }, { tool }),
  )
  const { tools } = reportOf([session('s', true), ...calls]).plugins[0]!
  expect(tools).toHaveLength(501)
  expect(tools.filter(({ calls: count }) => count > 1).map(({ tool, calls: count }) => [tool, count])).toEqual([
    ['t0', 2],
    [null, 2],
  ])
})

test('a tap in force that allows counts where there was a question, as one in shadow does', () => {
  const allows = [tap('p', 'allow', { mode: 'enforce', inEffect: true })]
  const [plugin] = reportOf([
    session('s', true),
    ...(['mode', 'not_needed', 'tap', 'person'] as const).map((source) =>
      call('s', `s.${source}`, { taps: allows, approval: { source, waitedMs: 0 } }),
    ),
  ]).plugins
  expect(plugin).toMatchObject({ calls: 4, nothing: 2, effects: { allowed: 2 }, examples: { allowed: ['s.tap', 's.person'] } })
})

test('names that objects have by themselves are counted as any other', () => {
  const odd = call(
    's',
    's.1',
    { shadow: [{ plugin: '__proto__', wouldHave: ['constructor' as never, 'refused'] }] },
    { outcome: 'toString' as never },
  )
  const report = reportOf([session('s', true), session('t', false), odd])
  expect(report.plugins[0]).toMatchObject({ plugin: '__proto__', effects: { refused: 1, constructor: 1 } })
  expect(report.flags[0]?.variants[0]?.outcomes).toEqual({ toString: 1 })
})

test('whatever the calls are: each counts once for each effect or as nothing, and the shares are shares', () => {
  const record = fc.record({
    wouldHave: fc.uniqueArray(fc.constantFrom(...SHADOW_EFFECTS)),
    outcome: fc.constantFrom<CallRecord['outcome']>('completed', 'refused', 'server_failed', 'no_approver', 'timed_out'),
    tool: fc.string(),
  })
  fc.assert(
    fc.property(fc.array(record, { minLength: 1 }), (all) => {
      const calls = all.map(({ wouldHave, outcome, tool }, index) =>
        call('s', `s.${index}`, { taps: [tap('p', 'none')], shadow: [{ plugin: 'p', wouldHave }] }, { outcome, tool }),
      )
      const [plugin] = reportOf([session('s', true), ...calls]).plugins
      for (const effect of SHADOW_EFFECTS)
        expect(plugin?.effects[effect] ?? 0).toBe(all.filter(({ wouldHave }) => wouldHave.includes(effect)).length)
      expect(plugin?.nothing).toBe(all.filter(({ wouldHave }) => wouldHave.length === 0).length)
      expect(plugin?.tools.reduce((sum, one) => sum + one.calls, 0)).toBe(all.length)
      const stopping = all.filter(({ wouldHave }) => wouldHave.some((one) => ['violated', 'failed', 'refused'].includes(one)))
      const ran = stopping.filter(({ outcome }) => outcome !== 'refused' && outcome !== 'no_approver')
      expect([plugin?.stops, plugin?.stopsThatRan]).toEqual([stopping.length, ran.length])
      expect(plugin?.agreement).toBeGreaterThanOrEqual(0)
      expect(plugin?.agreement).toBeLessThanOrEqual(1)
    }),
  )
})

test('percentiles are right within 3 %', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.01, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 300 }),
      fc.constantFrom(0.5, 0.95, 1),
      (all, share) => {
        const durations = new Durations()
        for (const one of all) durations.add(one)
        const exact = all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] as number
        expect(Math.abs((durations.at(share) ?? NaN) / exact - 1)).toBeLessThan(0.031)
      },
    ),
  )
  expect(new Durations().at(0.5)).toBeNull()
})
