// Expectations depend on the random case.
/* oxlint-disable vitest/no-conditional-expect */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallArguments } from '../../src/hooks/call-arguments.ts'
import { CallRun } from '../../src/hooks/call-run.ts'
import { DeadlineWheel } from '../../src/hooks/deadline-wheel.ts'
import { ModeCell } from '../../src/hooks/mode-cell.ts'
import type { PluginEntry } from '../../src/hooks/registered-taps.ts'
import type { SessionHooks } from '../../src/hooks/session-hooks.ts'
import { buildHooks } from '../../src/hooks/session-hooks.ts'
import { plugin } from '../pipeline/kit.ts'

type Hook = 'resolve' | 'approve' | 'attachMetadata' | 'dispatch'
const HOOKS: readonly Hook[] = ['resolve', 'approve', 'attachMetadata', 'dispatch']

interface Registration {
  readonly name: string
  readonly stage?: number
  readonly before?: string | readonly string[]
}

/** The hooks of these plugins over built-in parts that write themselves into the log. */
function build(log: string[], ...entries: PluginEntry[]): SessionHooks {
  const step = (name: string) => (): undefined => {
    log.push(name)
  }
  return buildHooks(
    entries,
    {} as never,
    {
      resolver: step('resolver'),
      policy: step('policy'),
      sandboxContract: step('sandbox'),
      connection: () => (log.push('connection'), Promise.resolve({ content: [] })),
    },
    { wheel: new DeadlineWheel(), report: () => {} },
  )
}

const BUILTIN = { resolve: 'resolver', approve: 'policy', attachMetadata: 'sandbox', dispatch: 'connection' } as const

/** Registers on one hook and gives the order in which taps run. */
async function orderOf(hook: Hook, registrations: readonly Registration[], kind: 'tap' | 'tapPromise' = 'tapPromise'): Promise<string[]> {
  const log: string[] = []
  const p = plugin(({ hooks }) => {
    for (const one of registrations) {
      hooks[hook][hook === 'dispatch' ? 'tapPromise' : kind](one, (_call: unknown, next: () => unknown) => {
        log.push(one.name)
        if (hook === 'dispatch') return next()
        return kind === 'tap' ? undefined : Promise.resolve()
      })
    }
  })
  const hooks = build(log, { plugin: p, filter: {}, cell: new ModeCell('enforce') })
  const run = new CallRun('1', 'tools/call', new CallArguments({}), { log: () => {} } as never, null)
  run.seal({ method: 'tools/call', owner: {}, target: 'run' } as never)
  await hooks[hook].run(run)
  expect(log.filter((name) => name === BUILTIN[hook])).toHaveLength(1)
  expect(log.indexOf(BUILTIN[hook])).toBe(hook === 'resolve' ? 0 : log.length - 1)
  return log.filter((name) => name !== BUILTIN[hook])
}

const registrations = fc
  .array(fc.record({ stage: fc.constantFrom(-1000, -100, 0, 0, 0, 1, 100, 1e6, -1e6), before: fc.array(fc.nat(7), { maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((all) =>
    all.map(({ stage, before }, index) => ({
      name: `t${index}`,
      stage,
      before: [...new Set(before.filter((at) => at < all.length && at !== index).map((at) => `t${at}`))],
    })),
  )

/** Everything that a tap is in front of by its `before`, over any number of steps. */
function reach(all: readonly Registration[], name: string, seen = new Set<string>()): Set<string> {
  for (const next of all.find((one) => one.name === name)!.before ?? []) if (!seen.has(next)) reach(all, next, seen.add(next))
  return seen
}

test('before > stage > registration, for random registrations', async () => {
  await fc.assert(
    fc.asyncProperty(registrations, fc.constantFrom(...HOOKS), fc.constantFrom('tap', 'tapPromise'), async (all, hook, kind) => {
      if (all.some(({ name }) => reach(all, name).has(name))) {
        await expect(orderOf(hook, all, kind)).rejects.toMatchObject({ code: 'HOOK_BAD_TAP', message: expect.stringContaining('circle') })
        return
      }
      const order = await orderOf(hook, all, kind)
      expect(order.toSorted()).toEqual(all.map(({ name }) => name).toSorted())
      const at = new Map(order.map((name, index) => [name, index]))
      const plain = all.toSorted((a, b) => a.stage - b.stage).map(({ name }) => name)
      for (const a of all) {
        for (const b of all) {
          if (a === b) continue
          const isFirst = (at.get(a.name) as number) < (at.get(b.name) as number)
          const inFront = reach(all, a.name)
          if (inFront.has(b.name)) expect(isFirst).toBe(true)
          // a tap that nothing pulls forward keeps the place that stage and registration give it
          else if (b.before.length === 0) {
            const places = [a.name, ...inFront].map((name) => plain.indexOf(name))
            expect(isFirst).toBe(Math.min(...places) < plain.indexOf(b.name))
          }
        }
      }
    }),
    { numRuns: 400 },
  )
})

test('a tap with before keeps its place where that is in front already', async () => {
  expect(await orderOf('approve', [{ name: 'p', before: 'q' }, { name: 'r' }, { name: 'q' }])).toEqual(['p', 'r', 'q'])
  expect(await orderOf('approve', [{ name: 'x' }, { name: 'y', stage: 5, before: ['x'] }, { name: 'z', stage: 3 }])).toEqual([
    'y',
    'x',
    'z',
  ])
})

test('order is over all plugins, in the order in which they were given', async () => {
  const log: string[] = []
  const p = (name: string, stage: number) => ({
    filter: {},
    cell: new ModeCell('enforce'),
    plugin: plugin(({ hooks }) => hooks.approve.tap({ name: 'same', stage }, () => void log.push(name)), name),
  })
  const hooks = build(log, p('late', 10), p('a', 0), p('b', 0))
  const run = new CallRun('1', 'tools/call', new CallArguments({}), {} as never, null)
  run.seal({ method: 'tools/call' } as never)
  await hooks.approve.run(run)
  expect(log).toEqual(['a', 'b', 'late', 'policy'])
})

test('two instances of one plugin coexist, and before reaches both', async () => {
  const log: string[] = []
  const make = (id: string) => ({
    filter: {},
    cell: new ModeCell('enforce'),
    plugin: plugin(({ hooks }) => hooks.approve.tap('tap', () => void log.push(id)), 'twin'),
  })
  const first = plugin(
    ({ hooks }) => hooks.approve.tap({ name: 'first', stage: 1000, before: 'twin/tap' }, () => void log.push('first')),
    'f',
  )
  const hooks = build(log, make('1'), make('2'), { plugin: first, filter: {}, cell: new ModeCell('enforce') })
  const run = new CallRun('1', 'tools/call', new CallArguments({}), {} as never, null)
  run.seal({ method: 'tools/call' } as never)
  await hooks.approve.run(run)
  expect(log).toEqual(['first', '1', '2', 'policy'])
})

test.each(HOOKS)('before on %s knows no built-in part, no tap of another hook and not itself', async (hook) => {
  const other = HOOKS.find((one) => one !== hook) as Hook
  for (const name of ['resolver', 'policy', 'sandbox', 'connection', `tapline:${hook}`, 'elsewhere', 'self']) {
    const p = plugin(({ hooks }) => {
      hooks[other].tapPromise('elsewhere', async () => {})
      hooks[hook].tapPromise({ name: 'self', before: name }, async () => {})
    })
    expect(() => build([], { plugin: p, filter: {}, cell: new ModeCell('enforce') })).toThrow(
      expect.objectContaining({ code: 'HOOK_BAD_TAP', hook, tap: 'self', plugin: 'p' }),
    )
  }
})

test('a circle of before is an error that names a tap of it', () => {
  const p = plugin(({ hooks }) => {
    hooks.approve.tap({ name: 'outside' }, () => {})
    hooks.approve.tap({ name: 'a', before: 'b' }, () => {})
    hooks.approve.tap({ name: 'b', before: 'c' }, () => {})
    hooks.approve.tap({ name: 'c', before: 'a' }, () => {})
  })
  expect(() => build([], { plugin: p, filter: {}, cell: new ModeCell('enforce') })).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_TAP', message: expect.stringMatching(/"[abc]".*circle/) }),
  )
})
