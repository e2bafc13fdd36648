import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allow, ALL_METHODS, ask, deny } from '../../src/plugin.ts'
import type { HookPlugin, HookPorts } from '../../src/plugin.ts'
import { checkPlugin } from '../../src/testing/index.ts'
import type { CheckReport } from '../../src/testing/index.ts'
import { PLANTED } from './planted.ts'

const terminal: Console = globalThis.console

/** Fewer calls at once and a shorter wait than by default: what is planted shows all the same. */
const QUICK = { calls: 60, hangMs: 500 }
const kinds = ({ findings }: CheckReport): string[] => findings.map(({ kind }) => kind)

describe('planted faults', () => {
  for (const [what, kind, make, others = []] of PLANTED) {
    test(`${what}: ${kind}`, async () => {
      const report = await checkPlugin(make(), QUICK)
      const found = report.findings.find((one) => one.kind === kind)
      expect(found, kinds(report).join()).toMatchObject({ kind, plugin: 'planted' })
      expect(found?.message).toMatch(/^\P{Cc}+$/u)
      expect(found?.remedy).not.toBe('')
      // nothing is said that is not true of it
      expect(kinds(report).filter((one) => ![kind, 'blind_to_resources', ...others].includes(one))).toEqual([])
      expect(report.ok).toBe(kind === 'blind_to_resources')
    })
  }
})

/** Plugins as people write them, each with something that could be taken for a fault. */
const GOOD: Readonly<Record<string, (ports: HookPorts) => undefined | Disposable | AsyncDisposable>> = {
  'a guard that looks at tools, and says so': ({ hooks }) => {
    hooks.approve.tap({ name: 'guard', methods: ['tools/call'] }, (call) => (call.tool.startsWith('w') ? deny('no') : undefined))
    return undefined
  },
  'a guard for every method': ({ hooks }) => {
    hooks.approve.tapPromise({ name: 'guard', methods: ALL_METHODS }, async ({ owner, method }) =>
      owner.environmentId === 'beta' && method !== 'tools/call' ? deny('no') : owner.environmentId === null ? ask() : undefined,
    )
    return undefined
  },
  'an approver that runs before a tap of another plugin': ({ hooks }) => {
    hooks.approve.tap({ name: 'yes', before: ['no-such-plugin/tap', 'elsewhere'] }, ({ annotations }) =>
      annotations.readOnlyHint === true ? allow('it reads') : undefined,
    )
    return undefined
  },
  'a rewriter that copies and then changes': ({ hooks }) => {
    hooks.resolve.tap('clean', (call) => {
      const copy = structuredClone(call.arguments) as Record<string, unknown>
      delete copy['path']
      copy['text'] = String(copy['text']).trim()
      return { arguments: copy as typeof call.arguments }
    })
    return undefined
  },
  'a retry with a pause that listens to the signal': ({ hooks }) => {
    hooks.dispatch.tapPromise('retry', async (call, next, { signal }) => {
      for (let left = 2; ; left--) {
        try {
          return await next()
        } catch (error) {
          if (left === 0 || signal.aborted || call.annotations.destructiveHint === true) throw error
          await sleep(20, undefined, { signal }).catch(() => {})
        }
      }
    })
    return undefined
  },
  'a cache, and state of each call': ({ hooks }) => {
    const cache = new Map<string, Promise<unknown>>()
    const started = new Map<string, number>()
    hooks.resolve.tap('start', (call) => void started.set(call.id, Date.now()))
    hooks.attachMetadata.tap('since', (call) => ({ 'example.com/since': started.get(call.id) ?? 0 }))
    hooks.dispatch.tapPromise('cache', async (call, next) => {
      const key = JSON.stringify([call.owner, call.authority, call.tool, call.arguments])
      if (!cache.has(key)) cache.set(key, next())
      return (await cache.get(key)) as Awaited<ReturnType<typeof next>>
    })
    hooks.settled.tap('forget', ({ call }) => void (call && started.delete(call.id)))
    return { [Symbol.dispose]: () => cache.clear() }
  },
  'one that adds to results, metadata of its own among it': ({ hooks }) => {
    hooks.dispatch.tapPromise('note', async (_call, next) => {
      const result = await next()
      return {
        ...result,
        content: [...result.content, { type: 'text', text: 'checked' }],
        _meta: { ...result._meta, 'example.com/checked': true },
      }
    })
    return undefined
  },
  'listeners that are taken away': ({ hooks, session }) => {
    const leave = (): void => {}
    process.on('SIGUSR2', leave)
    hooks.approve.tapPromise({ name: 'listens', methods: ALL_METHODS }, async (_call, { signal }) => {
      const heard = (): void => {}
      session.signal.addEventListener('abort', heard)
      signal.addEventListener('abort', heard, { once: true })
      await Promise.resolve()
      session.signal.removeEventListener('abort', heard)
    })
    return { [Symbol.dispose]: () => void process.off('SIGUSR2', leave) }
  },
  'one that talks to its host': ({ hooks }) => {
    hooks.approve.tap({ name: 'talks', methods: ALL_METHODS }, (call, { log }) => log(`${call.method} of ${String(call.owner)}`))
    hooks.settled.tapPromise('counts', async ({ outcome }) => {
      await new Promise((done) => setImmediate(done))
      if (outcome.durationMs < 0) throw new Error('before it began')
    })
    return undefined
  },
  'one that does nothing': () => undefined,
}

describe('plugins without a fault', () => {
  for (const [what, apply] of Object.entries(GOOD)) {
    test(`nothing is found in ${what}`, async () => {
      expect((await checkPlugin({ name: 'good', apply }, { calls: 200 })).findings).toEqual([])
    })
  }
})

describe('the plugins of the examples', () => {
  let folder: string
  beforeAll(() => void (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-check-'))))
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

  test.each([
    [
      'deny-tools.ts',
      () => import('../../examples/deny-tools.ts') as Promise<unknown>,
      (all: any): HookPlugin => new all.default({ tools: ['write'] }),
    ],
    [
      'read-only.mjs',
      // @ts-expect-error -- JavaScript
      () => import('../../examples/read-only.mjs') as Promise<unknown>,
      (all: any): HookPlugin => new all.default(),
    ],
    [
      'redact-arguments.ts',
      () => import('../../examples/redact-arguments.ts') as Promise<unknown>,
      (all: any): HookPlugin => all.default({ pattern: '[a-e]{2}' }),
    ],
    [
      'audit.ts',
      () => import('../../examples/audit.ts') as Promise<unknown>,
      (all: any): HookPlugin => new all.default({ file: path.join(folder, 'audit.jsonl') }),
    ],
    ['every-hook.ts', () => import('../../examples/every-hook.ts') as Promise<unknown>, (all: any): HookPlugin => all.everyHook],
  ])('%s', async (_file, load, make) => {
    const report = await checkPlugin(make(await load()))
    expect(kinds(report)).toEqual([])
    expect(report.taps.every(({ runs }) => runs > 0)).toBe(true)
    // 2,000 at once and some hundred alone; of the former fewer where a call takes more than 2.5 ms
    expect(report.calls).toBeGreaterThan(800)
  })
})

describe('what a caller can say', () => {
  const limiter = (): HookPlugin => {
    let left = 100
    return {
      name: 'limiter',
      apply: ({ hooks }) => hooks.dispatch.tapPromise('limit', async (_call, next) => (left-- > 0 ? next() : { content: [] })),
    }
  }

  test('a kind that is meant is no finding', async () => {
    expect(kinds(await checkPlugin(limiter(), QUICK))).toEqual(['state_between_calls'])
    expect(await checkPlugin(limiter(), { ...QUICK, allow: ['state_between_calls'] })).toMatchObject({ ok: true, findings: [] })
  })

  test('the same seed gives the same findings, calls and all', async () => {
    const chance = (): HookPlugin => ({
      name: 'chance',
      apply({ hooks }) {
        hooks.approve.tap({ name: 'rare', methods: ['tools/call'] }, () => (Math.random() < 0.02 ? deny('bad luck') : undefined))
        hooks.resolve.tap({ name: 'sum', tools: ['sum_*'] }, (call) => ({
          arguments: { sum: (call.arguments['items'] as number[]).length },
        }))
      },
    })
    for (const seed of [1, 2]) {
      const [one, two] = [await checkPlugin(chance(), { ...QUICK, seed }), await checkPlugin(chance(), { ...QUICK, seed })]
      expect(one.findings.length).toBeGreaterThan(1)
      expect(two.findings).toEqual(one.findings)
      expect(one.seed).toBe(seed)
    }
  })

  test('a budget of its own', async () => {
    const plugin: HookPlugin = {
      name: 'waits',
      apply: ({ hooks }) =>
        hooks.resolve.tapPromise('wait', async (_call, { signal }) => {
          await sleep(3, undefined, { signal }).catch(() => {})
        }),
    }
    expect(kinds(await checkPlugin(plugin, { ...QUICK, budgetMs: 1 }))).toEqual(['slow'])
    expect(kinds(await checkPlugin(plugin, QUICK))).toEqual([])
  })

  test('flags that the plugin reads', async () => {
    const flag = { name: 'strictness', default: 'low', description: 'how strict', stage: 'stable' } as const
    const plugin: HookPlugin = {
      name: 'reads',
      apply({ hooks, session }) {
        if (session.flags.get(flag) !== 'low') throw new Error('another value')
        hooks.resolve.tap('t', () => undefined)
      },
    }
    expect(kinds(await checkPlugin(plugin, { ...QUICK, flags: [flag] }))).toEqual([])
    expect(kinds(await checkPlugin(plugin, QUICK))).toEqual(['bad_registration'])
  })

  test('what makes no sense', async () => {
    const nothing: HookPlugin = { name: 'n', apply: () => undefined }
    for (const options of [{ calls: 0 }, { calls: 1e9 }, { budgetMs: Number.NaN }, { seed: -1 }, { hangMs: 1 }, { allow: ['loud'] }])
      await expect(checkPlugin(nothing, options as object)).rejects.toMatchObject({ code: 'CLI_USAGE' })
  })
})

test.each([null, undefined, 5, 'x', {}, { name: ' ', apply() {} }, { name: 'x' }, () => {}])(
  'what is no plugin is a finding: %s',
  async (value) => {
    const report = await checkPlugin(value as never)
    expect(report.ok).toBe(false)
    expect(kinds(report)).toEqual(['bad_registration'])
  },
)

test('two checks at the same time do not see each other', async () => {
  const talks: HookPlugin = { name: 'talks', apply: ({ hooks }) => hooks.resolve.tap('t', () => terminal.log('x')) }
  const quiet: HookPlugin = { name: 'quiet', apply: ({ hooks }) => hooks.resolve.tap('t', () => undefined) }
  const before = [process.stdout.write, terminal.log, Math.random, Date.now]
  const [one, other] = await Promise.all([checkPlugin(talks, QUICK), checkPlugin(quiet, QUICK)])
  expect(kinds(one)).toEqual(['writes_to_stdout'])
  expect(kinds(other)).toEqual([])
  expect([process.stdout.write, terminal.log, Math.random, Date.now]).toEqual(before)
})
