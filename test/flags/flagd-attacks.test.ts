// Flag files that are made to hurt: none of them may crash, hang or fill a host, and what is not understood has no say.
import { expect, test } from 'vitest'
import { defineFlag } from '../../src/flags/define-flag.ts'
import { openFlagFile } from '../../src/flags/flagd-evaluator.ts'
import { readFlagdSet } from '../../src/flags/flagd-set.ts'
import { openTestRuntime } from '../../src/testing/index.ts'
import { deny } from '../../src/plugin.ts'
import { flagFolder, modeFlag } from './flag-file.ts'

const withRule = (targeting: unknown, $evaluators?: object): string =>
  JSON.stringify({
    flags: { f: { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off', targeting } },
    ...($evaluators && { $evaluators }),
  })
const IF = { if: [true, 'on', 'off'] }
const nested = (levels: number): string => withRule('@').replace('"@"', `${'{"if":[true,'.repeat(levels)}"on"${',"off"]}'.repeat(levels)}`)
/** Each evaluator names the next one twice. */
const doubling = (steps: number): string => {
  const evaluators = Object.fromEntries(
    Array.from({ length: steps }, (_, at) => [`e${at}`, { if: [true, { $ref: `e${at + 1}` }, { $ref: `e${at + 1}` }] }]),
  )
  return withRule({ $ref: 'e0' }, { ...evaluators, [`e${steps}`]: IF })
}
const LIST = Array.from({ length: 300 }, () => 1)
const LONG = Array.from({ length: 3000 }, () => 1)
const SUM = { '+': [{ var: 'current' }, { var: 'accumulator' }] }
const looping = (levels: number): unknown => (levels === 0 ? SUM : { reduce: [LIST, looping(levels - 1), 0] })

test.each<[string, string, RegExp]>([
  ['rules within rules', nested(1000), /nested deeper than 100 levels/],
  ['rules far within rules', nested(60_000), /nested deeper than 100 levels/],
  ['brackets without an end', '['.repeat(500_000), /nested too deeply/],
  ['objects without an end', '{"a":'.repeat(150_000), /nested too deeply/],
  ['evaluators that double', doubling(25), /more than 20000 steps/],
  ['evaluators that double for long', doubling(60), /deeper than 100 levels/],
  ['an evaluator of itself', withRule({ $ref: 'a' }, { a: { if: [true, { $ref: 'a' }, 'off'] } }), /"a" refers to itself/],
  ['two evaluators of each other', withRule({ $ref: 'a' }, { a: { if: [{ $ref: 'b' }] }, b: { if: [{ $ref: 'a' }] } }), /refers to itself/],
  [
    'a list that doubles with each item',
    withRule({ if: [{ reduce: [LIST, { merge: [{ var: 'accumulator' }, { var: 'accumulator' }] }, [1]] }, 'on', 'off'] }),
    /builds something of what it has more than once/,
  ],
  [
    'a text that doubles with each item, behind a condition and a reference',
    withRule(
      {
        if: [
          { '==': [{ reduce: [LIST, { if: [true, { cat: [{ $ref: 'a' }, [{ var: ['accumulator', ''] }]] }] }, 'x'] }, 'y'] },
          'on',
          'off',
        ],
      },
      { a: { var: 'accumulator' } },
    ),
    /builds something of what it has more than once/,
  ],
  ...(
    [
      [
        'an inner loop',
        { reduce: [[{ var: 'accumulator' }, { var: 'accumulator' }], { merge: [{ var: 'accumulator' }, { var: 'current' }] }, []] },
      ],
      ['names that are worked out', { merge: [{ var: { cat: ['accu', 'mulator'] } }, { var: [{ cat: ['accu', 'mulator'] }] }] }],
      ['all that there is', { merge: [{ var: '' }, { var: 'accumulator' }] }],
      ['lists within lists', { if: [true, [{ var: 'accumulator' }, { var: 'accumulator' }]] }],
      ['a default', { cat: [{ var: ['none', { var: 'accumulator' }] }, { var: 'accumulator.x' }] }],
    ] as const
  ).map(([how, body]): [string, string, RegExp] => [
    `a reduce that doubles by ${how}`,
    withRule({ if: [{ in: [7, { reduce: [LIST, body, [1]] }] }, 'on', 'off'] }),
    /builds something of what it has more than once/,
  ]),
  [
    'a reduce over evaluators that double',
    (() => {
      const { flags, $evaluators } = JSON.parse(doubling(60)) as { flags: object; $evaluators: object }
      const loop = { reduce: [LIST, { merge: [{ $ref: 'e0' }, { var: 'accumulator' }] }, []] }
      return withRule({ if: [loop, 'on', 'off'] }, { ...$evaluators, flags })
    })(),
    /deeper than 100 levels|more than 20000 steps|more than once/,
  ],
  ['loops within loops', withRule({ if: [looping(5), 'on', 'off'] }), /more than 20000 steps/],
  [
    'loops within loops, behind references',
    withRule({ $ref: 'l' }, { l: { if: [{ map: [LIST, { $ref: 'm' }] }, 'on', 'off'] }, m: { map: [LIST, { '+': [1, 2] }] } }),
    /more than 20000 steps/,
  ],
  [
    'a list that is merged behind a condition',
    withRule({ if: [{ map: [{ if: [true, { merge: Array.from({ length: 100 }, () => LIST) }, []] }, SUM] }, 'on', 'off'] }),
    /more than 20000 steps/,
  ],
  [
    'a long list that a variable stands for',
    withRule({ if: [{ map: [[LONG], { map: [{ var: '' }, { map: [[1, 2, 3, 4], SUM] }] }] }, 'on', 'off'] }),
    /more than 20000 steps/,
  ],
  [
    'a long list beside the rules, which pays for nothing',
    JSON.stringify({
      ...JSON.parse(withRule({ if: [{ map: [LIST, { map: [LIST, 1] }] }, 'on', 'off'] })),
      $evaluators: { unused: { in: [1, Array.from({ length: 400_000 }, () => 1)] } },
    }),
    /more than 20000 steps/,
  ],
])('%s: the file as a whole is a problem', async (_what, text, problem) => {
  expect(await readFlagdSet(text)).toMatchObject({ problem: expect.stringMatching(problem) })
})

test('reduces around a long list are read once', async () => {
  let rule: unknown = Array.from({ length: 300_000 }, () => 1)
  for (let at = 0; at < 15; at++) rule = { reduce: [[], { merge: [rule, { var: 'current' }] }, 0] }
  expect(await readFlagdSet(withRule({ if: [{ in: [1, rule] }, 'on', 'off'] }))).not.toHaveProperty('problem')
})

test('a reduce that adds to what it has stays', async () => {
  const flat = { reduce: [[[1], [2]], { merge: [{ var: 'accumulator' }, { var: 'current' }] }, []] }
  const longest = {
    reduce: [['a', 'b'], { if: [{ '>': [{ var: 'current' }, { var: 'accumulator' }] }, { var: 'current' }, { var: 'accumulator' }] }, ''],
  }
  expect(await readFlagdSet(withRule({ if: [{ in: [2, flat] }, 'on', longest] }))).not.toHaveProperty('problem')
})

test('rules, references and loops as people write them stay', async () => {
  const evaluators = { staff: { ends_with: [{ var: 'email' }, '@example.com'] } }
  const rule = {
    if: [
      { or: [{ $ref: 'staff' }, { some: [{ var: 'groups' }, { in: [{ var: '' }, ['a', 'b']] }] }] },
      'on',
      {
        fractional: [
          ['on', 5],
          ['off', 95],
        ],
      },
    ],
  }
  const set = await readFlagdSet(withRule(rule, evaluators))
  if ('problem' in set) throw new Error(set.problem)
  expect(set.evaluate('f', false, { targetingKey: 'a', email: 'x@example.com' }).value).toBe(true)
})

test.each([nested(60_000), '['.repeat(500_000), doubling(40)])(
  'a file that becomes one of them under a running guard changes nothing',
  async (text) => {
    await using at = await flagFolder()
    await at.write(modeFlag('guard_mode', 'enforce'))
    await using t = await openTestRuntime({
      threadWide: { s: { tools: { run: {} } } },
      flags: { flagd: at.file },
      hooks: [
        {
          plugin: { name: 'guard', apply: ({ hooks }) => hooks.approve.tap('no', () => deny('no')) },
          mode: { flag: 'guard_mode', default: 'enforce' },
        },
      ],
    })
    let tell = (_problem: string): void => {}
    const told = new Promise<string>((resolve) => (tell = resolve))
    const guard = defineFlag({ name: 'guard_mode', variants: ['off', 'shadow', 'enforce'], default: 'enforce', description: 'of a guard' })
    const evaluator = await openFlagFile(at.file, { onProblem: (problem) => tell(problem) })
    try {
      await at.write(text)
      expect(await told).toContain('what it said before stays')
      expect(await evaluator.evaluate(guard, 'off', { targetingKey: 'a' })).toMatchObject({ value: 'enforce' })
      expect((await t.callTool({ server: 's', tool: 'run' })).outcome).toBe('refused')
      const later = await t.openSession()
      expect((await later.callTool({ server: 's', tool: 'run' })).outcome).toBe('refused')
    } finally {
      await evaluator.close()
    }
  },
)
