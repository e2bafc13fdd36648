import { execFile } from 'node:child_process'
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineFlag } from '../../src/flags/define-flag.ts'
import { openFlagFile } from '../../src/flags/flagd-evaluator.ts'
import { readFlagdSet } from '../../src/flags/flagd-set.ts'
import type { FlagdSet } from '../../src/flags/flagd-set.ts'
import { MULTI_ENVIRONMENT_MCP } from '../../src/flags/multi-environment-mcp.ts'
import { simulateFlag } from '../../src/flags/simulate.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { flagFolder, modeFlag, rollout } from './flag-file.ts'

const MODE = defineFlag({ name: 'guard_mode', variants: ['off', 'shadow', 'enforce'], default: 'enforce', description: 'of a guard' })
const KEYS = Array.from({ length: 10_000 }, (_, index) => `user-${index}`)

async function setOf(text: string): Promise<FlagdSet> {
  const set = await readFlagdSet(text)
  if ('problem' in set) throw new Error(set.problem)
  return set
}
const on = (set: FlagdSet, targetingKey: string, name = 'multi_environment_mcp'): boolean =>
  set.evaluate(name, false, { targetingKey }).value === true

describe('a roll-out', () => {
  test('over 10,000 keys has the shares that were asked for, and raising it drops nobody', async () => {
    const chosen: Set<string>[] = []
    for (const percent of [5, 25, 100]) {
      const set = await setOf(rollout(percent))
      const now = new Set(KEYS.filter((key) => on(set, key)))
      expect(Math.abs((now.size / KEYS.length) * 100 - percent)).toBeLessThan(1)
      chosen.push(now)
    }
    const [five, quarter, all] = chosen as [Set<string>, Set<string>, Set<string>]
    expect([...five].every((key) => quarter.has(key))).toBe(true)
    expect([...quarter].every((key) => all.has(key))).toBe(true)
  })

  test('never drops a key that it had, whatever the key and the steps are', async () => {
    const sets = await Promise.all(Array.from({ length: 101 }, (_, percent) => setOf(rollout(percent))))
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (key) => {
        const answers = sets.map((set) => on(set, key))
        expect(answers.slice(answers.indexOf(true)).every(Boolean)).toBe(true)
        expect([answers[0], answers[100]]).toEqual([false, true])
      }),
    )
  })

  test('of two flags chooses other keys', async () => {
    const [first, second] = [await setOf(rollout(50)), await setOf(rollout(50, 'another_flag'))]
    const both = KEYS.filter((key) => on(first, key) && on(second, key, 'another_flag')).length
    expect(Math.abs((both / KEYS.length) * 100 - 25)).toBeLessThan(2)
  })

  test('gives the same keys in another process, and again after a restart', async () => {
    await using at = await flagFolder()
    await at.write(rollout(25))
    const run = async (): Promise<number[]> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [path.join(import.meta.dirname, 'fixtures', 'keys.mjs'), at.file, '400'],
        { env: { ...process.env, STORE: at.path('store') } },
      )
      return JSON.parse(stdout) as number[]
    }
    const set = await setOf(rollout(25))
    const here = KEYS.slice(0, 400).flatMap((key, index) => (on(set, key) ? [index] : []))
    expect(await Promise.all([run(), run()])).toEqual([here, here])
  })

  test('with attributes: rules see what the session says', async () => {
    const targeting = { if: [{ in: ['prod', { var: 'environmentIds' }] }, 'off', { '==': [{ var: 'team' }, 'core'] }, 'on', null] }
    const flag = { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off', targeting }
    const set = await setOf(JSON.stringify({ flags: { f: flag } }))
    const of = (context: object): unknown => set.evaluate('f', true, { targetingKey: 'k', ...context }).value
    expect([of({ team: 'core', environmentIds: ['dev'] }), of({ team: 'core', environmentIds: ['prod'] }), of({})]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('a file that is no flagd definition', () => {
  const text = rollout(5)
  test.each([
    ['no JSON', text.replace('"state"', 'state'), /it is not JSON/, { line: 1 }],
    ['cut off', JSON.stringify(JSON.parse(text), null, 2).slice(0, -20), /it is not JSON/, { line: expect.any(Number) }],
    ['a mistyped state', JSON.stringify(JSON.parse(text), null, 2).replace('ENABLED', 'ON'), /state/, { line: 5, column: 16 }],
    ['an unknown rule', JSON.stringify(JSON.parse(text), null, 2).replace('fractional', 'fractionl'), /targeting/, { line: 11 }],
    ['a default that is no variant', text.replace('"defaultVariant":"off"', '"defaultVariant":"of"'), /Default variant of missing/, {}],
    ['a number', '7', /the document must be object/, { line: 1, column: 1 }],
    ['nothing', '', /it is not JSON/, { line: 1, column: 1 }],
    ['no flags', '{}', /flags/, { line: 1, column: 1 }],
  ])('%s: a problem with its place', async (_what, broken, problem, place) => {
    const read = await readFlagdSet(broken)
    expect(read).toMatchObject({ problem: expect.stringMatching(problem), ...place })
  })

  test('a simulation ends with its signal', async () => {
    const read = await readFlagdSet('{"flags":{"f":{"state":"ENABLED","variants":{"on":true},"defaultVariant":"on"}}}')
    if ('problem' in read) throw new Error(read.problem)
    const abort = new AbortController()
    const ended = simulateFlag(read, read.flags[0]!, 1_000_000, {}, abort.signal)
    setImmediate(() => abort.abort('enough'))
    await expect(ended).rejects.toBe('enough')
  })

  test('whatever it is, it is a problem or a set, and nothing is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.record({ flags: fc.dictionary(fc.string(), fc.jsonValue()) }).map((one) => JSON.stringify(one)),
        ),
        async (any) => {
          const read = await readFlagdSet(any)
          const said =
            'problem' in read
              ? [read.problem]
              : await Promise.all(read.flags.map(async (flag) => (await simulateFlag(read, flag, 3, {})).name))
          expect(said.every((text) => typeof text === 'string')).toBe(true)
        },
      ),
    )
  })
})

interface Followed extends AsyncDisposable {
  readonly value: () => unknown
  readonly problems: [string, string][]
}

async function follow(file: string): Promise<Followed> {
  const problems: [string, string][] = []
  const evaluator = await openFlagFile(file, { onProblem: (problem, where) => problems.push([problem, where]) })
  return {
    value: () => {
      const { value, errorCode } = evaluator.evaluate(MODE, 'enforce', { targetingKey: 'k' }) as { value?: unknown; errorCode?: string }
      return errorCode ?? value
    },
    problems,
    [Symbol.asyncDispose]: () => evaluator.close(),
  }
}

describe('a flag file that changes', () => {
  const SOON = { timeout: 5_000 }

  test('in place, by rename, and after it was away', async () => {
    await using at = await flagFolder()
    await at.write(modeFlag('guard_mode', 'enforce'))
    await using file = await follow(at.file)
    expect(file.value()).toBe('enforce')
    await at.write(modeFlag('guard_mode', 'shadow'))
    await expect.poll(file.value, SOON).toBe('shadow')
    await writeFile(at.path('new.json'), modeFlag('guard_mode', 'off'))
    await rename(at.path('new.json'), at.file)
    await expect.poll(file.value, SOON).toBe('off')
    await unlink(at.file)
    await expect.poll(() => file.problems.length, SOON).toBe(1)
    expect(file.problems[0]?.[0]).toMatch(/it is not there; what it said before stays/)
    expect(file.value()).toBe('off')
    await at.write(modeFlag('guard_mode', 'enforce'))
    await expect.poll(file.value, SOON).toBe('enforce')
  })

  test('behind links: those of a mounted volume, and a folder that is a link itself', async () => {
    await using at = await flagFolder()
    for (const [folder, mode] of [
      ['1', 'enforce'],
      ['2', 'shadow'],
      ['3', 'off'],
    ] as const) {
      await mkdir(at.path(folder))
      await writeFile(at.path(`${folder}/flags.json`), modeFlag('guard_mode', mode))
    }
    const point = async (link: string, target: string): Promise<void> => {
      await symlink(target, at.path('next'))
      await rename(at.path('next'), at.path(link))
    }
    await point('..data', '1')
    await symlink('..data/flags.json', at.file)
    await point('current', '1')
    await using mounted = await follow(at.file)
    await using released = await follow(at.path('current/flags.json'))
    expect([mounted.value(), released.value()]).toEqual(['enforce', 'enforce'])
    await point('..data', '2')
    await point('current', '3')
    await expect.poll(mounted.value, SOON).toBe('shadow')
    await expect.poll(released.value, SOON).toBe('off')
    expect([...mounted.problems, ...released.problems]).toEqual([])
  })

  test('to something broken: what it said stays, and the place is told once; repaired it counts again', async () => {
    await using at = await flagFolder()
    await at.write(modeFlag('guard_mode', 'shadow'))
    await using file = await follow(at.file)
    await at.write('{\n  "flags": {\n')
    await expect.poll(() => file.problems.length, SOON).toBe(1)
    expect(file.problems[0]).toEqual([
      expect.stringMatching(/cannot be used: it is not JSON .*; what it said before stays$/),
      `${at.file}:3:1`,
    ])
    expect(file.value()).toBe('shadow')
    await at.write(modeFlag('guard_mode', 'off'))
    await expect.poll(file.value, SOON).toBe('off')
    expect(file.problems).toHaveLength(1)
  })

  test('that is broken or missing from the start: an error, and it counts as soon as it can be read', async () => {
    await using at = await flagFolder()
    await using missing = await follow(at.path('deeper/flags.json'))
    expect([missing.value(), missing.problems.length]).toEqual(['PROVIDER_NOT_READY', 1])
    await at.write('[]')
    await using broken = await follow(at.file)
    expect([broken.value(), broken.problems.length]).toEqual(['PROVIDER_NOT_READY', 1])
    await mkdir(at.path('deeper'))
    await writeFile(at.path('deeper/flags.json'), modeFlag('guard_mode', 'shadow'))
    await expect.poll(missing.value, SOON).toBe('shadow')
  })

  test.each([
    ['a folder', (file: string) => mkdir(file), 'it is a folder'],
    ['no UTF-8', (file: string) => writeFile(file, Buffer.from([0xff, 0xfe, 0x00])), 'it is not UTF-8'],
  ])('that is %s', async (_what, make, words) => {
    await using at = await flagFolder()
    await make(at.file)
    await using file = await follow(at.file)
    expect(file.problems[0]?.[0]).toContain(words)
    await rm(at.file, { recursive: true, force: true })
  })
})

describe('a runtime with a flag file', () => {
  const scoped = async (runtime: Awaited<ReturnType<typeof openRuntime>>, targetingKey: string): Promise<boolean> =>
    (await runtime.openSession({ evaluationContext: { targetingKey } })).flags.get(MULTI_ENVIRONMENT_MCP)

  test('that changes: an open session keeps what it captured, the next one gets the new value', async () => {
    await using at = await flagFolder()
    await at.write(rollout(0))
    await using runtime = await openRuntime({ flags: { flagd: at.file }, store: memoryStore() })
    const before = await runtime.openSession()
    expect(before.flags.get(MULTI_ENVIRONMENT_MCP)).toBe(false)
    await at.write(rollout(100))
    await expect.poll(() => scoped(runtime, 'k'), { timeout: 5_000 }).toBe(true)
    expect(before.flags.details(MULTI_ENVIRONMENT_MCP)).toMatchObject({ value: false, source: 'provider', variant: 'off' })
  })

  test('that is broken: the defaults, and a diagnostic of the runtime with the place', async () => {
    await using at = await flagFolder()
    await at.write('{ "flags": { "guard_mode": { "state": "ENABLED" } } }')
    await using runtime = await openRuntime({ flags: { flagd: at.file, define: [MODE] }, store: memoryStore() })
    const { flags, diagnostics } = await runtime.openSession()
    expect(flags.details(MODE)).toMatchObject({ value: 'enforce', source: 'default', reason: 'ERROR', errorCode: 'PROVIDER_NOT_READY' })
    expect(runtime.diagnostics).toMatchObject([{ code: 'flag_file_unusable', severity: 'error', where: `${at.file}:1:28` }])
    expect(diagnostics).toEqual([])
  })

  test('keeps an installation id in its store, so that nobody has to name one', async () => {
    await using at = await flagFolder()
    await at.write(rollout(50))
    const answers = async (store: string): Promise<boolean> => {
      await using runtime = await openRuntime({ flags: { flagd: at.file }, store: { file: at.path(store) } })
      return (await runtime.openSession()).flags.get(MULTI_ENVIRONMENT_MCP)
    }
    const stores = Array.from({ length: 12 }, (_, index) => `store-${index}`)
    const first: boolean[] = []
    for (const store of stores) first.push(await answers(store))
    const again: boolean[] = []
    for (const store of stores) again.push(await answers(store))
    // with ids that change, one time in 4096
    expect(again).toEqual(first)
  })
})
