/** A roll-out from end to end: plugins in shadow that would do the worst, real calls, and the report of what they would have done. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { misfit } from '../trace/kit.ts'
import { Place, server } from './tapline.ts'

const PLUGIN = JSON.stringify(new URL('../../dist/plugin.js', import.meta.url).href)
/** Each does the same on every hook that a call waits for. */
const WORST: Readonly<Record<string, string>> = {
  denier: `const does = () => deny('never'); export default { name: 'denier', apply: ({ hooks }) => { hooks.resolve.tap('r', does); hooks.approve.tapPromise('a', async () => does()) } }`,
  thrower: `const does = async () => { throw new Error('broken') }; export default { name: 'thrower', apply: ({ hooks }) => all(hooks, does) }`,
  hanger: `const does = () => new Promise(() => {}); export default { name: 'hanger', apply: ({ hooks }) => all(hooks, does) }`,
  mover: `export default { name: 'mover', apply: ({ hooks }) => {
    hooks.resolve.tap('returns', () => ({ server: 'elsewhere' }))
    hooks.approve.tap('assigns', (call) => { try { call.owner = { name: 'elsewhere' } } catch {} })
    hooks.dispatch.tapPromise('passes', (call, next) => next({ server: 'elsewhere' }))
  } }`,
}
const ALL = `const all = (hooks, does) => { for (const [hook, port] of Object.entries(hooks)) if (hook !== 'settled') port.tapPromise({ name: hook, timeoutMs: 150 }, does) }`
const EFFECT: Readonly<Record<string, string>> = { denier: 'refused', thrower: 'failed', hanger: 'failed', mover: 'violated' }
const NAMES = Object.keys(WORST)

const CALLS = [
  ['echo', '{"a":1}'],
  ['fails', '{}'],
  ['write', '{"path":"p"}', '--approve', 'deny'],
]

test('plugins in shadow that deny, throw, hang and move the owner change nothing, and the report says what they would have done', async () => {
  await using at = await Place.make()
  for (const [name, code] of Object.entries(WORST))
    await at.write(`${name}.mjs`, `import { deny } from ${PLUGIN}\nvoid deny\n${ALL}\n${code}`)
  const mcpServers = { files: server('A') }
  await at.write('plain.json', { mcpServers })
  const hooks = NAMES.map((name) => ({
    module: `./${name}.mjs`,
    mode: name === 'denier' ? { flag: 'denier_mode', default: 'enforce' } : 'shadow',
  }))
  await at.write('dark.json', { mcpServers, hooks, trace: { file: 'dark.jsonl' } })
  const ran = async (config: string, [tool = '', ...more]: readonly string[], ...flags: string[]): Promise<unknown> => {
    const { status, json } = await at.run(['--config', config, '--json', ...flags, 'call', '--server', 'files', tool, ...more])
    const { callId: _, durationMs: __, ...outcome } = json
    return { status, ...outcome }
  }
  for (const call of CALLS)
    expect(await ran('dark.json', call, '--flag', 'denier_mode=shadow'), call[0]).toEqual(await ran('plain.json', call))
  // the same call with the guard in force, and the other resolver
  const enforced = await ran('dark.json', CALLS[0] ?? [], '--enable', 'multi_environment_mcp')
  expect(enforced).toMatchObject({ status: 3, outcome: 'refused', message: expect.stringContaining('never') })
  expect(at.ledger().filter(({ tool }) => tool === 'write')).toEqual([])

  const records = (await readFile(at.path('dark.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records.map(misfit)).toEqual(records.map(() => null))
  expect(records[0].plugins).toEqual([
    { name: 'denier', mode: 'shadow', flag: 'denier_mode' },
    ...NAMES.slice(1).map((name) => ({ name, mode: 'shadow' })),
  ])
  const { json } = await at.run(['rollout', 'report', 'dark.jsonl', '--json'])
  const shadow = json.plugins.filter((one: any) => one.mode === 'shadow')
  expect(Object.fromEntries(shadow.map((one: any) => [one.plugin, one.sessions]))).toEqual({ denier: 3, thrower: 4, hanger: 4, mover: 4 })
  for (const { plugin, calls, effects, stops, examples, timedOut } of shadow) {
    expect([plugin, effects[EFFECT[plugin] as string], stops], plugin).toEqual([plugin, calls, calls])
    expect(examples[EFFECT[plugin] as string].length, plugin).toBeGreaterThan(0)
    expect(timedOut > 0, plugin).toBe(plugin === 'hanger')
  }
  expect(shadow.find((one: any) => one.plugin === 'denier')).toMatchObject({ calls: 3, stopsThatRan: 2 })
  expect(json.plugins.find((one: any) => one.mode === 'enforce')).toMatchObject({ plugin: 'denier', calls: 1, effects: { refused: 1 } })
  expect(
    json.flags.map((one: any) => [one.flag, one.variants.map((variant: any) => [variant.value, variant.sessions, variant.outcomes])]),
  ).toEqual([
    [
      'denier_mode',
      [
        ['shadow', 3, { completed: 2, refused: 1 }],
        ['enforce', 1, { refused: 1 }],
      ],
    ],
    [
      'multi_environment_mcp',
      [
        [false, 3, { completed: 2, refused: 1 }],
        [true, 1, { refused: 1 }],
      ],
    ],
  ])
  const text = (await at.run(['trace', 'show', 'dark.jsonl'])).stdout
  for (const words of ['would have refused it', 'would have tried to move it to another owner', 'deny, in shadow', 'timed out, in shadow'])
    expect(text).toContain(words)
  expect(text).toMatch(/hook plugins +denier \(shadow, by denier_mode\), thrower \(shadow\)/)
}, 60_000)
