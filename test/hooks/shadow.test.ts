import { expect, test } from 'vitest'
import type { CallTrace, HookPlugin } from '../../src/plugin.ts'
import { allow, ask, deny } from '../../src/plugin.ts'
import type { SessionEvent } from '../../src/runtime/types.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { never, open, plugin, REQUEST, toolCalls } from '../pipeline/kit.ts'
import type { LoosePorts } from '../pipeline/kit.ts'

type Next = () => Promise<{ readonly content: readonly unknown[] }>

const shadow = (apply: (ports: LoosePorts) => unknown, name = 'p'): { readonly plugin: HookPlugin; readonly mode: 'shadow' } => ({
  plugin: plugin(apply, name),
  mode: 'shadow',
})

/** The whole trace of the next call. */
function traced(t: TestRuntime): Promise<CallTrace> {
  return new Promise((resolve) => {
    const subscription = t.session.subscribe((event: SessionEvent) => {
      if (event.type !== 'traced') return
      subscription[Symbol.dispose]()
      resolve(event.trace)
    })
  })
}

test('every kind of answer is judged and recorded, and none takes effect', async () => {
  await using t = await open([
    shadow(({ hooks }) => hooks.resolve.tap('r', () => deny('no')), 'denies'),
    shadow(({ hooks }) => hooks.resolve.tap('r', () => ({ arguments: { a: 2 } })), 'rewrites'),
    shadow(({ hooks }) => hooks.resolve.tap('r', (call: { arguments: object }) => ({ arguments: { ...call.arguments } })), 'same'),
    shadow(({ hooks }) => hooks.approve.tap('a', () => deny('no')), 'denies later'),
    shadow(({ hooks }) => hooks.approve.tap('a', () => ask('sure?')), 'asks'),
    shadow(({ hooks }) => hooks.approve.tap('a', () => allow()), 'allows what needs nobody'),
    shadow(({ hooks }) => hooks.approve.tap('a', () => null), 'nonsense'),
    shadow(({ hooks }) => hooks.approve.tap({ name: 'a', onFailure: 'continue' }, () => null), 'nonsense that may be'),
    shadow(({ hooks }) => hooks.attachMetadata.tap('m', () => ({ 'example.com/a': 1 })), 'metadata'),
    shadow(({ hooks }) => hooks.attachMetadata.tap('m', () => ({})), 'no metadata'),
    shadow(
      ({ hooks }) =>
        hooks.attachMetadata.tap('m', (_call: unknown, { addContext }: { addContext: (text: string) => void }) => addContext('x')),
      'tells the model',
    ),
    shadow(({ hooks }) => hooks.attachMetadata.tap('m', () => ({ 'codex/sandbox-state': 1 })), 'reserved'),
    shadow(({ hooks }) => {
      hooks.resolve.tapPromise('assigns', (call: { owner: unknown }) => {
        call.owner = null
      })
    }, 'assigns'),
    shadow(({ hooks }) => hooks.resolve.tap('r', () => ({ arguments: {}, environment_id: 'b' })), 'names the owner'),
  ])
  const whole = traced(t)
  const outcome = await t.callTool(REQUEST, { trace: true, meta: { 'example.com/host': 1 } })
  expect(outcome).toMatchObject({ outcome: 'completed', result: { content: [{ text: '{"a":1}' }] } })
  expect(toolCalls(t).map(({ params }) => params)).toEqual([
    { name: 'run', arguments: { a: 1 }, _meta: { 'example.com/host': 1, progressToken: expect.any(Number) as number } },
  ])
  expect(outcome.additionalContext).toBeUndefined()
  expect(t.asked).toEqual([])
  const trace = await whole
  expect(trace.taps.every(({ mode, inEffect }) => mode === 'shadow' && !inEffect)).toBe(true)
  expect(trace.taps.map(({ plugin: by, decision, changedArguments }) => [by, decision, changedArguments])).toEqual([
    ['denies', 'deny', false],
    ['rewrites', 'rewrite', true],
    ['same', 'rewrite', false],
    ['assigns', 'changed_owner', false],
    ['names the owner', 'changed_owner', false],
    ['denies later', 'deny', false],
    ['asks', 'ask', false],
    ['allows what needs nobody', 'allow', false],
    ['nonsense', 'failed', false],
    ['nonsense that may be', 'failed', false],
    ['metadata', 'patch', false],
    ['no metadata', 'patch', false],
    ['tells the model', 'none', false],
    ['reserved', 'failed', false],
  ])
  expect(trace.taps[0]).toMatchObject({ hook: 'resolve', tap: 'r', reason: 'no' })
  expect(Object.fromEntries(trace.shadow.map(({ plugin: by, wouldHave }) => [by, wouldHave]))).toEqual({
    denies: ['refused'],
    rewrites: ['rewritten'],
    same: [],
    assigns: ['violated'],
    'names the owner': ['violated'],
    'denies later': ['refused'],
    asks: ['asked'],
    'allows what needs nobody': [],
    nonsense: ['failed'],
    'nonsense that may be': [],
    metadata: ['metadata'],
    'no metadata': [],
    'tells the model': ['context'],
    reserved: ['failed'],
  })
  // what is synchronous is in the trace of the outcome too
  expect(outcome.trace!.taps).toHaveLength(14)
  expect(trace.metaKeys).toEqual([])
  expect(t.session.diagnostics).toEqual([])
})

test('a tap in shadow sees what the enforced ones have made of the call, and no other tap in shadow', async () => {
  const seen: unknown[] = []
  const note = (call: { arguments: unknown }, { mode }: { mode: string }): void => void seen.push([mode, call.arguments])
  await using t = await open([
    shadow(({ hooks }) => {
      hooks.resolve.tap({ name: 'rewrites', stage: -3 }, () => ({ arguments: { a: 'shadow' } }))
      hooks.resolve.tap({ name: 'before', stage: -2 }, note)
    }),
    plugin(({ hooks }) => {
      hooks.resolve.tap({ name: 'rewrites', stage: -1 }, () => ({ arguments: { a: 2 } }))
      hooks.resolve.tap({ name: 'last', stage: 10 }, () => ({ arguments: { a: 3 } }))
    }, 'enforced'),
    shadow(({ hooks }) => {
      hooks.resolve.tapPromise('after', async (call: { arguments: unknown }, context: { mode: string }) => {
        await Promise.resolve()
        note(call, context)
      })
    }, 'q'),
  ])
  await t.callTool(REQUEST)
  expect(seen).toEqual([
    ['shadow', { a: 1 }],
    ['shadow', { a: 2 }],
  ])
  expect(toolCalls(t)[0]!.params['arguments']).toEqual({ a: 3 })
})

test('a tap that hangs holds nothing up; the whole trace comes when its limit is over', async () => {
  let signal: AbortSignal | undefined
  await using t = await open([
    shadow(({ hooks }) =>
      hooks.approve.tapPromise({ name: 'hangs', timeoutMs: 50 }, (_call: unknown, context: { signal: AbortSignal }) => {
        ;({ signal } = context)
        return never()
      }),
    ),
  ])
  const events: string[] = []
  t.session.subscribe(({ type }) => void (type === 'settled' || type === 'traced' ? events.push(type) : 0))
  const whole = traced(t)
  const outcome = await t.callTool(REQUEST, { trace: true })
  expect(outcome).toMatchObject({ outcome: 'completed', trace: { taps: [], shadow: [] } })
  expect(events).toEqual(['settled'])
  expect(signal!.aborted).toBe(false)
  expect(await whole).toMatchObject({
    taps: [{ decision: 'timed_out', mode: 'shadow', inEffect: false }],
    shadow: [{ plugin: 'p', wouldHave: ['failed'] }],
  })
  expect(events).toEqual(['settled', 'traced'])
  expect(signal!.aborted).toBe(true)
})

test('the taps of one plugin run one after the other, as they would in the call, its observers last', async () => {
  const log: string[] = []
  let go = (): void => {}
  await using t = await open([
    shadow(({ hooks }) => {
      hooks.resolve.tapPromise('r', async () => {
        await new Promise<void>((resolve) => (go = resolve))
        log.push('resolve')
      })
      hooks.approve.tap('a', () => void log.push('approve'))
      hooks.dispatch.tapPromise('d', async (_call: unknown, next: Next) => {
        const result = await next()
        log.push(`dispatch ${JSON.stringify(result.content)}`)
        return result
      })
      hooks.settled.tap(
        's',
        ({ outcome, trace }: { outcome: { outcome: string }; trace: CallTrace }) =>
          void log.push(`settled ${outcome.outcome} ${trace.taps.map(({ tap }) => tap).join()}`),
      )
    }),
    plugin(({ hooks }) => hooks.settled.tap('s', () => void log.push('enforced settled')), 'other'),
  ])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(log).toEqual(['enforced settled'])
  const whole = traced(t)
  go()
  expect((await whole).taps.map(({ tap }) => tap)).toEqual(['r', 'a', 'd'])
  expect(log).toEqual([
    'enforced settled',
    'resolve',
    'approve',
    'dispatch [{"type":"text","text":"{\\"a\\":1}"}]',
    'settled completed r,a,d',
  ])
})

test('dispatch: what a tap would have made of the result, without the connection', async () => {
  await using t = await open([
    shadow(({ hooks }) => hooks.dispatch.tapPromise('d', (_call: unknown, next: Next) => next()), 'passes'),
    shadow(({ hooks }) => hooks.dispatch.tapPromise('d', async (_call: unknown, next: Next) => ({ ...(await next()) })), 'copies'),
    shadow(
      ({ hooks }) => hooks.dispatch.tapPromise('d', async (_call: unknown, next: Next) => ({ content: (await next()).content.slice(1) })),
      'changes',
    ),
    shadow(({ hooks }) => hooks.dispatch.tapPromise('d', async () => ({ content: [] })), 'answers'),
    shadow(
      ({ hooks }) => hooks.dispatch.tapPromise('d', async (_call: unknown, next: Next) => (await next(), await next(), next())),
      'repeats',
    ),
    shadow(
      ({ hooks }) =>
        hooks.dispatch.tapPromise('d', async (_call: unknown, next: Next) => {
          const result = await next()
          ;(result as { content: unknown }).content = []
          return result
        }),
      'mutates',
    ),
    shadow(
      ({ hooks }) => hooks.dispatch.tapPromise('d', (_call: unknown, next: (call: unknown) => unknown) => next({ owner: 1 })),
      'moves',
    ),
  ])
  const whole = traced(t)
  const outcome = await t.callTool(REQUEST, { trace: true })
  const { taps, shadow: summary } = await whole
  expect(
    Object.fromEntries(taps.map(({ plugin: by, decision, nextCalls, changedResult }) => [by, [decision, nextCalls, changedResult]])),
  ).toEqual({
    passes: ['called_next', 1, false],
    copies: ['called_next', 1, false],
    changes: ['called_next', 1, true],
    answers: ['answered', 0, undefined],
    repeats: ['called_next', 3, false],
    mutates: ['failed', 1, undefined],
    moves: ['changed_owner', 0, undefined],
  })
  expect(Object.fromEntries(summary.map(({ plugin: by, wouldHave }) => [by, wouldHave]))).toEqual({
    passes: [],
    copies: [],
    changes: ['changed_result'],
    answers: ['answered'],
    repeats: ['repeated'],
    mutates: ['failed'],
    moves: ['violated'],
  })
  expect(toolCalls(t)).toHaveLength(1)
  if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  // the host's own: not even frozen
  expect(outcome.result).toEqual({ content: [{ type: 'text', text: '{"a":1}' }] })
  expect(Object.isFrozen(outcome.result) || Object.isFrozen(outcome.result.content)).toBe(false)
})

test('dispatch: a rejection is replayed as it came, and what was never sent runs no tap', async () => {
  const errors: unknown[] = []
  const watches = shadow(({ hooks }) =>
    hooks.dispatch.tapPromise('d', async (_call: unknown, next: Next) => {
      try {
        return await next()
      } catch (error) {
        errors.push(error)
        throw error
      }
    }),
  )
  const refuses = plugin(
    ({ hooks }) => hooks.approve.tap('a', (call: { arguments: { no?: boolean } }) => (call.arguments.no ? deny('no') : undefined)),
    'e',
  )
  const fails = plugin(
    ({ hooks }) =>
      hooks.dispatch.tapPromise({ name: 'f', stage: 1 }, async () => {
        throw new Error('boom')
      }),
    'f',
  )
  await using t = await open([watches, refuses, fails])
  const whole = traced(t)
  const outcome = await t.callTool(REQUEST, { trace: true })
  expect(outcome).toMatchObject({ outcome: 'refused', code: 'HOOK_FAILED' })
  expect((await whole).taps.at(-1)).toMatchObject({ plugin: 'p', decision: 'called_next', nextCalls: 1, mode: 'shadow' })
  expect(errors).toMatchObject([{ code: 'HOOK_FAILED', tap: 'f' }])
  const second = traced(t)
  expect(await t.callTool({ ...REQUEST, arguments: { no: true } }, { trace: true })).toMatchObject({ outcome: 'refused' })
  expect((await second).taps.map(({ hook, mode }) => [hook, mode])).toEqual([['approve', 'enforce']])
  expect(errors).toHaveLength(1)
})

test('an observer in shadow gets a frozen outcome, and the host keeps its own', async () => {
  let shown: { outcome: { result: object; forModel: { text: string } } } | undefined
  await using t = await open([shadow(({ hooks }) => hooks.settled.tap('s', (event: NonNullable<typeof shown>) => void (shown = event)))])
  const outcome = await t.callTool(REQUEST)
  if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  expect(Object.isFrozen(outcome.result)).toBe(false)
  expect(Object.isFrozen(shown!.outcome.result)).toBe(true)
  expect(shown!.outcome).toMatchObject({ outcome: 'completed', result: outcome.result, forModel: { text: outcome.forModel.text } })
})

test('an explanation waits for what runs in shadow, and sends nothing', async () => {
  await using t = await open([
    shadow(({ hooks }) => {
      hooks.approve.tapPromise('a', async () => (await Promise.resolve(), deny('no')))
      hooks.dispatch.tapPromise('d', (_call: unknown, next: Next) => next())
    }),
  ])
  const { wouldEnd, trace } = await t.session.explain(REQUEST)
  expect(wouldEnd).toBe('sent')
  expect(trace.taps).toMatchObject([{ tap: 'a', decision: 'deny', mode: 'shadow', inEffect: false }])
  expect(trace.shadow).toEqual([{ plugin: 'p', wouldHave: ['refused'] }])
  expect(toolCalls(t)).toEqual([])
})

test('a plugin in shadow that cannot be set up is left out, and the session opens', async () => {
  const before = (name: string) => (ports: LoosePorts) => ports.hooks.approve.tap({ name: 'late', before: name }, () => deny('no'))
  await using t = await open([
    shadow(() => {
      throw new Error('boom')
    }, 'throws'),
    shadow(before('nobody'), 'unknown'),
    shadow(({ hooks }) => {
      hooks.approve.tap('twice', () => {})
      hooks.approve.tap('twice', () => {})
    }, 'twice'),
    { plugin: { name: '' } as never, mode: 'shadow' },
    shadow(({ hooks }) => hooks.approve.tap({ name: 'a', before: 'b' }, () => {}), 'circle'),
    plugin(({ hooks }) => hooks.approve.tap({ name: 'b', before: 'a' }, () => {}), 'enforced'),
  ])
  expect(t.session.diagnostics.map(({ code }) => code).sort()).toEqual([
    // the tap of nobody may be one of a plugin that is left out
    'before_fits_nothing',
    'before_fits_nothing',
    ...Array.from({ length: 4 }, () => 'shadow_plugin_failed'),
  ])
  expect(t.session.diagnostics.find(({ message }) => message.includes('boom'))!.message).toMatch(/plugin "throws" cannot run in shadow/)
  const outcome = await t.callTool(REQUEST, { trace: true })
  expect(outcome).toMatchObject({
    outcome: 'completed',
    trace: {
      taps: [
        { tap: 'late', mode: 'shadow' },
        { tap: 'b', mode: 'enforce' },
      ],
    },
  })
})

test('an unknown name in before is a mistake where every plugin is on, and only a diagnostic of one in shadow', async () => {
  const late = ({ hooks }: LoosePorts): void => hooks.approve.tap({ name: 'late', before: 'nobody' }, () => {})
  await expect(open([plugin(late)])).rejects.toMatchObject({ code: 'HOOK_BAD_TAP' })
  await using t = await open([shadow(late)])
  expect(t.session.diagnostics).toMatchObject([{ code: 'shadow_plugin_failed', message: expect.stringContaining('"nobody"') }])
  expect(t.session.hookPlugins).toEqual([{ name: 'p', mode: 'off', openedAs: 'shadow', flag: null }])
})

test('the session closes at once where nobody wants a trace, and lets taps in shadow end for a moment where somebody does', async () => {
  const hangs = shadow(({ hooks }) => hooks.approve.tapPromise('hangs', () => never()))
  const t = await open([hangs])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  await t.close()

  let go = (): void => {}
  const slow = shadow(({ hooks }) =>
    hooks.approve.tapPromise('slow', async () => (await new Promise<void>((resolve) => (go = resolve)), deny('no'))),
  )
  const second = await open([slow], { session: { trace: true } })
  const whole = traced(second)
  await second.callTool(REQUEST)
  const closing = second.close()
  go()
  await closing
  expect(await whole).toMatchObject({ shadow: [{ wouldHave: ['refused'] }] })

  const third = await open([hangs], { session: { trace: true } })
  const cut = traced(third)
  await third.callTool(REQUEST)
  await third.close()
  expect(await cut).toMatchObject({
    taps: [{ decision: 'skipped', reason: expect.stringContaining('closed') }],
    shadow: [{ wouldHave: [] }],
  })
})

test('a plugin that hangs in many calls does not fill the memory: from 1000 taps on they are skipped', async () => {
  let running = 0
  await using t = await open([
    shadow(({ hooks }) =>
      hooks.approve.tapPromise({ name: 'hangs', timeoutMs: 60_000 }, () => {
        running++
        return never()
      }),
    ),
  ])
  await t.session.listTools()
  const outcomes = await Promise.all(Array.from({ length: 1010 }, () => t.callTool(REQUEST, { trace: true })))
  expect(outcomes.every(({ outcome }) => outcome === 'completed')).toBe(true)
  expect(running).toBe(1000)
  expect(outcomes.filter(({ trace }) => trace!.taps[0]?.decision === 'skipped')).toHaveLength(10)
})
