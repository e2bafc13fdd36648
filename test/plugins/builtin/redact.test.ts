import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/json.ts'
import { redact, type RedactOptions } from '../../../src/plugins/builtin/index.ts'
import { Redactor } from '../../../src/plugins/builtin/redactor.ts'
import { linearPattern } from '../../../src/plugins/builtin/text-pattern.ts'
import type { ToolResult } from '../../../src/mcp.ts'
import { openTestRuntime, scriptedServer } from '../../../src/testing/index.ts'
import type { TestRuntime, TestRuntimeOptions } from '../../../src/testing/index.ts'
import { plugin, toolCalls } from './kit.ts'

/** A server whose tool answers with what the test says. */
function answering(result: (args: JsonObject) => unknown): ReturnType<typeof scriptedServer> {
  return scriptedServer({
    tools: { run: { run: (args) => result(args) as ToolResult } },
    resources: { 'a:b': 'a tok-abcdefgh b', 'a:tok-abcdefgh': 'x' },
    prompts: { ask: ({ q = '' }) => `asked ${q}` },
  })
}
const open = (
  options: RedactOptions,
  result: (args: JsonObject) => unknown = () => 'ok',
  more: TestRuntimeOptions = {},
): Promise<TestRuntime> => openTestRuntime({ threadWide: { s: answering(result) }, hooks: [redact(options)], ...more })
const run = (t: TestRuntime, args: JsonObject = {}): ReturnType<TestRuntime['callTool']> =>
  t.callTool({ server: 's', tool: 'run', arguments: args })
const sentArguments = (t: TestRuntime): unknown => toolCalls(t)[0]?.params['arguments']
const resultOf = async (t: TestRuntime, args: JsonObject = {}): Promise<ToolResult> => {
  const outcome = await run(t, args)
  expect(outcome.outcome).toBe('completed')
  return (outcome as { readonly result: ToolResult }).result
}

test('arguments: patterns in texts, names and numbers, at any depth; what is asked about and sent is the same', async () => {
  await using t = await open({ patterns: ['tok-[a-z]{8}', /\b\d{16}\b/] })
  await run(t, { a: 'x tok-abcdefgh y', b: [{ 'tok-aaaaaaaa': 1 }], card: 4111111111111111, other: 12 })
  const redacted = { a: 'x [redacted] y', b: [{ '[redacted]': 1 }], card: '[redacted]', other: 12 }
  expect(sentArguments(t)).toEqual(redacted)
  expect(t.asked[0]?.arguments).toEqual(redacted)
})

test('keys in any case and with wildcards, paths with any step; the value goes whatever it is', async () => {
  await using t = await open({ keys: ['password', '*_token'], paths: ['/user/*/pin', '/a~1b'] })
  await run(t, { Password: 'x', api_TOKEN: { deep: ['y'] }, user: [{ pin: 1 }, { pin: null, name: 'n' }], 'a/b': true, pin: 2 })
  expect(sentArguments(t)).toEqual({
    Password: '[redacted]',
    api_TOKEN: '[redacted]',
    user: [{ pin: '[redacted]' }, { pin: null, name: 'n' }],
    'a/b': '[redacted]',
    pin: 2,
  })
})

test('arguments without anything to take out are those of the caller', async () => {
  await using t = await open({ patterns: ['tok-[a-z]{8}'], keys: ['password'] })
  const outcome = await t.callTool({ server: 's', tool: 'run', arguments: { a: 1 } }, { trace: true })
  expect(outcome.trace?.taps.map(({ decision, changedArguments }) => [decision, changedArguments])).toEqual([
    ['none', false],
    ['called_next', false],
  ])
})

test('results: structured content, the same as JSON text, and every other text', async () => {
  const data = { user: 'ann', password: 'hunter2-hunter2', rows: [{ password: 'abcdef' }] }
  await using t = await open({ keys: ['password'], patterns: ['tok-[a-z]{8}'] }, () => ({
    content: [
      { type: 'text', text: JSON.stringify(data) },
      { type: 'text', text: 'the password hunter2-hunter2, and tok-abcdefgh' },
      { type: 'resource', resource: { uri: 'a:b', text: 'tok-abcdefgh' } },
    ],
    structuredContent: data,
    odd: { kept: true },
    _meta: { 'example.com/t': 'tok-abcdefgh' },
  }))
  expect(await resultOf(t)).toEqual({
    content: [
      { type: 'text', text: '{"user":"ann","password":"[redacted]","rows":[{"password":"[redacted]"}]}' },
      { type: 'text', text: 'the password [redacted], and [redacted]' },
      { type: 'resource', resource: { uri: 'a:b', text: '[redacted]' } },
    ],
    structuredContent: { user: 'ann', password: '[redacted]', rows: [{ password: '[redacted]' }] },
    odd: { kept: true },
    _meta: { 'example.com/t': '[redacted]' },
  })
})

test('names do not count in the envelope of a result: its type and its text stay', async () => {
  await using t = await open({ keys: ['type', 'text', 'content'] }, () => ({ content: [{ type: 'text', text: 'plain' }] }))
  expect(await resultOf(t)).toEqual({ content: [{ type: 'text', text: 'plain' }] })
})

test('other plugins see results as they are given on', async () => {
  const seen: Json[] = []
  const looks = plugin('looks', ({ hooks }) =>
    hooks.dispatch.tapPromise('look', async (_, next) => {
      const result = await next()
      seen.push(JSON.stringify(result))
      return result
    }),
  )
  await using t = await open({ patterns: ['tok-[a-z]{8}'] }, () => 'tok-abcdefgh', {
    hooks: [looks, redact({ patterns: ['tok-[a-z]{8}'] })],
  })
  await run(t)
  expect(seen).toHaveLength(1)
  expect(seen[0]).not.toContain('tok-abcdefgh')
})

test('what an earlier plugin puts into the arguments is taken out too', async () => {
  const adds = plugin('adds', ({ hooks }) => hooks.resolve.tap('add', (call) => ({ arguments: { ...call.arguments, t: 'tok-abcdefgh' } })))
  await using t = await open({ patterns: ['tok-[a-z]{8}'] }, undefined, { hooks: [redact({ patterns: ['tok-[a-z]{8}'] }), adds] })
  await run(t)
  expect(sentArguments(t)).toEqual({ t: '[redacted]' })
})

test('resources and prompts: results are redacted, arguments of prompts too; an address with something in it is refused', async () => {
  await using t = await open({ patterns: ['tok-[a-z]{8}'] })
  const { session } = t
  expect((await session.readResource({ server: 's', uri: 'a:b' })).contents).toMatchObject([{ text: 'a [redacted] b' }])
  const prompt = await session.getPrompt({ server: 's', prompt: 'ask', arguments: { q: 'tok-abcdefgh' } })
  expect(prompt.messages).toEqual([{ role: 'user', content: { type: 'text', text: 'asked [redacted]' } }])
  await expect(session.readResource({ server: 's', uri: 'a:tok-abcdefgh' })).rejects.toMatchObject({ code: 'CALL_REFUSED' })
  expect(JSON.stringify(t.sent)).not.toContain('tok-abcdefgh')
})

test('an error that says what must not be seen is withheld; others end as they came', async () => {
  const s = scriptedServer({
    prompts: {
      bad: () => {
        throw new Error('no tok-abcdefgh')
      },
      other: () => {
        throw new Error('no such thing')
      },
    },
  })
  await using t = await openTestRuntime({ threadWide: { s }, hooks: [redact({ patterns: ['tok-[a-z]{8}'] })] })
  const failure = await t.session.getPrompt({ server: 's', prompt: 'bad' }).then(
    () => null,
    (error: unknown) => error as Error & { readonly code: string },
  )
  expect(failure?.code).toBe('HOOK_FAILED')
  for (let one: unknown = failure; one instanceof Error; one = one.cause)
    expect(`${one.message} ${one.stack}`).not.toContain('tok-abcdefgh')
  await expect(t.session.getPrompt({ server: 's', prompt: 'other' })).rejects.toMatchObject({ code: 'SERVER_FAILED' })
})

test('paths count from structuredContent in a result that was not accepted, too', async () => {
  const answer = { content: [{ type: 'text', text: 'see there' }], structuredContent: { user: { pin: 'hunter22' }, n: 'many' } }
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } } } as const
  const s = scriptedServer({ tools: { run: { outputSchema, run: () => answer } } })
  const end = async (path: string): Promise<object> => {
    const policies = { s: { outputSchema: 'enforce' } } as const
    await using t = await openTestRuntime({ threadWide: { s }, policies, hooks: [redact({ paths: [path] })] })
    return await run(t)
  }
  const withheld = await end('/user/pin')
  expect(withheld).toMatchObject({ outcome: 'result_withheld' })
  expect(JSON.stringify(withheld)).not.toContain('hunter22')
  expect(await end('/content')).toMatchObject({ outcome: 'server_failed', rawResult: answer })
})

test('one side only', async () => {
  await using results = await open({ patterns: ['tok-[a-z]{8}'], arguments: false }, ({ a }) => a)
  expect((await resultOf(results, { a: 'tok-abcdefgh' })).content).toMatchObject([{ text: '[redacted]' }])
  expect(sentArguments(results)).toEqual({ a: 'tok-abcdefgh' })
  await using args = await open({ patterns: ['tok-[a-z]{8}'], results: false }, () => 'tok-abcdefgh')
  expect((await resultOf(args)).content).toMatchObject([{ text: 'tok-abcdefgh' }])
})

test('replace: another text, or a function of the match', async () => {
  await using text = await open({ patterns: ['tok-[a-z]{8}'], replace: '$&' })
  await run(text, { a: 'tok-abcdefgh' })
  expect(sentArguments(text)).toEqual({ a: '$&' })
  await using made = await open({ patterns: [/tok-(?<x>[a-z]{8})/y], keys: ['n'], replace: (match) => `<${match.length}>` })
  await run(made, { a: 'x tok-abcdefgh tok-abcdefgh', n: [1, 2] })
  expect(sentArguments(made)).toEqual({ a: 'x <12> <12>', n: '<5>' })
})

test('a replace that gives no text, or throws, stops the call: nothing is sent', async () => {
  const throws = (): string => {
    throw new Error('broken')
  }
  for (const replace of [() => undefined as never as string, throws]) {
    await using t = await open({ patterns: ['tok-[a-z]{8}'], replace })
    expect(await run(t, { a: 'tok-abcdefgh' })).toMatchObject({ outcome: 'refused', by: 'tap_failure', sent: 'no' })
    expect(toolCalls(t)).toEqual([])
  }
})

test('matches that overlap go as one', async () => {
  await using t = await open({ patterns: ['tok-[a-z]{4}', 'abcdefgh', /gh-end/], keys: ['password'] })
  await run(t, { a: 'x tok-abcdefgh-end y', password: 'xtok-abcdefghx', b: 'it is xtok-abcdefghx' })
  expect(sentArguments(t)).toEqual({ a: 'x [redacted] y', password: '[redacted]', b: 'it is [redacted]' })
})

test('two names that become one lose no value', async () => {
  await using t = await open({ patterns: ['tok-[a-z]{8}'] })
  await run(t, { 'tok-aaaaaaaa': 1, 'tok-bbbbbbbb': 2, '[redacted] 2': 3, __proto__x: 4 })
  expect(Object.values(sentArguments(t) as object)).toEqual([1, 2, 3, 4])
})

test('what is nested too deeply to look at is taken out whole', async () => {
  let deep: Json = 'tok-abcdefgh'
  for (let n = 0; n < 2000; n++) deep = [deep]
  await using t = await open({ patterns: ['tok-[a-z]{8}'], keys: ['password'] }, () => ({ content: [], structuredContent: { deep } }))
  expect(JSON.stringify(await resultOf(t))).not.toContain('tok-abcdefgh')
})

test('a pattern that would hang another engine is linear', async () => {
  await using t = await open({ patterns: ['(a+)+$'] })
  await run(t, { b: `${'a'.repeat(50_000)}!` })
  expect(sentArguments(t)).toEqual({ b: `${'a'.repeat(50_000)}!` })
})

// ---- for all inputs

const secret = fc.stringMatching(/^tok-[a-z]{8}$/)
const withSecret = fc.tuple(fc.string(), secret, fc.string()).map((parts) => parts.join(''))
const tree = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(withSecret, fc.string(), fc.integer(), fc.constant(null), fc.boolean()),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(withSecret, fc.string(), fc.constant('password')), tie('json'), { maxKeys: 3 }),
    tie('json').map((value) => JSON.stringify(value)),
  ),
})).json

test('no match of a pattern is in anything that is sent or comes back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), tree), tree, async (args, given) => {
      await using t = await open({ patterns: ['tok-[a-z]{8}'] }, () => ({
        content: [{ type: 'text', text: JSON.stringify(given) }],
        structuredContent: { given },
      }))
      const result = await resultOf(t, args)
      for (const value of [sentArguments(t), result]) expect(JSON.stringify(value)).not.toMatch(/tok-[a-z]{8}/)
    }),
    { numRuns: 60 },
  )
})

test('what has nothing in it is the object that came', () => {
  const redactor = new Redactor({ patterns: [linearPattern('tok-[a-z]{8}')], keys: ['passwort'], paths: [['a', '*']], instead: () => '!' })
  fc.assert(
    fc.property(tree, (value) => {
      fc.pre(!/tok-[a-z]{8}/.test(JSON.stringify(value)))
      const given = { given: value }
      expect(redactor.redact(given, true)).toBe(given)
      expect(redactor.redactResult(given)).toBe(given)
    }),
  )
})

test('the value of a name is nowhere in what is sent or comes back: not as a member, not in a text that is JSON, not in another text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[A-Za-z0-9]{12,20}$/), tree, async (value, around) => {
      const data: JsonObject = { around, inner: [{ Password: value }], note: `it is ${value}!` }
      await using t = await open({ keys: ['password'] }, () => ({
        content: [
          { type: 'text', text: value },
          { type: 'text', text: JSON.stringify({ again: JSON.stringify(data) }) },
        ],
        structuredContent: data,
      }))
      const result = await resultOf(t, data)
      for (const one of [sentArguments(t), result]) expect(JSON.stringify(one)).not.toContain(value)
    }),
    { numRuns: 60 },
  )
})

test.each<[unknown, string]>([
  [{}, 'must have patterns, keys or paths'],
  [{ patterns: [] }, 'patterns: must not be empty'],
  [{ patterns: ['(a'] }, 'patterns.0: error parsing regexp: missing closing ): `(a`'],
  [{ patterns: ['(?=a)'] }, 'patterns.0: error parsing regexp'],
  [{ patterns: [''] }, 'patterns.0: must be a text or a RegExp'],
  [{ patterns: [5] }, 'patterns.0: must be a text or a RegExp'],
  [{ keys: [] }, 'keys: must not be empty'],
  [{ paths: ['a.b'] }, 'paths.0: must begin with /'],
  [{ keys: ['a'], replace: 5 }, 'replace: must be a text or a function'],
  [{ keys: ['a'], results: 1 }, 'results: must be true or false'],
  [{ keys: ['a'], pattern: 'x' }, 'pattern: is no option (did you mean "patterns"?)'],
])('%j is refused: %s', (options, message) => {
  expect(() => redact(options as RedactOptions)).toThrow(
    expect.objectContaining({ code: 'HOOK_BAD_PLUGIN', message: expect.stringContaining(message) as string }),
  )
})

test.each([
  '{"password":"hunter22","password":null}',
  '{"password":"hunter22","a":{"b":1},"password":null}',
  '[{"p\\u0061ssword":"hunter22","password":null}]',
])('a key that is there twice in a text hides nothing: %s', async (text) => {
  await using t = await open({ keys: ['password'] }, () => text)
  expect(JSON.stringify(await resultOf(t))).not.toContain('hunter22')
})
