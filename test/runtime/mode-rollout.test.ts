import { InMemoryProvider } from '@openfeature/server-sdk'
import { expect, test } from 'vitest'
import { defineFlag } from '../../src/flags/define-flag.ts'
import { deny } from '../../src/verdicts.ts'
import { openTestRuntime, scriptedServer } from '../../src/testing/index.ts'
import type { HookPlugin, Session } from '../../src/index.ts'
import { flagFolder, modeFlag } from '../flags/flag-file.ts'

const files = scriptedServer({ tools: { drop: { annotations: { readOnlyHint: true } } } })
const MODE = defineFlag({ name: 'guard_mode', variants: ['off', 'shadow', 'enforce'], default: 'enforce', description: 'of the guard' })
const guard: HookPlugin = { name: 'guard', apply: ({ hooks }) => hooks.approve.tap('never', () => deny('not here')) }
const hooks = [{ plugin: guard, mode: MODE }]
const SOON = { timeout: 5_000 }

const drop = async (session: Session): Promise<string> => (await session.callTool({ server: 'files', tool: 'drop' })).outcome

test('lowering a mode in the flag file reaches running sessions; raising it waits for new ones', async () => {
  await using at = await flagFolder()
  await at.write(modeFlag('guard_mode', 'enforce'))
  await using runtime = await openTestRuntime({ threadWide: { files }, hooks, flags: { flagd: at.file } })
  const { session } = runtime
  expect(await drop(session)).toBe('refused')
  await at.write(modeFlag('guard_mode', 'shadow'))
  await expect.poll(() => drop(session), SOON).toBe('completed')
  expect(session.hookPlugins).toMatchObject([{ name: 'guard', mode: 'shadow', openedAs: 'enforce', flag: 'guard_mode' }])
  await at.write(modeFlag('guard_mode', 'enforce'))
  await expect.poll(async () => drop(await runtime.openSession()), SOON).toBe('refused')
  expect(await drop(session)).toBe('completed')
  await at.write(modeFlag('guard_mode', 'off'))
  await expect.poll(() => session.hookPlugins[0]?.mode, SOON).toBe('off')
  // what a session captured is what it captured
  expect(session.flags.get(MODE)).toBe('enforce')
})

test('a flag file that breaks, or loses the flag, lowers nobody', async () => {
  await using at = await flagFolder()
  await at.write(modeFlag('guard_mode', 'enforce'))
  await using runtime = await openTestRuntime({ threadWide: { files }, hooks, flags: { flagd: at.file } })
  await at.write('{')
  await expect.poll(() => runtime.diagnostics.map(({ code }) => code), SOON).toContain('flag_file_unusable')
  expect([await drop(runtime.session), await drop(await runtime.openSession())]).toEqual(['refused', 'refused'])
  await at.write(modeFlag('another_flag', 'off'))
  await expect.poll(() => runtime.diagnostics.map(({ code }) => code), SOON).toContain('flag_file_usable')
  expect([await drop(runtime.session), await drop(await runtime.openSession())]).toEqual(['refused', 'refused'])
})

test('a rule lowers the sessions of those that it names, and no others', async () => {
  await using at = await flagFolder()
  const variants = { off: 'off', shadow: 'shadow', enforce: 'enforce' }
  const targeting = { if: [{ '==': [{ var: 'targetingKey' }, 'ada'] }, 'shadow', null] }
  await at.write(modeFlag('guard_mode', 'enforce'))
  await using runtime = await openTestRuntime({ threadWide: { files }, hooks, flags: { flagd: at.file } })
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((targetingKey) => runtime.openSession({ evaluationContext: { targetingKey } })))
  await at.write(JSON.stringify({ flags: { guard_mode: { state: 'ENABLED', variants, defaultVariant: 'enforce', targeting } } }))
  await expect.poll(() => drop(ada!), SOON).toBe('completed')
  expect(await drop(bob!)).toBe('refused')
})

test('a provider that tells of a change lowers too, and one that fails then does not', async () => {
  const flag = { disabled: false, variants: { off: 'off', shadow: 'shadow', enforce: 'enforce' } } as const
  const provider = new InMemoryProvider({ guard_mode: { ...flag, defaultVariant: 'enforce' } })
  await using runtime = await openTestRuntime({ threadWide: { files }, hooks, flags: { provider } })
  expect(await drop(runtime.session)).toBe('refused')
  provider.putConfiguration({ guard_mode: { ...flag, variants: { ...flag.variants, off: 'no mode' as 'off' }, defaultVariant: 'off' } })
  expect((await runtime.openSession()).flags.details(MODE)).toMatchObject({ value: 'enforce', errorCode: 'TYPE_MISMATCH' })
  expect(await drop(runtime.session)).toBe('refused')
  provider.putConfiguration({ guard_mode: { ...flag, defaultVariant: 'shadow' } })
  await expect.poll(() => drop(runtime.session), SOON).toBe('completed')
})
