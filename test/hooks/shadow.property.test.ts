/** Whatever a plugin in shadow does, a call ends and is sent as it would be without it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallOutcome, HookPlugin } from '../../src/plugin.ts'
import { allow, ask, deny } from '../../src/plugin.ts'
import { never, open, plugin, REQUEST, toolCalls } from '../pipeline/kit.ts'
import type { LoosePorts } from '../pipeline/kit.ts'

const HOOKS = ['resolve', 'approve', 'attachMetadata', 'dispatch', 'settled'] as const

interface Given {
  readonly call: Record<string, unknown>
  readonly context: { readonly addContext: (text: string) => void; readonly note: (text: string) => void }
  readonly next: (...args: readonly unknown[]) => Promise<{ content: unknown[] }>
}

/** Everything that a tap could do to a call, wherever it stands. */
const ACTS: Readonly<Record<string, (given: Given) => unknown>> = {
  nothing: () => undefined,
  denies: () => deny('no'),
  asks: () => ask('sure?'),
  allows: () => allow(),
  rewrites: () => ({ arguments: { a: 'other' } }),
  patches: () => ({ 'example.com/a': 1 }),
  'takes a key': () => ({ 'example.com/host': 'taken' }),
  'reserved key': () => ({ 'codex/sandbox-state': {} }),
  throws: () => {
    throw new Error('boom')
  },
  'throws nothing': () => {
    // oxlint-disable-next-line typescript/only-throw-error -- whatever a plugin does
    throw undefined
  },
  'returns null': () => null,
  'returns a number': () => 7,
  'returns a Map': () => new Map([['owner', 1]]),
  // oxlint-disable-next-line unicorn/no-thenable -- whatever a plugin does
  'returns a thenable': () => ({ then: (done: (value: unknown) => void) => done(deny('no')) }),
  'returns a promise': () => Promise.resolve(deny('late')),
  rejects: () => Promise.reject(new Error('late')),
  hangs: () => never(),
  'hostile getter': () => ({
    get arguments(): unknown {
      throw new Error('read')
    },
  }),
  'assigns the owner': ({ call }) => {
    call['owner'] = { name: 'other' }
  },
  'assigns behind a catch': ({ call }) => {
    try {
      ;(call['owner'] as Record<string, unknown>)['environmentId'] = 'b'
    } catch {
      // swallowed
    }
  },
  'names the owner': () => ({ arguments: {}, server: 'other' }),
  'speaks to the model': ({ context }) => {
    context.addContext('believe me')
    context.note('said so')
  },
  'mutates arguments': ({ call }) => {
    ;(call['arguments'] as Record<string, unknown>)['a'] = 2
  },
  'calls next and drops it': ({ next }) => void next(),
  'calls next twice': async ({ next }) => (await next(), next()),
  'passes the owner to next': ({ call, next }) => next({ ...call, owner: 1 }),
  'changes the result': async ({ next }) => ({ ...(await next()), content: [] }),
  'mutates the result': async ({ next }) => {
    const result = await next()
    result.content.push('more')
    return result
  },
}

const act = fc.record({
  hook: fc.constantFrom(...HOOKS),
  act: fc.constantFrom(...Object.keys(ACTS)),
  kind: fc.constantFrom('tap' as const, 'tapPromise' as const),
  stage: fc.constantFrom(-10, 0, 10),
  onFailure: fc.constantFrom('block' as const, 'continue' as const),
  isLate: fc.boolean(),
})
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

const register = (acts: readonly Act[]): HookPlugin =>
  plugin(({ hooks }: LoosePorts) => {
    for (const [index, one] of acts.entries()) {
      const name = `t${index}`
      const run = ACTS[one.act]!
      const options = one.hook === 'settled' ? { name } : { name, stage: one.stage, onFailure: one.onFailure, timeoutMs: 30 }
      if (one.hook === 'dispatch') {
        hooks.dispatch.tapPromise(options, (call: Given['call'], next: Given['next'], context: Given['context']) =>
          later(one, () => run({ call, next, context })),
        )
        continue
      }
      const fn = (call: Given['call'], context: Given['context']): unknown =>
        run({ call, context, next: () => Promise.resolve({ content: [] }) })
      hooks[one.hook][one.kind](options, one.kind === 'tap' ? fn : (...given: Parameters<typeof fn>) => later(one, () => fn(...given)))
    }
  }, 'shadowed')

const later = async (one: Act, run: () => unknown): Promise<unknown> => {
  if (one.isLate) await new Promise((resolve) => setImmediate(resolve))
  return run()
}

/** A plugin that enforces, around which those in shadow stand. */
const enforced = (kind: 'none' | 'sync' | 'async' | 'refuses'): HookPlugin =>
  plugin(({ hooks }) => {
    if (kind === 'none') return
    const how = kind === 'sync' ? 'tap' : 'tapPromise'
    const give = (value: unknown): (() => unknown) => (kind === 'sync' ? () => value : async () => value)
    hooks.resolve[how]('r', give({ arguments: { a: 'enforced' } }))
    hooks.approve[how]('a', kind === 'refuses' ? async () => deny('enforced') : give(ask('really?')))
    hooks.attachMetadata[how]('m', give({ 'example.com/enforced': true }))
    hooks.dispatch.tapPromise('d', async (_call: unknown, next: Given['next']) => {
      const result = await next()
      return { ...result, content: [...result.content, { type: 'text', text: 'more' }] }
    })
  }, 'enforced')

/** What can be told of a call from outside. */
async function seen(hooks: Parameters<typeof open>[0], kind: 'plain' | 'fails' | 'dates'): Promise<unknown> {
  await using t = await open(
    hooks,
    {},
    { run: { run: (args) => (kind === 'fails' ? Promise.reject(new Error('tool')) : JSON.stringify(args)) } },
  )
  const given = kind === 'dates' ? { a: new Date(0), b: undefined } : { a: 1 }
  const outcome: CallOutcome = await t.callTool({ ...REQUEST, arguments: given }, { callId: 'c', meta: { 'example.com/host': 'kept' } })
  const { durationMs: _, ...rest } = outcome
  return {
    rest: JSON.parse(JSON.stringify(rest)) as unknown,
    isFrozen: outcome.outcome === 'completed' && Object.isFrozen(outcome.result),
    forModel: outcome.forModel.text,
    // the token counts the requests of the connection
    sent: toolCalls(t).map(({ params }) => JSON.stringify(params)),
    asked: t.asked.map(({ notes, arguments: args }) => ({ notes, args })),
    errors: t.session.diagnostics.filter(({ severity }) => severity === 'error'),
  }
}

test('nothing that a plugin does in shadow changes outcome, result, arguments, _meta or questions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('none' as const, 'sync' as const, 'async' as const, 'refuses' as const),
      fc.constantFrom('plain' as const, 'fails' as const, 'dates' as const),
      async (acts, kind, input) => {
        const without = await seen([enforced(kind)], input)
        const one = register(acts)
        expect(await seen([{ plugin: one, mode: 'shadow' }, enforced(kind)], input)).toEqual(without)
        expect(await seen([{ plugin: one, mode: 'off' }, enforced(kind)], input)).toEqual(without)
      },
    ),
    { numRuns: 60 },
  )
})
