import { InMemoryProvider, OpenFeature, OpenFeatureEventEmitter, ProviderEvents } from '@openfeature/server-sdk'
import type { Provider } from '@openfeature/server-sdk'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { askProvider } from '../../src/flags/ask-provider.ts'
import { openClient } from '../../src/flags/client-evaluator.ts'
import { defineFlag } from '../../src/flags/define-flag.ts'
import type { FlagAnswer, FlagEvaluator } from '../../src/flags/evaluator.ts'
import type { Flag, FlagValue } from '../../src/flags/flag.ts'
import { MULTI_ENVIRONMENT_MCP } from '../../src/flags/multi-environment-mcp.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { FlagOptions, Runtime } from '../../src/runtime/types.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'

const MODE = defineFlag({ name: 'guard_mode', variants: ['off', 'shadow', 'enforce'], default: 'enforce', description: 'of a guard' })
const SWITCH = { variants: { on: true, off: false }, disabled: false } as const
const MODES = { variants: { off: 'off', shadow: 'shadow', enforce: 'enforce' }, disabled: false } as const
/** Generous: the promise is 100 ms, and a test machine may be busy. */
const LATEST_MS = 2_000

const open = (flags: FlagOptions, features?: Record<string, boolean | string>): Promise<Runtime> =>
  openRuntime({ store: memoryStore(), flags: { define: [MODE], ...flags }, ...(features && { features }) })

/** A provider that answers everything in one way. */
function provider(answer: () => unknown, more: Partial<Provider> = {}): Provider {
  const resolve = async (): Promise<never> => (await answer()) as never
  return {
    metadata: { name: 'test' },
    resolveBooleanEvaluation: resolve,
    resolveStringEvaluation: resolve,
    resolveNumberEvaluation: resolve,
    resolveObjectEvaluation: resolve,
    ...more,
  }
}
const never = (): Promise<never> => new Promise(() => {})

afterEach(() => OpenFeature.clearProviders())

describe('a provider', () => {
  test('decides where neither override nor variable does, and is stronger than the configuration', async () => {
    const inMemory = new InMemoryProvider({
      multi_environment_mcp: { ...SWITCH, defaultVariant: 'on' },
      guard_mode: { ...MODES, defaultVariant: 'shadow' },
    })
    await using runtime = await open(
      { provider: inMemory, override: { guard_mode: 'off' } },
      { multi_environment_mcp: false, guard_mode: 'enforce' },
    )
    const { flags, diagnostics } = await runtime.openSession()
    expect(flags.details(MULTI_ENVIRONMENT_MCP)).toEqual({
      flagKey: 'multi_environment_mcp',
      value: true,
      variant: 'on',
      reason: 'STATIC',
      source: 'provider',
    })
    expect(flags.details(MODE)).toMatchObject({ value: 'off', source: 'override' })
    expect(diagnostics).toEqual([])
  })

  test('gets the attributes of Tapline, of the runtime and of the session, the later ones stronger', async () => {
    const seen: unknown[] = []
    const inMemory = new InMemoryProvider({
      multi_environment_mcp: { ...SWITCH, defaultVariant: 'off', contextEvaluator: (context) => (seen.push(context), 'on') },
    })
    await using runtime = await open({ provider: inMemory, evaluationContext: { team: 'core', plan: 'free' } })
    await runtime.openSession({ id: 's1', evaluationContext: { targetingKey: 'ada', plan: 'pro' } })
    expect(seen).toEqual([
      { sessionId: 's1', environmentIds: ['local'], version: expect.stringMatching(/^\d/), team: 'core', plan: 'pro', targetingKey: 'ada' },
    ])
  })

  test('is asked for the same installation in every session of a runtime, where nobody says for whom', async () => {
    const keys: unknown[] = []
    const inMemory = new InMemoryProvider({
      multi_environment_mcp: { ...SWITCH, defaultVariant: 'off', contextEvaluator: (context) => (keys.push(context.targetingKey), 'on') },
    })
    await using runtime = await open({ provider: inMemory })
    await runtime.openSession()
    await runtime.openSession()
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(keys[1]).toBe(keys[0])
    process.env['TAPLINE_TARGETING_KEY'] = 'from the variable'
    try {
      await runtime.openSession()
      await runtime.openSession({ evaluationContext: { targetingKey: 'said' } })
    } finally {
      delete process.env['TAPLINE_TARGETING_KEY']
    }
    expect(keys.slice(2)).toEqual(['from the variable', 'said'])
  })

  test('that does not know a flag, or has it disabled, leaves it to weaker sources without a word', async () => {
    const inMemory = new InMemoryProvider({ guard_mode: { ...MODES, defaultVariant: 'off', disabled: true } })
    await using runtime = await open({ provider: inMemory }, { multi_environment_mcp: true })
    const { flags, diagnostics } = await runtime.openSession()
    expect(flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: true, source: 'configuration', reason: 'STATIC' })
    expect(flags.details(MODE)).toMatchObject({ value: 'enforce', source: 'default', reason: 'DEFAULT' })
    expect(diagnostics).toEqual([])
  })

  test('is started and shut down with the runtime, under a domain of its own', async () => {
    const calls: string[] = []
    const mine = provider(() => ({ value: true }), {
      initialize: async () => void calls.push('initialize'),
      onClose: async () => void calls.push('close'),
    })
    const hosts = new InMemoryProvider()
    await OpenFeature.setProviderAndWait(hosts)
    const runtime = await open({ provider: mine })
    expect((await runtime.openSession()).flags.get(MULTI_ENVIRONMENT_MCP)).toBe(true)
    expect(OpenFeature.getProvider()).toBe(hosts)
    expect(calls).toEqual(['initialize'])
    await runtime.close()
    await expect.poll(() => calls).toEqual(['initialize', 'close'])
    expect(OpenFeature.getProvider()).toBe(hosts)
  })

  test('that the host uses too is not shut down', async () => {
    let closed = 0
    const shared = provider(() => ({ value: true }), { onClose: async () => void closed++ })
    await OpenFeature.setProviderAndWait('host', shared)
    const runtime = await open({ provider: shared })
    expect((await runtime.openSession()).flags.get(MULTI_ENVIRONMENT_MCP)).toBe(true)
    await runtime.close()
    expect(await OpenFeature.getClient('host').getBooleanValue('x', false)).toBe(true)
    expect(closed).toBe(0)
  })

  test('that needs a moment to start is waited for', async () => {
    let ready = (): void => {}
    const slow = provider(() => ({ value: true }), { initialize: () => new Promise((resolve) => (ready = resolve)) })
    await using runtime = await open({ provider: slow })
    const opening = runtime.openSession()
    setImmediate(() => ready())
    expect((await opening).flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: true, source: 'provider' })
  })
})

describe('a provider that fails', () => {
  const bad: [string, () => Provider, string][] = [
    ['throws', () => provider(() => Promise.reject(new Error('no network'))), 'GENERAL'],
    [
      'throws at once',
      () => ({
        ...provider(never),
        resolveBooleanEvaluation: () => {
          throw new TypeError('x')
        },
      }),
      'GENERAL',
    ],
    ['never answers', () => provider(never), 'GENERAL'],
    ['is never ready', () => provider(() => ({ value: true }), { initialize: never }), 'PROVIDER_NOT_READY'],
    ['answers the wrong type', () => provider(() => ({ value: { on: 1 } })), 'TYPE_MISMATCH'],
    ['answers nothing', () => provider(() => undefined), 'GENERAL'],
    ['answers with an error', () => provider(() => ({ value: true, errorCode: 'PARSE_ERROR', errorMessage: 'rule 3' })), 'PARSE_ERROR'],
    [
      'cannot start',
      () => provider(() => Promise.reject(new Error('down')), { initialize: () => Promise.reject(new Error('down')) }),
      'GENERAL',
    ],
  ]

  test.each(bad)('%s: the default within 100 ms, a guard stays in force, one diagnostic', async (_what, make, errorCode) => {
    await using runtime = await open({ provider: make() })
    const start = performance.now()
    const { flags, diagnostics } = await runtime.openSession()
    expect(performance.now() - start).toBeLessThan(LATEST_MS)
    expect(flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: false, source: 'default', reason: 'ERROR', errorCode })
    expect(flags.get(MODE)).toBe('enforce')
    const told = diagnostics.filter(({ code }) => code === 'flag_provider_failed')
    expect(told).toHaveLength(1)
    expect(told[0]?.message).toContain(`multi_environment_mcp (${errorCode}`)
  })

  test('leaves its flags to the configuration, and does not touch those that are settled', async () => {
    await using runtime = await open({ provider: provider(never), override: { guard_mode: 'shadow' } }, { multi_environment_mcp: true })
    const { flags, diagnostics } = await runtime.openSession()
    expect(flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: true, source: 'configuration', reason: 'ERROR' })
    expect(flags.details(MODE)).toEqual({ flagKey: 'guard_mode', value: 'shadow', variant: 'shadow', reason: 'STATIC', source: 'override' })
    expect(diagnostics[0]?.message).not.toContain('guard_mode')
  })

  test('a value that is no variant is a wrong type', async () => {
    await using runtime = await open({ provider: provider(() => ({ value: 'Enforce' })) })
    const { flags } = await runtime.openSession()
    expect(flags.details(MODE)).toMatchObject({ value: 'enforce', reason: 'ERROR', errorCode: 'TYPE_MISMATCH', source: 'default' })
  })

  test('whatever it answers, every flag has one of its values', async () => {
    const flags = new Map<Flag, FlagValue>([
      [MULTI_ENVIRONMENT_MCP, false],
      [MODE, 'enforce'],
    ])
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.boolean(), async (answer, isThrown) => {
        const evaluator: FlagEvaluator = {
          ready: () => null,
          evaluate: () => {
            if (isThrown) throw answer
            return answer as FlagAnswer
          },
          onChange: () => ({ [Symbol.dispose]: () => {} }),
          close: async () => {},
        }
        for (const [flag, { statement }] of await askProvider(evaluator, flags, {})) {
          const fits = flag.variants ? flag.variants.includes(statement.value as never) : typeof statement.value === 'boolean'
          expect(statement.value === undefined || fits).toBe(true)
        }
      }),
    )
  })

  test('two sessions that are opened at once with one id: one is refused, also while a provider is asked', async () => {
    await using runtime = await open({ provider: provider(() => ({ value: true })) })
    const opened = await Promise.allSettled([runtime.openSession({ id: 'same' }), runtime.openSession({ id: 'same' })])
    expect(opened.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('a runtime that is closed while a provider is asked opens no session', async () => {
    const runtime = await open({ provider: provider(never) })
    const opening = runtime.openSession()
    await runtime.close()
    await expect(opening).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  })
})

describe('a client of the host', () => {
  test('is used as it is, and stays usable', async () => {
    await OpenFeature.setProviderAndWait('harness', new InMemoryProvider({ multi_environment_mcp: { ...SWITCH, defaultVariant: 'on' } }))
    const client = OpenFeature.getClient('harness')
    const runtime = await open({ provider: client })
    expect((await runtime.openSession()).flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: true, source: 'provider' })
    await runtime.close()
    expect(await client.getBooleanValue('multi_environment_mcp', false)).toBe(true)
    expect(client.getHandlers(ProviderEvents.ConfigurationChanged)).toEqual([])
  })

  test('with a provider that is never ready costs the default, and gathers no handlers', async () => {
    OpenFeature.setProvider('asleep', provider(never, { initialize: never }))
    const client = OpenFeature.getClient('asleep')
    const runtime = await open({ provider: client })
    for (let i = 0; i < 3; i++) {
      const { flags } = await runtime.openSession()
      expect(flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: false, errorCode: 'PROVIDER_NOT_READY' })
    }
    expect(client.getHandlers(ProviderEvents.Ready)).toHaveLength(1)
    await runtime.close()
    expect(client.getHandlers(ProviderEvents.Ready)).toEqual([])
  })

  test('that is broken costs the default', async () => {
    const broken = (): never => {
      throw new Error('broken')
    }
    const client = { getBooleanDetails: broken, getStringDetails: broken, getNumberDetails: broken }
    Object.defineProperty(client, 'providerStatus', { get: broken })
    await using runtime = await open({ provider: client })
    const { flags } = await runtime.openSession()
    expect(flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({
      value: false,
      reason: 'ERROR',
      errorCode: 'GENERAL',
      errorMessage: 'broken',
    })
  })

  test('tells that its configuration changed', async () => {
    const events = new OpenFeatureEventEmitter()
    const evaluator = await openClient(provider(() => ({ value: true }), { events }))
    let heard = 0
    evaluator.onChange(() => {
      throw new Error('a bad listener')
    })
    const listening = evaluator.onChange(() => heard++)
    events.emit(ProviderEvents.ConfigurationChanged, {})
    await expect.poll(() => heard).toBe(1)
    listening[Symbol.dispose]()
    events.emit(ProviderEvents.ConfigurationChanged, {})
    await evaluator.close()
    expect(heard).toBe(1)
  })
})

test.each([
  [{ provider: {} }, 'flags.provider must be an OpenFeature provider'],
  [{ provider: 'flagd' }, 'flags.provider must be an OpenFeature provider'],
  [{ flagd: 5 }, 'flags.flagd must be the path'],
  [{ flagd: 'f.json', provider: new InMemoryProvider() }, 'give one of the two'],
  [{ evaluationContext: 'me' }, 'flags.evaluationContext must be an object'],
  [{ evaluationContext: { targetingKey: 7 } }, 'flags.evaluationContext.targetingKey must be text'],
  [{ define: {} }, 'flags.define must be a list'],
  [{ override: 'x' }, 'flags.override must be an object'],
])('options of flags that cannot be: %j', async (flags, words) => {
  await expect(openRuntime({ flags } as never)).rejects.toMatchObject({
    code: 'CALL_INVALID_REQUEST',
    message: expect.stringContaining(words),
  })
})

test.each<[string, (host: Provider) => Provider]>([
  ['for browsers', () => provider(() => false, { runsOn: 'client' })],
  ['without metadata', () => provider(() => false, { metadata: undefined as never })],
  ['bound elsewhere', (host) => host],
])('a provider that OpenFeature does not take is told, and the default provider of the host does not answer: %s', async (_what, pick) => {
  const scoped = Object.assign(
    provider(() => true),
    { domainScoped: true },
  )
  await OpenFeature.setProviderAndWait('host', scoped)
  await OpenFeature.setProviderAndWait(provider(() => ({ value: true })))
  await expect(open({ provider: pick(scoped) })).rejects.toMatchObject({
    name: 'TaplineError',
    code: 'CALL_INVALID_REQUEST',
    message: expect.stringContaining('OpenFeature does not take'),
    remedy: expect.stringContaining('Give a provider for servers'),
  })
  await using next = await open({ provider: provider(() => ({ value: false })) })
  expect((await next.openSession()).flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: false, source: 'provider' })
})
