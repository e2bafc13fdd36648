import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { InMemoryProvider } from '@openfeature/server-sdk'
import { afterAll, expect, test } from 'vitest'
import type { HookEntry, PluginMode } from '../../src/index.ts'
import { defineFlag, openRuntime } from '../../src/index.ts'
import type { HookPlugin } from '../../src/plugin.ts'
import { deny } from '../../src/plugin.ts'
import type { TestRuntimeOptions } from '../../src/testing/index.ts'
import { flagFolder } from '../flags/flag-file.ts'
import { open, plugin, REQUEST } from '../pipeline/kit.ts'

/** Refuses everything, and counts how often it was set up. */
function guard(name = 'guard'): HookPlugin & { readonly applied: () => number } {
  let applied = 0
  const made = plugin(({ hooks }) => {
    applied++
    hooks.approve.tap('denies', () => deny('no'))
  }, name)
  return { ...made, applied: () => applied }
}

const folder = mkdtempSync(path.join(tmpdir(), 'tapline-modes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Mode = NonNullable<Extract<HookEntry, { plugin: unknown }>['mode']>

test.each<[PluginMode, string, number]>([
  ['enforce', 'refused', 1],
  ['shadow', 'completed', 1],
  ['off', 'completed', 0],
])('%s: the call is %s, and apply ran %i times', async (mode, end, times) => {
  const one = guard()
  await using t = await open([{ plugin: one, mode }])
  expect(await t.callTool(REQUEST, { trace: true })).toMatchObject({ outcome: end, trace: { taps: mode === 'off' ? [] : [{ mode }] } })
  expect(one.applied()).toBe(times)
  expect(t.session.hookPlugins).toEqual([{ name: 'guard', mode, openedAs: mode, flag: null }])
})

test('setPluginMode lowers open sessions at once, and raises only those that are opened later', async () => {
  await using t = await open([guard(), guard('other')])
  const running = await t.openSession({ id: 'running' })
  const end = async (session = running): Promise<string> => (await session.callTool(REQUEST)).outcome
  t.setPluginMode('other', 'off')
  expect(await end()).toBe('refused')
  expect(t.setPluginMode('guard', 'shadow')).toEqual({ plugin: 'guard', mode: 'shadow', lowered: [t.session.id, 'running'], waiting: [] })
  expect(await end()).toBe('completed')
  expect(running.hookPlugins[0]).toEqual({ name: 'guard', mode: 'shadow', openedAs: 'enforce', flag: null })
  expect((await running.callTool(REQUEST, { trace: true })).trace!.shadow).toEqual([{ plugin: 'guard', wouldHave: ['refused'] }])
  expect(t.setPluginMode('guard', 'off').lowered).toEqual([t.session.id, 'running'])
  expect((await running.callTool(REQUEST, { trace: true })).trace!.taps).toEqual([])
  // raised: the open ones keep what they have
  expect(t.setPluginMode('guard', 'enforce')).toEqual({ plugin: 'guard', mode: 'enforce', lowered: [], waiting: [t.session.id, 'running'] })
  expect(await end()).toBe('completed')
  const later = await t.openSession()
  expect(await end(later)).toBe('refused')
  // null: what the entry says
  t.setPluginMode('guard', 'off')
  expect(await end(later)).toBe('completed')
  expect(t.setPluginMode('guard', null)).toMatchObject({ mode: null, lowered: [], waiting: [] })
  expect(await end(await t.openSession())).toBe('refused')
})

test('a call that is under way: taps that have not begun follow the lower mode, one that runs does not', async () => {
  let begun = (): void => {}
  let go = (): void => {}
  const waits = new Promise<void>((resolve) => (begun = resolve))
  const two = plugin(({ hooks }) => {
    hooks.resolve.tapPromise('first', async () => {
      begun()
      await new Promise<void>((resolve) => (go = resolve))
      return { arguments: { a: 'first' } }
    })
    hooks.approve.tap('second', () => deny('no'))
  })
  await using t = await open([two])
  const call = t.callTool(REQUEST, { trace: true })
  await waits
  t.setPluginMode('p', 'off')
  go()
  expect(await call).toMatchObject({
    outcome: 'completed',
    result: { content: [{ text: '{"a":"first"}' }] },
    trace: { taps: [{ tap: 'first', mode: 'enforce' }] },
  })
})

test('a plugin that nobody has: the error names the nearest', async () => {
  await using t = await open([guard('deny-tools')])
  expect(() => t.setPluginMode('deny-tool', 'off')).toThrow(
    expect.objectContaining({ code: 'CALL_INVALID_REQUEST', message: expect.stringContaining('did you mean "deny-tools"?') }),
  )
  expect(() => t.setPluginMode('zzz', 'off')).toThrow('there is deny-tools')
  expect(() => t.setPluginMode('deny-tools', 'on' as never)).toThrow(expect.objectContaining({ code: 'CALL_INVALID_REQUEST' }))
  expect((await t.callTool(REQUEST)).outcome).toBe('refused')
})

test('a plugin that was added and taken away again can still be lowered where it runs', async () => {
  await using t = await open()
  const added = t.use({ plugin: guard(), mode: 'enforce' })
  const session = await t.openSession({ id: 's' })
  added[Symbol.dispose]()
  expect(t.setPluginMode('guard', 'off')).toMatchObject({ lowered: ['s'] })
  expect((await session.callTool(REQUEST)).outcome).toBe('completed')
})

test('a plugin that is switched off for new sessions does not keep those from opening where another names it in before', async () => {
  await using t = await open([guard(), plugin(({ hooks }) => hooks.approve.tap({ name: 'first', before: 'denies' }, () => {}), 'q')])
  t.setPluginMode('guard', 'off')
  const session = await t.openSession()
  expect(session.diagnostics).toMatchObject([{ code: 'before_fits_nothing', message: expect.stringContaining('"denies"') }])
  expect((await session.callTool(REQUEST)).outcome).toBe('completed')
})

const MODE_FLAG = defineFlag({ name: 'guard_mode', default: 'enforce', variants: ['off', 'shadow', 'enforce'], description: 'x' })

test.each<[string, Mode, NonNullable<TestRuntimeOptions['flags']>, PluginMode]>([
  ['its default', { flag: 'guard_mode', default: 'enforce' }, {}, 'enforce'],
  ['another default', { flag: 'guard_mode', default: 'off' }, {}, 'off'],
  ['an override', { flag: 'guard_mode', default: 'enforce' }, { override: { guard_mode: 'shadow' } }, 'shadow'],
  ['a flag of the host', MODE_FLAG, { define: [MODE_FLAG], override: { guard_mode: 'off' } }, 'off'],
  ['a flag that is not in define', MODE_FLAG, {}, 'enforce'],
])('a mode by flag: %s', async (_, mode, flags, expected) => {
  await using t = await open([{ plugin: guard(), mode }], { flags })
  expect(t.session.hookPlugins).toEqual([{ name: 'guard', mode: expected, openedAs: expected, flag: 'guard_mode' }])
  const { trace } = await t.callTool(REQUEST, { trace: true })
  expect(trace!.flags.find(({ flagKey }) => flagKey === 'guard_mode')).toMatchObject({ value: expected, variant: expected })
})

test.each<[string, readonly HookEntry[], NonNullable<TestRuntimeOptions['flags']>, string, RegExp]>([
  [
    'two defaults',
    [
      { plugin: guard(), mode: { flag: 'm', default: 'off' } },
      { plugin: guard(), mode: { flag: 'm', default: 'enforce' } },
    ],
    {},
    'FLAG_BAD_VALUE',
    /two defaults, "off" and "enforce"/,
  ],
  ['a switch', [{ plugin: guard(), mode: { flag: 'multi_environment_mcp', default: 'off' } }], {}, 'FLAG_BAD_VALUE', /other values/],
  ['no variants', [{ plugin: guard(), mode: { ...MODE_FLAG, variants: ['off', 'enforce'] } }], {}, 'FLAG_BAD_VALUE', /cannot be the mode/],
  ['a name that no flag can have', [{ plugin: guard(), mode: { flag: '1', default: 'off' } }], {}, 'FLAG_BAD_VALUE', /name of a flag/],
  ['a mode that is none', [{ plugin: guard(), mode: 'on' as never }], {}, 'HOOK_BAD_PLUGIN', /must be a mode or a flag/],
  ['no default', [{ plugin: guard(), mode: { flag: 'm' } as never }], {}, 'HOOK_BAD_PLUGIN', /must be a mode or a flag/],
  [
    'a value that no mode has',
    [{ plugin: guard(), mode: { flag: 'm', default: 'off' } }],
    { override: { m: 'on' } },
    'FLAG_BAD_VALUE',
    /"m" cannot be "on"/,
  ],
])('what cannot be a mode: %s', async (_, hooks, flags, code, message) => {
  await expect(open(hooks, { flags })).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
})

test('two entries share a flag with one default, and a later one may name another', async () => {
  const mode = { flag: 'm', default: 'shadow' } as const
  await using t = await open([
    { plugin: guard('a'), mode },
    { plugin: guard('b'), mode },
  ])
  t.use({ plugin: guard('c'), mode: { flag: 'n', default: 'off' } })
  expect((await t.openSession()).hookPlugins.map(({ name, mode: now }) => [name, now])).toEqual([
    ['a', 'shadow'],
    ['b', 'shadow'],
    ['c', 'off'],
  ])
  expect(() => t.use({ plugin: guard(), mode: { flag: 'n', default: 'enforce' } })).toThrow(/two defaults/)
})

test('modes of a file: off is not loaded until somebody wants it, shadow does not stop anything, a flag decides for each session', async () => {
  writeFileSync(path.join(folder, 'guard.mjs'), `export default { name: 'guard', apply() {} }`)
  writeFileSync(path.join(folder, 'broken.mjs'), `throw new Error('boom')`)
  const file = path.join(folder, 'tapline.json')
  writeFileSync(
    file,
    JSON.stringify({
      hooks: [
        { module: './guard.mjs', mode: { flag: 'guard_mode', default: 'shadow' } },
        { module: './broken.mjs', mode: 'off' },
        { module: './missing.mjs', mode: 'shadow' },
      ],
    }),
  )
  await using runtime = await openRuntime({ config: file, flags: { override: { guard_mode: 'enforce' } } })
  const session = await runtime.openSession()
  const broken = path.join(folder, 'broken.mjs')
  expect(session.hookPlugins).toEqual([
    { name: 'guard', mode: 'enforce', openedAs: 'enforce', flag: 'guard_mode' },
    { name: broken, mode: 'off', openedAs: 'off', flag: null },
    { name: path.join(folder, 'missing.mjs'), mode: 'off', openedAs: 'shadow', flag: null },
  ])
  expect(session.diagnostics).toMatchObject([{ code: 'shadow_plugin_failed', message: expect.stringContaining('does not exist') }])
  // nobody meant to run without a plugin that enforces
  expect(runtime.setPluginMode(broken, 'enforce')).toMatchObject({ waiting: [session.id] })
  await expect(runtime.openSession()).rejects.toMatchObject({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining('boom') })
})

/** A flag file in which these users get a mode, and everybody else another. */
const modeFile = (few: PluginMode, rest: PluginMode): string =>
  JSON.stringify({
    flags: {
      guard_mode: {
        state: 'ENABLED',
        variants: { off: 'off', shadow: 'shadow', enforce: 'enforce' },
        defaultVariant: rest,
        targeting: { if: [{ in: [{ var: 'targetingKey' }, ['ann']] }, few, null] },
      },
    },
  })

test('a flag file: each session has the mode of its user; lowered in the file it reaches open sessions, raised only later ones', async () => {
  await using at = await flagFolder()
  await at.write(modeFile('enforce', 'shadow'))
  await using t = await open([{ plugin: guard(), mode: { flag: 'guard_mode', default: 'enforce' } }], { flags: { flagd: at.file } })
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((targetingKey) => t.openSession({ evaluationContext: { targetingKey } })))
  const modes = (): readonly PluginMode[] => [ann, bob].map((session) => session!.hookPlugins[0]!.mode)
  expect(modes()).toEqual(['enforce', 'shadow'])
  await at.write(modeFile('shadow', 'enforce'))
  await expect.poll(modes, { timeout: 10_000 }).toEqual(['shadow', 'shadow'])
  expect(ann!.diagnostics).toMatchObject([{ code: 'plugin_mode_lowered', severity: 'info' }])
  expect((await ann!.callTool(REQUEST)).outcome).toBe('completed')
  expect((await t.openSession({ evaluationContext: { targetingKey: 'bob' } })).hookPlugins[0]!.mode).toBe('enforce')
  // a file that cannot be used lowers nothing, and neither does a flag that is gone and has a higher default
  await at.write('{')
  await expect.poll(() => t.diagnostics.map(({ code }) => code), { timeout: 10_000 }).toContain('flag_file_unusable')
  await at.write(JSON.stringify({ flags: {} }))
  await expect.poll(() => t.diagnostics.map(({ code }) => code), { timeout: 10_000 }).toContain('flag_file_usable')
  expect(modes()).toEqual(['shadow', 'shadow'])
  // what somebody has set stays, whatever the file says
  t.setPluginMode('guard', 'shadow')
  await at.write(modeFile('off', 'off'))
  await expect
    .poll(
      async () =>
        (await t.openSession({ evaluationContext: { targetingKey: 'x' } })).flags.all().find(({ flagKey }) => flagKey === 'guard_mode')!
          .value,
      { timeout: 10_000 },
    )
    .toBe('off')
  expect(modes()).toEqual(['shadow', 'shadow'])
  t.setPluginMode('guard', null)
  expect((await t.openSession({ evaluationContext: { targetingKey: 'x' } })).hookPlugins[0]!.mode).toBe('off')
})

test('a provider that gives no usable answer lowers nothing, where the default would be lower too', async () => {
  const flag = (value: string): object => ({
    guard_mode: { disabled: false, variants: { v: value, enforce: 'enforce' }, defaultVariant: 'v' },
  })
  const provider = new InMemoryProvider(flag('enforce') as never)
  await using t = await open([{ plugin: guard(), mode: { flag: 'guard_mode', default: 'off' } }], { flags: { provider } })
  const enforces = await t.openSession()
  expect(enforces.hookPlugins[0]!.mode).toBe('enforce')
  provider.putConfiguration(flag('on') as never)
  // looked at again by now: a new session has the default
  const later = await t.openSession()
  expect([later.hookPlugins[0]!.mode, later.flags.all().find(({ flagKey }) => flagKey === 'guard_mode')!.errorCode]).toEqual([
    'off',
    'TYPE_MISMATCH',
  ])
  expect(enforces.hookPlugins[0]!.mode).toBe('enforce')
  // one that can be used lowers
  provider.putConfiguration(flag('shadow') as never)
  await expect.poll(() => enforces.hookPlugins[0]!.mode, { timeout: 10_000 }).toBe('shadow')
})

test.each<[string, () => string]>([
  [
    'is another one each time',
    (
      () =>
      (calls = 0) =>
      () =>
        `evil-${calls++}`
    )()(),
  ],
  [
    'throws from the third time on',
    (() => {
      let calls = 0
      return () => {
        if (calls++ > 1) throw new Error('no name')
        return 'evil-0'
      }
    })(),
  ],
])('a plugin whose name %s can be switched off, and does not keep others from it', async (_what, name) => {
  const evil: HookPlugin = {
    get name() {
      return name()
    },
    apply: ({ hooks }) => hooks.approve.tap('denies', () => deny('no')),
  }
  await using t = await open([evil, guard()])
  expect((await t.callTool(REQUEST)).outcome).toBe('refused')
  expect(t.setPluginMode('guard', 'off').lowered).toEqual([t.session.id])
  const shown = t.session.hookPlugins[0]!.name
  expect(t.setPluginMode(shown, 'off').lowered).toEqual([t.session.id])
  expect((await t.callTool(REQUEST)).outcome).toBe('completed')
})

test('what is set for a name counts for one of that name that comes later, and for a module that is loaded later', async () => {
  await using t = await open([guard()])
  t.setPluginMode('guard', 'off')
  using _later = t.use(guard())
  const session = await t.openSession()
  expect(session.hookPlugins.map(({ mode }) => mode)).toEqual(['off', 'off'])
  expect((await session.callTool(REQUEST)).outcome).toBe('completed')
  writeFileSync(path.join(folder, 'later.mjs'), `export default { name: 'later', apply() {} }`)
  const file = path.join(folder, 'later.json')
  writeFileSync(file, JSON.stringify({ hooks: [{ module: './later.mjs', mode: 'off' }] }))
  await using runtime = await openRuntime({ config: file })
  runtime.setPluginMode(path.join(folder, 'later.mjs'), 'shadow')
  for (const mode of ['shadow', 'shadow']) expect((await runtime.openSession()).hookPlugins).toMatchObject([{ name: 'later', mode }])
  runtime.setPluginMode('later', null)
  expect((await runtime.openSession()).hookPlugins).toMatchObject([{ name: 'later', mode: 'off' }])
})
