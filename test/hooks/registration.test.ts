import { expect, test } from 'vitest'
import { openTestRuntime } from '../../src/testing/index.ts'
import { open, plugin, REQUEST } from '../pipeline/kit.ts'
import type { LoosePorts } from '../pipeline/kit.ts'

const HOOKS = ['resolve', 'approve', 'attachMetadata', 'dispatch', 'settled'] as const
const fn = (): undefined => undefined
const opening = (apply: (ports: LoosePorts) => unknown): Promise<unknown> =>
  openTestRuntime({ hooks: [plugin(apply)] }).then((t) => t.close())

const BAD_OPTIONS: readonly unknown[] = [
  '',
  '  ',
  {},
  null,
  undefined,
  7,
  { name: 'x', stage: Number.NaN },
  { name: 'x', stage: Infinity },
  { name: 'x', stage: -Infinity },
  { name: 'x', stage: 1_000_001 },
  { name: 'x', stage: -1_000_001 },
  { name: 'x', stage: '5' },
  { name: 'x', stages: 5 },
  { name: 'x', before: 7 },
  { name: 'x', before: [7] },
  { name: 'x', before: 'nobody' },
  { name: 'x', methods: [] },
  { name: 'x', methods: 'tools/call' },
  { name: 'x', methods: ['tools/list'] },
  { name: 'x', timeoutMs: 0 },
  { name: 'x', timeoutMs: -1 },
  { name: 'x', timeoutMs: Infinity },
  { name: 'x', timeoutMs: Number.NaN },
  { name: 'x', onFailure: 'ignore' },
  { name: 'x', environments: 'prod' },
  { name: 'x', servers: [null] },
  { name: 'x', tools: {} },
  { name: 'x', owner: 's' },
]

test.each(BAD_OPTIONS.map((options) => [options]))('options %o of a tap are HOOK_BAD_TAP', async (options) => {
  await expect(opening(({ hooks }) => hooks.approve.tap(options, fn))).rejects.toMatchObject({
    code: 'HOOK_BAD_TAP',
    hook: 'approve',
    plugin: 'p',
  })
})

test.each([[undefined], [null], ['text'], [{}]])('a tap whose function is %j is HOOK_BAD_TAP', async (given) => {
  for (const hook of HOOKS)
    await expect(opening(({ hooks }) => hooks[hook].tapPromise('x', given))).rejects.toMatchObject({ code: 'HOOK_BAD_TAP', hook })
})

test.each([{ stage: 0 }, { before: 'x' }, { timeoutMs: 5 }, { onFailure: 'continue' }, { methods: ['tools/call'] }])(
  'an observer has no option %j',
  async (option) => {
    await expect(opening(({ hooks }) => hooks.settled.tap({ name: 'x', ...option }, fn))).rejects.toMatchObject({
      code: 'HOOK_BAD_TAP',
      hook: 'settled',
    })
  },
)

test('the ends of the range of stages are stages', async () => {
  const registering = opening(({ hooks }) => {
    hooks.approve.tap({ name: 'a', stage: 1_000_000 }, fn)
    hooks.approve.tap({ name: 'b', stage: -1_000_000 }, fn)
  })
  await expect(registering).resolves.toBeUndefined()
})

test.each(HOOKS)('the same name twice on %s from one instance is an error, on two hooks it is not', async (hook) => {
  const twice = opening(({ hooks }) => {
    hooks[hook].tapPromise('x', async () => {})
    hooks[hook].tapPromise(' x ', async () => {})
  })
  await expect(twice).rejects.toMatchObject({ code: 'HOOK_BAD_TAP', hook, tap: 'x' })
  await opening(({ hooks }) => {
    for (const one of HOOKS) hooks[one].tapPromise('x', async () => {})
  })
})

test('one instance given twice is the same taps twice', async () => {
  const p = plugin(({ hooks }) => hooks.approve.tap('x', fn))
  await expect(openTestRuntime({ hooks: [p, p] })).rejects.toMatchObject({ code: 'HOOK_BAD_TAP' })
  await expect(openTestRuntime({ hooks: [p, { plugin: p, environments: ['a'] }] })).rejects.toMatchObject({ code: 'HOOK_BAD_TAP' })
})

test('dispatch has no synchronous tap, and ports are nothing but tap and tapPromise', async () => {
  let ports: LoosePorts | undefined
  await opening((given) => void (ports = given))
  expect(Object.keys(ports!.hooks)).toEqual([...HOOKS])
  for (const hook of HOOKS) expect(Object.keys(ports!.hooks[hook])).toEqual(['tap', 'tapPromise'])
  for (const part of [ports, ports!.hooks, ...HOOKS.map((hook) => ports!.hooks[hook]), ports!.session])
    expect(Object.isFrozen(part)).toBe(true)
})

test('tap on dispatch says what to use', async () => {
  await expect(opening(({ hooks }) => hooks.dispatch.tap('x', fn))).rejects.toMatchObject({
    code: 'HOOK_BAD_TAP',
    hook: 'dispatch',
    remedy: expect.stringContaining('tapPromise'),
  })
})

test('an option that is nearly one is named', async () => {
  await expect(opening(({ hooks }) => hooks.approve.tap({ name: 'x', tool: ['a'] }, fn))).rejects.toThrow('did you mean "tools"?')
})

test('a registration after apply is refused, and changes nothing', async () => {
  let late: LoosePorts | undefined
  await using t = await open([plugin((ports) => void (late = ports))])
  for (const hook of HOOKS)
    expect(() => late!.hooks[hook].tapPromise('x', fn)).toThrow(expect.objectContaining({ code: 'HOOK_BAD_TAP', hook }))
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
})

test('a registration inside of a call is refused', async () => {
  const errors: unknown[] = []
  const p = plugin(({ hooks }) =>
    hooks.approve.tap('x', () => {
      try {
        hooks.approve.tap('y', fn)
      } catch (error) {
        errors.push(error)
      }
    }),
  )
  await using t = await open([p])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed' })
  expect(errors).toMatchObject([{ code: 'HOOK_BAD_TAP' }])
})

test.each([
  ['a promise', () => Promise.resolve()],
  ['a promise that fails', () => Promise.reject(new Error('later'))],
  ['null', () => null],
  ['a text', () => 'x'],
  // oxlint-disable-next-line unicorn/no-thenable
  ['a thenable', () => ({ then() {} })],
])('apply that returns %s fails the session, and nothing else', async (_what, apply) => {
  await expect(opening(apply)).rejects.toMatchObject({ code: 'HOOK_BAD_PLUGIN', plugin: 'p' })
})

test('apply that throws fails the session with the cause, and what earlier plugins returned is disposed of', async () => {
  const disposed: string[] = []
  const cause = new Error('no')
  const earlier = plugin(() => ({ [Symbol.dispose]: () => void disposed.push('earlier') }), 'earlier')
  const failing = plugin(() => {
    throw cause
  }, 'failing')
  await expect(openTestRuntime({ hooks: [earlier, failing] })).rejects.toMatchObject({ code: 'HOOK_BAD_PLUGIN', plugin: 'failing', cause })
  expect(disposed).toEqual(['earlier'])
})

test.each([[{}], [{ name: 'x' }], [{ name: '', apply() {} }], [{ name: 'x', apply: 7 }], [{ name: 7, apply() {} }]])(
  '%j is no plugin',
  async (given) => {
    await expect(openTestRuntime({ hooks: [given as never] })).rejects.toMatchObject({ code: 'HOOK_BAD_PLUGIN' })
  },
)

test.each([
  [null],
  ['text'],
  [{ plugin: plugin(() => {}), environments: 'production' }],
  [{ plugin: plugin(() => {}), servers: [null] }],
  [{ plugin: plugin(() => {}), tools: 'run' }],
  [{ plugin: plugin(() => {}), stage: 5 }],
  [{ plugin: null }],
])('the entry %j is HOOK_BAD_PLUGIN', async (entry) => {
  await expect(openTestRuntime({ hooks: [entry as never] })).rejects.toMatchObject({ code: 'HOOK_BAD_PLUGIN' })
})

test('apply runs once for each session; what it returned is disposed of with that session', async () => {
  const log: string[] = []
  const p = plugin(({ session }) => {
    log.push(`apply ${session.id}`)
    return { [Symbol.asyncDispose]: async () => void log.push(`dispose ${session.id} ${session.signal.aborted}`) }
  })
  const t = await openTestRuntime({ hooks: [p], session: { id: 'a' } })
  const b = await t.openSession({ id: 'b' })
  expect(log).toEqual(['apply a', 'apply b'])
  await b.close()
  await b.close()
  expect(log.slice(2)).toEqual(['dispose b true'])
  await t.close()
  expect(log.slice(3)).toEqual(['dispose a true'])
})

test('a disposable that throws is a diagnostic, and the others are disposed of all the same', async () => {
  const log: string[] = []
  const failing = plugin(
    () => ({
      [Symbol.dispose]: () => {
        throw new Error('stuck')
      },
    }),
    'failing',
  )
  const good = plugin(() => ({ [Symbol.dispose]: () => void log.push('good') }), 'good')
  const t = await openTestRuntime({ hooks: [failing, good] })
  await t.session.close()
  expect(log).toEqual(['good'])
  expect(t.session.diagnostics).toMatchObject([{ code: 'dispose_failed', message: expect.stringContaining('stuck') }])
  await t.close()
})

test('a disposable that never ends does not keep the session open', async () => {
  const t = await openTestRuntime({ hooks: [plugin(() => ({ [Symbol.asyncDispose]: () => new Promise(() => {}) }))] })
  await t.close()
  expect(t.session.diagnostics).toMatchObject([{ code: 'dispose_failed' }])
})

test('an apply that throws says where, and a misspelt hook which there are', async () => {
  const misspelt = opening(({ hooks }: any) => hooks.aprove.tap('x', () => {}))
  await expect(misspelt).rejects.toMatchObject({
    message: expect.stringMatching(/^apply of plugin "p" threw TypeError: .*reading 'tap'\) \(registration\.test\.ts:\d+:\d+\)$/),
    remedy: expect.stringContaining('the hooks are resolve, approve, attachMetadata, dispatch and settled'),
  })
  const odd = {
    [Symbol.toPrimitive]: () => {
      throw new Error('no')
    },
  }
  await expect(
    opening(() => {
      throw odd as never as Error
    }),
  ).rejects.toMatchObject({ message: 'apply of plugin "p" threw a value that cannot be shown' })
})
