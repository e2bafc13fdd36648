// Hooks files: what is read, what is refused with its place, what is told. And the options of commandHooks.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandHooks } from '../../../src/plugins/builtin/index.ts'
import { readHookFile } from '../../../src/plugins/command-hooks/hook-file.ts'
import { CALL, newFolder, openHooked } from './kit.ts'

const folder = newFolder()
const write = (text: string, name = 'hooks.json'): string => {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}
const pre = (hook: string, more = ''): string => `{"hooks":{"PreToolUse":[{${more}"hooks":[${hook}]}]}}`

test('every key that counts, in JSON with comments and in TOML, in both spellings', async () => {
  const json = await readHookFile(
    write(`{ // guards
      "description": "x",
      "hooks": { "PreToolUse": [{ "matcher": "a|b", "hooks": [
        { "type": "command", "command": "one", "timeout": 1.5, "async": true, "statusMessage": "s", "onFailure": "continue" },
        { "type": "command", "command": "two", "timeout": 0, "shell": "bash", "once": true }, ] }],
        "PostToolUse": [{ "hooks": [{ "type": "command", "command": "three", "timeout": 100000 }] }] } }`),
  )
  const shape = ({ hooks }: Awaited<ReturnType<typeof readHookFile>>): unknown =>
    hooks.map(({ id, matcher, command, timeoutMs, isAsync, onFailure }) => [id, matcher, command, timeoutMs, isAsync, onFailure])
  expect(shape(json)).toEqual([
    ['PreToolUse[0].hooks[0]', 'a|b', 'one', 1500, true, 'continue'],
    ['PreToolUse[0].hooks[1]', 'a|b', 'two', 1000, false, 'block'],
    ['PostToolUse[0].hooks[0]', '', 'three', 3_600_000, false, 'block'],
  ])
  expect(json.diagnostics).toEqual([])
  const toml = await readHookFile(
    write(
      `model = "x"\n[hooks.state."a"]\ntrusted_hash = "y"\n[[hooks.PreToolUse]]\nmatcher = "a|b"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "one"\ntimeout = 1.5\nasync = true\non_failure = "continue"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "two"\ntimeout = 0\n[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ntype = "command"\ncommand = "three"\ntimeout = 9000\n`,
      'config.toml',
    ),
  )
  expect(shape(toml)).toEqual(shape(json))
  expect(toml.diagnostics).toEqual([])
})

test.each<[string, RegExp]>([
  ['{"hooks":', /hooks\.json:1:\d+: the JSON is broken/],
  ['[]', /:1:1: the document must be an object/],
  ['{}', /:1:1: there are no "hooks" in the file/],
  ['{"hooks":[]}', /:1:10: hooks must be an object, not a list/],
  ['{"hooks":{"PreToolUse":{}}}', /:1:24: hooks.PreToolUse must be a list/],
  ['{"hooks":{"PreToolUse":[{"matcher":"x"}]}}', /needs "hooks"/],
  ['{"hooks":{"PreToolUse":[{"matcher":7,"hooks":[]}]}}', /matcher must be text, not a number/],
  [pre('{"command":"x"}'), /:1:35: the hook PreToolUse\[0\]\.hooks\[0\] has no type/],
  [pre('{"type":"prompt","prompt":"is it good?"}'), /:1:43: .* has the type "prompt"/],
  [pre('{"type":"agent"}'), /"agent"/],
  [pre('{"type":"http","url":"x"}'), /"http"/],
  [pre('{"type":"command"}'), /needs "command"/],
  [pre('{"type":"command","command":""}'), /command must not be empty/],
  [pre('{"type":"command","command":"x","timeout":"5"}'), /timeout must be a number of seconds/],
  [pre('{"type":"command","command":"x","timeout":-1}'), /timeout must be a number of seconds/],
  [pre('{"type":"command","command":"x","async":"yes"}'), /async must be true or false/],
  [pre('{"type":"command","command":"x","onFailure":"ignore"}'), /onFailure must be "block" or "continue"/],
  [pre('{"type":"command","command":"x","if":"Bash(git *)"}'), /if is not known here; say in the matcher/],
  [pre('{"type":"command","command":"x","command":"y"}'), /"command" is there twice/],
  [
    pre('{"type":"command","command":"x"}', '"matcher":"mcp__(",'),
    /:1:\d+: the matcher "mcp__\(" of PreToolUse\[0\]\.hooks\[0\] is no regular expression/,
  ],
  [
    '{"hooks":{},"PreToolUse":[{"hooks":[{"type":"command","command":"./guard.sh"}]}]}',
    /:1:13: the event "PreToolUse" stands beside "hooks"/,
  ],
  ['{"hooks":{"PreToolUse":[],"PreToolUse":[]}}', /the event "PreToolUse" is there twice/],
])('%s', async (text, expected) => {
  const file = write(text)
  const error = await readHookFile(file).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(expected) })
  expect((error as Error).message).toContain(file)
})

test.each(['command', 'commandWindows'])('a %s that is too long to look through is a mistake; one that just fits is none', async (key) => {
  const long = (length: number): string => write(pre(JSON.stringify({ type: 'command', command: 'x', [key]: 'y'.repeat(length) })))
  await expect(readHookFile(long(8193))).rejects.toThrow(`${key} must be at most 8192 characters`)
  expect((await readHookFile(long(8192))).hooks).toHaveLength(1)
})

test('every mistake of a file is told at once; a file that is not there has its own code', async () => {
  const file = write(pre('{"type":"agent"},{"type":"command"},{"type":"command","command":"x"}', '"matcher":"[",'))
  await expect(readHookFile(file)).rejects.toMatchObject({ data: { mistakes: [{}, {}, {}] } })
  await expect(commandHooks({ file: path.join(folder, 'absent.json') })).rejects.toMatchObject({ code: 'CONFIG_NOT_FOUND' })
})

test('events that are not run and keys that are not known are told, and stop nothing', async () => {
  const told: string[] = []
  const file = write(
    `{"hooks":{"SessionStart":[{"hooks":[{"type":"prompt"}]}],"PreToolUze":[],"Whatever":7,"Stop":"x","PreToolUse":[{"matchr":"x","hooks":[{"type":"command","command":"true","timout":5}]}]}}`,
  )
  await using t = await openHooked({ file, onDiagnostic: ({ code, severity, message }) => told.push(`${severity} ${code} ${message}`) })
  expect((await t.callTool(CALL)).outcome).toBe('completed')
  expect(told).toEqual([
    expect.stringMatching(/^info hook_event_skipped .*SessionStart/),
    expect.stringMatching(/^error hook_event_unknown .*"PreToolUze" \(did you mean "PreToolUse"\?\)/),
    expect.stringMatching(/^warning hook_event_unknown .*"Whatever"/),
    expect.stringMatching(/^info hook_event_skipped .*Stop/),
    expect.stringMatching(/^warning hook_key_unknown .*"matchr" .*"matcher"/),
    expect.stringMatching(/^warning hook_key_unknown .*"timout" .*"timeout"/),
  ])
})

test.each<[unknown, RegExp]>([
  [undefined, /options must be an object/],
  [{}, /one of file and hooks/],
  [{ file: 'a', hooks: {} }, /one of file and hooks/],
  [{ file: 7 }, /file must be a path/],
  [{ fil: 'a' }, /did you mean file/],
  [{ file: 'a', cwd: 'b' }, /cwd must be a path, and belongs to hooks/],
  [{ hooks: {}, onFailure: 'go on' }, /onFailure is/],
  [{ hooks: {}, env: 'PATH' }, /env must be a list/],
])('options %j', async (options, expected) => {
  await expect(commandHooks(options as never)).rejects.toMatchObject({
    code: 'CALL_INVALID_REQUEST',
    message: expect.stringMatching(expected),
  })
})

test('whatever is in a hooks file, it is read or refused with a place', async () => {
  const word = fc.constantFrom('hooks', 'PreToolUse', 'PostToolUse', 'matcher', 'type', 'command', 'timeout', 'async', 'x')
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('command', '*', '(', '', 'server:'),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(tree, async (value) => {
      const file = write(JSON.stringify({ hooks: value }))
      const result = await readHookFile(file).catch((error: { code: string; message: string }) => error)
      expect('code' in result ? [result.code, result.message.includes(`${file}:1:`)] : ['CONFIG_INVALID', true]).toEqual([
        'CONFIG_INVALID',
        true,
      ])
    }),
    { numRuns: 200 },
  )
})
