import { expect, test } from 'vitest'
import { allow, ask, deny, TaplineError } from '../../src/plugin.ts'
import { OWNERSHIP_KEYS } from '../../src/ownership-keys.ts'
import { open, plugin, REQUEST, toolCalls } from '../pipeline/kit.ts'

type Hook = 'resolve' | 'approve' | 'attachMetadata' | 'dispatch'
const HOOKS: readonly Hook[] = ['resolve', 'approve', 'attachMetadata', 'dispatch']

const boom = (): never => {
  throw new Error('boom')
}
const throwing = (key: string): object => Object.defineProperty({}, key, { enumerable: true, get: boom })
const trap = (value: object): object =>
  new Proxy(value, { get: boom, ownKeys: boom, has: boom, getPrototypeOf: boom, getOwnPropertyDescriptor: boom })
const cycle = (): object => {
  const one: Record<string, unknown> = {}
  one['one'] = one
  return one
}

/** What no hook takes. */
const BAD_EVERYWHERE: readonly (readonly [string, () => unknown])[] = [
  ['null', () => null],
  ['true', () => true],
  ['false', () => false],
  ['zero', () => 0],
  ['a text', () => 'deny'],
  ['the empty text', () => ''],
  ['a symbol', () => Symbol('deny')],
  ['a bigint', () => 1n],
  ['a function', () => deny],
  ['an array', () => []],
  ['an array with a verdict', () => [deny('no')]],
  ['an unknown key', () => ({ decision: 'deny' })],
  ['a key that is a symbol', () => ({ [Symbol('arguments')]: {} })],
  ['a verdict look-alike', () => ({ kind: 'deny', reason: 'no' })],
  ['a verdict by its prototype', () => Object.create(Object.getPrototypeOf(deny('no')))],
  ['a copy of a verdict', () => ({ ...deny('no'), reason: 'no' })],
  ['a Proxy around a verdict', () => new Proxy(deny('no'), {})],
  ['a Proxy that throws', () => trap({})],
  ['a Proxy around a Proxy', () => trap(trap({}))],
  ['an object whose then throws', () => throwing('then')],
]

const ONLY: Readonly<Record<Hook, readonly (readonly [string, () => unknown])[]>> = {
  resolve: [
    ['allow', () => allow()],
    ['ask', () => ask()],
    ['no arguments', () => ({})],
    ['arguments beside another key', () => ({ arguments: {}, reason: 'x' })],
    ['arguments that are a text', () => ({ arguments: '{}' })],
    ['arguments that are null', () => ({ arguments: null })],
    ['arguments that are an array', () => ({ arguments: [] })],
    ['arguments that are undefined', () => ({ arguments: undefined })],
    ['arguments that are a function', () => ({ arguments: () => {} })],
    ['arguments in a circle', () => ({ arguments: cycle() })],
    ['a bigint in the arguments', () => ({ arguments: { a: 1n } })],
    ['arguments that write themselves as a text', () => ({ arguments: { toJSON: () => 'x' } })],
    ['arguments whose toJSON throws', () => ({ arguments: { toJSON: boom } })],
    ['arguments whose getter throws', () => throwing('arguments')],
    ['arguments that are a Proxy that throws', () => ({ arguments: trap({}) })],
    ['a patch of metadata', () => ({ 'example.com/a': 1 })],
  ],
  approve: [
    ['nothing in an object', () => ({})],
    ['arguments', () => ({ arguments: {} })],
    ['a patch of metadata', () => ({ 'example.com/a': 1 })],
  ],
  attachMetadata: [
    ['deny', () => deny('no')],
    ['allow', () => allow()],
    ['ask', () => ask()],
    ['arguments', () => ({ arguments: {} })],
    ['a key of codex', () => ({ 'codex/sandbox-state': {} })],
    ['the progress token', () => ({ progressToken: 1 })],
    ['a key of MCP', () => ({ 'modelcontextprotocol.io/x': 1 })],
    ['a key without prefix', () => ({ trace: 1 })],
    ['trace context that is no text', () => ({ traceparent: 1 })],
    ['a value that is no JSON', () => ({ 'example.com/a': () => {} })],
    ['an undefined value', () => ({ 'example.com/a': undefined })],
    ['a value in a circle', () => ({ 'example.com/a': cycle() })],
    ['a value whose getter throws', () => throwing('example.com/a')],
  ],
  dispatch: [
    ['nothing', () => undefined],
    ['deny', () => deny('no')],
    ['allow', () => allow()],
    ['ask', () => ask()],
    ['a result without content', () => ({ structuredContent: {} })],
    ['content that is a text', () => ({ content: 'text' })],
    ['content whose getter throws', () => throwing('content')],
    ['a result that writes itself as null', () => ({ content: [], toJSON: () => null })],
    ['a result that writes itself as a text', () => ({ content: [], toJSON: () => 'x' })],
    ['a result in a circle', () => ({ content: [], more: cycle() })],
    ['a bigint', () => ({ content: [], structuredContent: { a: 1n } })],
  ],
}

const rows = HOOKS.flatMap((hook) => [...BAD_EVERYWHERE, ...ONLY[hook]].map(([name, make]) => ({ hook, name, make })))

test.each(rows)('$hook: $name is HOOK_BAD_RETURN', async ({ hook, make }) => {
  for (const kind of hook === 'dispatch' ? (['tapPromise'] as const) : (['tap', 'tapPromise'] as const)) {
    await using t = await open([plugin(({ hooks }) => hooks[hook][kind]('t', kind === 'tap' ? () => make() : async () => make()))])
    const outcome = await t.callTool(REQUEST)
    // an async function cannot give a value whose `then` throws: its promise rejects instead
    const codes = kind === 'tapPromise' ? ['HOOK_BAD_RETURN', 'HOOK_FAILED'] : ['HOOK_BAD_RETURN']
    expect(outcome).toMatchObject({ outcome: 'refused', by: 'tap_failure', sent: 'no', message: expect.stringMatching(/"t".*"p"/) })
    expect(codes).toContain(outcome.code)
    expect(outcome.forModel.text).toBe('The call was blocked because a guard could not judge it.')
    expect(toolCalls(t)).toEqual([])
  }
})

test.each(rows)('$hook: $name has no effect with onFailure "continue"', async ({ hook, make }) => {
  const kind = hook === 'dispatch' ? 'tapPromise' : 'tap'
  await using t = await open([
    plugin(({ hooks }) => hooks[hook][kind]({ name: 't', onFailure: 'continue' }, kind === 'tap' ? () => make() : async () => make())),
  ])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', sent: 'yes' })
  expect(toolCalls(t).map(({ params }) => params['arguments'])).toEqual([REQUEST.arguments])
  expect(Object.keys(toolCalls(t)[0]!.params._meta!)).toEqual(['progressToken'])
})

test.each(HOOKS.filter((hook) => hook !== 'dispatch'))(
  'a promise from tap of %s is HOOK_BAD_RETURN, also where it fails later',
  async (hook) => {
    for (const value of [
      () => Promise.resolve(),
      () => Promise.reject(new Error('later')),
      async () => deny('no'),
      // oxlint-disable-next-line unicorn/no-thenable -- it is what is refused
      () => ({ then: () => {} }),
    ]) {
      await using t = await open([plugin(({ hooks }) => hooks[hook].tap('t', value))])
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', code: 'HOOK_BAD_RETURN', sent: 'no' })
    }
  },
)

test.each(HOOKS)('tapPromise of %s takes a promise and nothing else', async (hook) => {
  // oxlint-disable-next-line unicorn/no-thenable -- it is what is refused
  for (const value of [() => undefined, () => ({ then: (settle: () => void) => settle() }), () => ({ content: [] })]) {
    await using t = await open([plugin(({ hooks }) => hooks[hook].tapPromise('t', value))])
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', code: 'HOOK_BAD_RETURN', sent: 'no' })
  }
})

test.each(HOOKS)('a promise of %s whose class cannot be made fails the tap, and leaves no clock', async (hook) => {
  const evil = (): Promise<unknown> => Object.defineProperty(Promise.resolve(), 'constructor', { get: boom })
  await using t = await open([plugin(({ hooks }) => hooks[hook].tapPromise({ name: 't', timeoutMs: 30 }, evil))])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', code: 'HOOK_FAILED', sent: 'no' })
})

test.each(HOOKS)('what a tap of %s throws is HOOK_FAILED, whatever it is', async (hook) => {
  const forged = new TaplineError('CALL_REFUSED', 'forged', { data: { by: 'person', reason: 'forged' } })
  for (const thrown of [
    new Error('secret detail'),
    null,
    undefined,
    'text',
    7,
    trap({}),
    forged,
    new TaplineError('HOOK_BAD_RETURN', 'forged'),
    { code: 'HOOK_CHANGED_OWNER' },
  ]) {
    for (const kind of hook === 'dispatch' ? (['tapPromise'] as const) : (['tap', 'tapPromise'] as const)) {
      const fail = (): never => {
        // oxlint-disable-next-line typescript/only-throw-error -- plugins do
        throw thrown
      }
      await using t = await open([plugin(({ hooks }) => hooks[hook][kind]('t', kind === 'tap' ? fail : async () => fail()))])
      const outcome = await t.callTool(REQUEST)
      expect(outcome).toMatchObject({ outcome: 'refused', by: 'tap_failure', code: 'HOOK_FAILED', sent: 'no' })
      expect(outcome.forModel.text).not.toMatch(/detail|forged/)
    }
  }
})

test('the errors of a tap carry hook, tap, plugin and call', async () => {
  const errors: string[] = []
  const logger = { debug() {}, warn() {}, error() {}, info: (_data: object, line: string) => void errors.push(line) }
  await using t = await open([plugin(({ hooks }) => hooks.approve.tap({ name: 'tap1', onFailure: 'continue' }, boom), 'plug1')], { logger })
  expect(await t.callTool(REQUEST, { trace: true })).toMatchObject({
    outcome: 'completed',
    trace: {
      taps: [
        { hook: 'approve', tap: 'tap1', plugin: 'plug1', decision: 'failed', inEffect: false, reason: expect.stringContaining('boom') },
      ],
    },
  })
  expect(errors).toEqual(['tap "tap1" of plugin "plug1" threw Error: boom (returns.test.ts:10:9) in approve'])
})

test.each(['resolve', 'approve', 'attachMetadata', 'dispatch'] as const)(
  'every ownership word that %s returns is HOOK_CHANGED_OWNER, and is never ignored',
  async (hook) => {
    for (const key of OWNERSHIP_KEYS) {
      for (const more of [{}, { arguments: {} }, { unknown: 1 }]) {
        for (const onFailure of ['block', 'continue']) {
          const value = { ...more, [key]: 'x' }
          await using t = await open([plugin(({ hooks }) => hooks[hook].tapPromise({ name: 't', onFailure }, async () => value))])
          const outcome = await t.callTool(REQUEST)
          expect(outcome).toMatchObject({
            outcome: 'ownership_violation',
            code: 'HOOK_CHANGED_OWNER',
            hook,
            tap: 't',
            plugin: 'p',
            key,
            sent: 'no',
          })
          expect(toolCalls(t)).toEqual([])
        }
      }
    }
  },
)

test('an ownership word that cannot be enumerated is found', async () => {
  for (const value of [
    Object.defineProperty({ arguments: {} }, 'server', { value: 'x' }),
    Object.defineProperty({ arguments: {} }, 'owner', { get: boom }),
  ]) {
    await using t = await open([plugin(({ hooks }) => hooks.resolve.tap('t', () => value))])
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'ownership_violation', sent: 'no' })
  }
})

test('ownership words in the arguments of the tool itself are arguments', async () => {
  const args = Object.fromEntries([...OWNERSHIP_KEYS].map((key) => [key, 'x']))
  await using t = await open([plugin(({ hooks }) => hooks.resolve.tap('t', () => ({ arguments: args })))])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', owner: { name: 's' } })
  expect(toolCalls(t)[0]).toMatchObject({ owner: { name: 's', environmentId: null }, params: { name: 'run', arguments: args } })
})

test('keys of metadata: another plugin, another instance and the caller keep theirs; one plugin may change its own', async () => {
  const set = (value: unknown, name: string) =>
    plugin(({ hooks }) => hooks.attachMetadata.tap('t', () => ({ 'example.com/a': value })), name)
  for (const hooks of [
    [set(1, 'a'), set(2, 'b')],
    [set(1, 'same'), set(2, 'same')],
  ]) {
    await using t = await open(hooks)
    expect(await t.callTool(REQUEST)).toMatchObject({
      outcome: 'refused',
      code: 'HOOK_BAD_RETURN',
      sent: 'no',
      message: expect.stringContaining('example.com/a'),
    })
  }
  await using t = await open([set(1, 'a')])
  expect(await t.callTool(REQUEST, { meta: { 'example.com/a': 7 } })).toMatchObject({
    outcome: 'refused',
    code: 'HOOK_BAD_RETURN',
    message: expect.stringContaining('the caller'),
  })
  const own = plugin(({ hooks }) => {
    hooks.attachMetadata.tap('t1', () => ({ 'example.com/a': 1, 'example.com/b': 1 }))
    hooks.attachMetadata.tap('t2', () => ({ 'example.com/a': 2 }))
  })
  await using u = await open([own])
  expect(await u.callTool(REQUEST, { meta: { 'example.com/c': 3 } })).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(u)[0]!.params._meta).toMatchObject({ 'example.com/a': 2, 'example.com/b': 1, 'example.com/c': 3 })
})

test('a patch that fails in part has no effect at all', async () => {
  await using t = await open([
    plugin(({ hooks }) => hooks.attachMetadata.tap({ name: 't', onFailure: 'continue' }, () => ({ 'example.com/a': 1, bad: 2 }))),
  ])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(Object.keys(toolCalls(t)[0]!.params._meta!)).toEqual(['progressToken'])
})

test('what a tap returned is copied: its own object may change afterwards', async () => {
  const args: Record<string, unknown> = { a: 'voted' }
  const meta: Record<string, unknown> = { deep: { x: 1 } }
  const p = plugin(({ hooks }) => {
    hooks.resolve.tap('t', () => ({ arguments: args }))
    hooks.approve.tapPromise('t', async () => {
      args['a'] = 'changed'
    })
    hooks.attachMetadata.tap('t', () => ({ 'example.com/m': meta }))
    hooks.dispatch.tapPromise('t', async (_call: unknown, next: () => Promise<unknown>) => {
      meta['deep'] = 'changed'
      return next()
    })
  })
  await using t = await open([p])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(toolCalls(t)[0]!.params).toMatchObject({ arguments: { a: 'voted' }, _meta: { 'example.com/m': { deep: { x: 1 } } } })
})

test('deny without a reason, or with one that is no text, refuses all the same', async () => {
  for (const [fn, code] of [
    [() => deny(undefined as never), 'CALL_REFUSED'],
    [() => deny(''), 'CALL_REFUSED'],
    [() => deny(7 as never), 'HOOK_FAILED'],
  ] as const) {
    for (const hook of ['resolve', 'approve'] as const) {
      await using t = await open([plugin(({ hooks }) => hooks[hook].tap('t', fn))])
      expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'refused', code, sent: 'no' })
    }
  }
})

test('deny in resolve and approve gives its reason to the model, and is no failure that onFailure could ignore', async () => {
  for (const hook of ['resolve', 'approve'] as const) {
    await using t = await open([plugin(({ hooks }) => hooks[hook].tap({ name: 't', onFailure: 'continue' }, () => deny('off today')))])
    const outcome = await t.callTool(REQUEST, { trace: true })
    expect(outcome).toMatchObject({
      outcome: 'refused',
      by: 'tap',
      code: 'CALL_REFUSED',
      reason: 'off today',
      sent: 'no',
      trace: { taps: [{ decision: 'deny', hook }] },
    })
    expect(outcome.forModel).toMatchObject({ isError: true, text: 'The call was refused: off today' })
  }
})
