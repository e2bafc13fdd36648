import { expect, test } from 'vitest'
import { parseApprove } from '../../src/cli/approver.ts'
import { choicesOf } from '../../src/cli/ask.ts'
import { targetOf } from '../../src/cli/commands/call.ts'
import { allFailed } from '../../src/cli/commands/status.ts'
import type { Globals } from '../../src/cli/globals.ts'
import { asksForJson, parseFlag } from '../../src/cli/globals.ts'
import { createProgram } from '../../src/cli/program.ts'
import { requiredSelector, selectorOf } from '../../src/cli/selector.ts'

/** What a command line comes to; the command itself is not run. */
async function parse(...argv: string[]): Promise<{ globals: Globals; help: string }> {
  let globals: Globals | undefined
  let help = ''
  const program = createProgram({
    color: true,
    writeHelp: (text) => void (help += text),
    writeUsage: (text) => void (help += text),
    run: async (given) => void (globals = given),
  })
  await program.parseAsync(argv, { from: 'user' })
  return { globals: globals as unknown as Globals, help }
}

const PLAIN = { config: [], flags: {}, targetingKey: null, json: false, quiet: false, color: true }

test('global options stand before or after the command', async () => {
  const expected = {
    config: ['a.json', 'b.json'],
    flags: { one: true, two: false, three: '3' },
    targetingKey: 'me',
    json: true,
    quiet: true,
    color: false,
  }
  const options = [
    '--config',
    'a.json',
    '--config',
    'b.json',
    '--enable',
    'one',
    '--disable',
    'two',
    '--flag',
    'three=3',
    '--targeting-key',
    'me',
    '--json',
    '--quiet',
    '--no-color',
  ]
  expect((await parse(...options, 'tools')).globals).toEqual(expected)
  expect((await parse('tools', ...options)).globals).toEqual(expected)
  expect((await parse('call', 'name', '{}', '--timeout', '5', ...options, '--trace')).globals).toEqual(expected)
  expect((await parse(...options.slice(0, 4), 'resources', 'list', '--server', 's', ...options.slice(4))).globals).toEqual(expected)
  expect((await parse('config', 'check')).globals).toEqual(PLAIN)
})

test('the last word on a flag counts, and a flag may have any name', async () => {
  expect((await parse('--enable', 'x', 'tools', '--disable', 'x')).globals.flags).toEqual({ x: false })
  expect((await parse('--disable', 'x', '--enable', 'x', 'tools')).globals.flags).toEqual({ x: true })
  expect(Object.keys((await parse('--enable', '__proto__', 'tools')).globals.flags)).toEqual(['__proto__'])
  expect(parseFlag('a=b=c')).toEqual(['a', 'b=c'])
  expect(() => parseFlag('a')).toThrow(expect.objectContaining({ code: 'CLI_USAGE' }))
})

test.each([
  [['tols'], /unknown command 'tols'[\s\S]*tools/],
  [['tools', '--jsn'], /unknown option '--jsn'[\s\S]*--json/],
  [['call'], /missing required argument 'name'/],
  [['tools', 'extra'], /too many arguments/],
  [['status', '--limit', 'many'], /--limit[\s\S]*whole number/],
  [['status', '--limit', '-1'], /--limit/],
  [['status', '--detail', 'much'], /full, tools_and_auth/],
  [['call', 'x', '--timeout', '0'], /above 0/],
  [['call', 'x', '--timeout', 'soon'], /above 0/],
  [['--config'], /argument missing/],
  [['call', 'x', '--approve', 'maybe'], /--approve cannot be "maybe"/],
])('a mistake is told: %j', async (argv, message) => {
  await expect(parse(...argv)).rejects.toThrow(message)
})

test('what follows -- is no option', async () => {
  expect((await parse('call', 'name', '--', '--json')).globals.json).toBe(false)
  expect(asksForJson(['call', 'x', '--', '--json'])).toBe(false)
  expect(asksForJson(['call', 'x', '--json'])).toBe(true)
})

test('every command has help with the global options', async () => {
  for (const argv of [
    ['tools'],
    ['call'],
    ['explain'],
    ['status'],
    ['resources', 'list'],
    ['resources', 'templates'],
    ['resources', 'read'],
    ['prompts', 'list'],
    ['prompts', 'get'],
    ['flags', 'list'],
    ['config', 'check'],
    ['config', 'show'],
    ['trust'],
    ['untrust'],
    ['demo'],
  ]) {
    const program = createProgram({
      color: true,
      writeHelp: (text) => expect(text).toContain('--config <file>'),
      writeUsage: () => {},
      run: async () => {},
    })
    await expect(program.parseAsync([...argv, '--help'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 })
  }
})

test('the words of the selectors', () => {
  expect(selectorOf({ server: 's', environment: 'thread-wide', installation: 'default' })).toEqual({
    server: 's',
    environmentId: 'thread-wide',
    installationId: 'default',
  })
  expect(selectorOf({ server: 's', environment: 'e', installation: 'i' })).toEqual({ server: 's', environmentId: 'e', installationId: 'i' })
  expect(selectorOf({ server: '', environment: '', installation: '' })).toEqual({})
  expect(() => requiredSelector({})).toThrow(/server must be provided/)
  expect(() => requiredSelector({ environment: 'e' })).toThrow(/environment_id can only be used when a server is specified/)
})

test('a call is named by visible name, or by server and raw name', () => {
  expect(targetOf('n', {})).toEqual({ name: 'n' })
  expect(targetOf('n', { server: 's', environment: 'e' })).toEqual({ server: 's', environmentId: 'e', tool: 'n' })
  expect(() => targetOf('n', { environment: 'e' })).toThrow(/--environment needs --server/)
  expect(() => targetOf('n', { installation: 'i' })).toThrow(/--installation needs --server/)
})

test('--approve takes four words', () => {
  expect(['once', 'session', 'always', 'deny'].map(parseApprove)).toEqual(['once', 'session', 'always', 'deny'])
  expect(() => parseApprove('toString')).toThrow(/cannot be/)
})

test('what must not be remembered is not offered', () => {
  expect(choicesOf({ canRemember: ['session'] }).map(({ value }) => value)).toEqual(['once', 'session', 'no'])
  expect(choicesOf({ canRemember: [] }).map(({ value }) => value)).toEqual(['once', 'no'])
})

test('a page of failures only is a failure; servers that are switched off do not count', () => {
  const error = { code: 'SERVER_FAILED', message: '', remedy: '' } as const
  expect(allFailed({ data: [], nextCursor: null })).toBe(false)
  expect(allFailed({ data: [{ runtimeStatus: 'disabled', error: null }], nextCursor: null })).toBe(false)
  expect(
    allFailed({
      data: [
        { runtimeStatus: 'failed', error },
        { runtimeStatus: 'disabled', error: null },
      ],
      nextCursor: null,
    }),
  ).toBe(true)
  expect(
    allFailed({
      data: [
        { runtimeStatus: 'failed', error },
        { runtimeStatus: 'connected', error: null },
      ],
      nextCursor: null,
    }),
  ).toBe(false)
})
