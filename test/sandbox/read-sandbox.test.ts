import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isTaplineError } from '../../src/errors.ts'
import type { CallMeta } from '../../src/sandbox/index.ts'
import {
  readSandbox,
  sandboxCapability,
  SandboxContradictionError,
  SandboxLauncherError,
  SandboxUnavailableError,
} from '../../src/sandbox/index.ts'
import { folder, givenTo, metaOf, RUNS, script } from './launchers.ts'

const STATE = 'codex/sandbox-state'
const ALIAS = 'codex/sandbox-state-meta'
const LAUNCHER = 'codex/sandbox-launcher'
const state = { permissionProfile: { type: 'managed', future: [1, { b: 2, a: 1 }] }, sandboxCwd: 'file:///x' }

beforeEach(() => void vi.stubEnv('TAPLINE_ALLOW_UNSANDBOXED', undefined))
afterEach(() => void vi.unstubAllEnvs())

test('the capability is spread into experimental and cannot be changed for others', () => {
  expect({ ...sandboxCapability }).toEqual({ [STATE]: {} })
  expect(Object.isFrozen(sandboxCapability) && Object.isFrozen(sandboxCapability[STATE])).toBe(true)
})

describe('the state', () => {
  test('is the original value, by either name; the newer one is preferred', () => {
    expect(readSandbox({ [STATE]: state }).state).toBe(state)
    expect(readSandbox({ [ALIAS]: state }).state).toBe(state)
    expect(readSandbox({ [STATE]: state, [ALIAS]: structuredClone(state) }).state).toBe(state)
    expect(readSandbox({ [STATE]: { a: 1, b: [2, { c: 3, d: 4 }] }, [ALIAS]: { b: [2, { d: 4, c: 3 }], a: 1 } }).state).toEqual({
      a: 1,
      b: [2, { c: 3, d: 4 }],
    })
  })

  test.each<[string, unknown, unknown]>([
    ['another value', { a: 1 }, { a: 2 }],
    ['a field too many', { a: 1 }, { a: 1, b: undefined, c: null }],
    ['another order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['text for a number', { a: 1 }, { a: '1' }],
    ['an object for a list', { a: {} }, { a: [] }],
    ['text for the object', '{"a":1}', { a: 1 }],
    ['deep inside', { a: { b: { c: [{ d: true }] } } }, { a: { b: { c: [{ d: false }] } } }],
  ])('two names with different values are an error, allowed or not: %s', (_what, one, other) => {
    for (const meta of [
      { [STATE]: one, [ALIAS]: other },
      { [STATE]: other, [ALIAS]: one },
    ]) {
      expect(() => readSandbox(meta)).toThrow(SandboxContradictionError)
      expect(() => readSandbox(meta, { allowUnsandboxed: true, log: () => {} })).toThrow(SandboxContradictionError)
    }
  })

  test.each<[string, CallMeta]>([
    ['no _meta', undefined],
    ['null for _meta', null as never],
    ['text for _meta', 'x' as never],
    ['an empty _meta', {}],
    ['the launcher alone', { [LAUNCHER]: { codexExecutable: '/codex' } }],
    ['null', { [STATE]: null }],
    ['inherited keys', Object.create({ [STATE]: state, [LAUNCHER]: { codexExecutable: '/codex' } }) as CallMeta],
    ['another case', { 'Codex/Sandbox-State': state }],
  ])('without one nothing can be run: %s', (_what, meta) => {
    expect(() => readSandbox(meta)).toThrow(SandboxUnavailableError)
    expect(() => readSandbox(meta)).toThrow(
      expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE', remedy: expect.stringContaining('host') }),
    )
  })

  test('too deep to be compared with itself is an error, not a crash', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
    expect(() => readSandbox({ [STATE]: deep, [ALIAS]: deep })).toThrow(SandboxContradictionError)
    const sandbox = readSandbox({ [STATE]: deep, [LAUNCHER]: { codexExecutable: '/codex' } })
    expect(() => sandbox.spawn('true')).toThrow(SandboxLauncherError)
  })
})

describe('the launcher', () => {
  test('is null where the host names none: the state is there, and nothing can be run', async () => {
    const sandbox = readSandbox({ [STATE]: state })
    expect([sandbox.state, sandbox.launcher, sandbox.sandboxed]).toEqual([state, null, false])
    expect(() => sandbox.spawn('true')).toThrow(SandboxUnavailableError)
    await expect(sandbox.run('true')).rejects.toThrow(SandboxUnavailableError)
  })

  test.each<[string, unknown]>([
    ['a bare name', { codexExecutable: 'codex' }],
    ['a relative path', { codexExecutable: './codex' }],
    ['a parent', { codexExecutable: '../codex' }],
    ['empty', { codexExecutable: '' }],
    ['with a NUL', { codexExecutable: '/co\0dex' }],
    ['not UTF-8', { codexExecutable: '/co\uFFFDdex' }],
    ['half of a surrogate pair', { codexExecutable: '/co\ud800dex' }],
    ['a number', { codexExecutable: 7 }],
    ['no path', {}],
    ['text', '/codex'],
    ['a list', ['/codex']],
    ['inherited', Object.create({ codexExecutable: '/codex' })],
  ])('that is no absolute path is an error, allowed or not: %s', (_what, launcher) => {
    for (const allowUnsandboxed of [false, true]) {
      const read = (): unknown => readSandbox({ [STATE]: state, [LAUNCHER]: launcher }, { allowUnsandboxed, log: () => {} })
      expect(read).toThrow(expect.objectContaining({ code: 'SANDBOX_CONTRADICTION' }))
    }
  })

  test('is never looked for on PATH', async () => {
    const decoy = script('echo decoy')
    vi.stubEnv('PATH', `${join(decoy, '..')}:${process.env['PATH']}`)
    expect(() => readSandbox({ [STATE]: state, [LAUNCHER]: { codexExecutable: 'codex' } })).toThrow(SandboxContradictionError)
    await expect(readSandbox(metaOf(state, join(folder(), 'codex'))).run('true')).rejects.toMatchObject({ code: 'SANDBOX_LAUNCHER_FAILED' })
  })
})

test('the launcher gets the state as one argument, unknown fields and all, then the command after --', async () => {
  const launcher = script(RUNS)
  const odd = { ...state, future: { deep: [null, 1.5, 'ü', '\'; echo "$(x)" `y`\n'], 'codex/x': {} } }
  const sandbox = readSandbox(metaOf(odd, launcher))
  expect(sandbox.sandboxed).toBe(true)
  const { stdout, code, from } = await sandbox.run('printf', ['%s|', '-x', '--help', '$HOME', '', 'a b', '*'])
  expect([stdout, code, from]).toEqual(['-x|--help|$HOME||a b|*|', 0, 'command'])
  const [first, second, text, ...rest] = givenTo(launcher)
  expect([first, second, rest]).toEqual([
    'sandbox',
    '--sandbox-state-json',
    ['--', 'printf', '%s|', '-x', '--help', '$HOME', '', 'a b', '*'],
  ])
  expect(text).toBe(JSON.stringify(odd))
})

test('any JSON state arrives as the value that was sent', async () => {
  const launcher = script(RUNS)
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue().filter((value) => value !== null),
      async (value) => {
        const sent = JSON.parse(JSON.stringify(value)) as unknown
        await readSandbox(metaOf(sent, launcher)).run('true')
        expect(JSON.parse(givenTo(launcher)[2] as string)).toEqual(sent)
      },
    ),
    { numRuns: 25 },
  )
})

test.runIf(process.platform === 'linux')(
  'a state, command or argument beyond 128 KiB is an error that says so; one byte less arrives',
  async () => {
    const launcher = script(RUNS)
    const fill = (bytes: number): { x: string } => ({ x: 'ü'.repeat((bytes - '{"x":""}'.length) / 2) })
    expect((await readSandbox(metaOf(fill(131_070), launcher)).run('true')).code).toBe(0)
    const tooLong = readSandbox(metaOf(fill(131_072), launcher))
    expect(() => tooLong.spawn('true')).toThrow(SandboxLauncherError)
    await expect(tooLong.run('true')).rejects.toThrow(
      'the sandbox state has 131072 bytes; this platform allows 131071 at most in one argument',
    )
    await expect(readSandbox(metaOf(state, launcher)).run('true', ['', 'x'.repeat(131_072)])).rejects.toThrow(
      'argument 2 of the command has 131072',
    )
  },
)

test('what a command line cannot be is a TypeError, and options that change what runs are refused', async () => {
  const sandbox = readSandbox(metaOf(state, script(RUNS)))
  await expect(sandbox.run('')).rejects.toThrow(TypeError)
  await expect(sandbox.run(undefined as never)).rejects.toThrow(TypeError)
  await expect(sandbox.run('true', ['a\0b'])).rejects.toThrow(TypeError)
  await expect(sandbox.run('true', [{} as never])).rejects.toThrow(TypeError)
  await expect(sandbox.run('true', [], { maxBytes: 0 })).rejects.toThrow(TypeError)
  for (const more of [{ shell: true }, { shell: '/bin/sh' }, { argv0: 'codex-linux-sandbox' }, { windowsVerbatimArguments: true }])
    expect(() => sandbox.spawn('true', [], more as never)).toThrow(TypeError)
})

describe('the opt-out of the operator', () => {
  const lines: string[] = []
  const log = (line: string): void => void lines.push(line)
  beforeEach(() => void (lines.length = 0))

  test('runs commands without a sandbox, and logs every use', async () => {
    const sandbox = readSandbox(undefined, { allowUnsandboxed: true, log })
    expect([sandbox.state, sandbox.launcher, sandbox.sandboxed, lines.length]).toEqual([undefined, null, false, 1])
    expect(await sandbox.run('sh', ['-c', 'echo out; exit 2'])).toEqual({
      stdout: 'out\n',
      stderr: '',
      code: 2,
      signal: null,
      from: 'command',
    })
    await sandbox.spawn('true').ended
    expect(lines).toEqual([
      'tapline/sandbox: a call goes on without a sandbox: the host sent no sandbox state with this call; allowed by allowUnsandboxed',
      'tapline/sandbox: "sh" runs without a sandbox: the host sent no sandbox state with this call; allowed by allowUnsandboxed',
      'tapline/sandbox: "true" runs without a sandbox: the host sent no sandbox state with this call; allowed by allowUnsandboxed',
    ])
  })

  test('holds for a missing launcher too, and is not used where there is a sandbox', async () => {
    const meta = { [STATE]: state }
    await readSandbox(meta, { allowUnsandboxed: true, log }).run('true')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('no sandbox launcher')
    const launcher = script(RUNS)
    const sandbox = readSandbox(metaOf(state, launcher), { allowUnsandboxed: true, log })
    await sandbox.run('true')
    expect([sandbox.sandboxed, lines.length, givenTo(launcher)[0]]).toEqual([true, 2, 'sandbox'])
  })

  test('a launcher that fails is no reason to run without it', async () => {
    const sandbox = readSandbox(metaOf(state, join(folder(), 'gone')), { allowUnsandboxed: true, log })
    await expect(sandbox.run('true')).rejects.toThrow(SandboxLauncherError)
    expect(lines).toEqual([])
  })

  test.each(['0', '', 'true', 'yes', ' 1'])('TAPLINE_ALLOW_UNSANDBOXED=%j is no yes', (value) => {
    vi.stubEnv('TAPLINE_ALLOW_UNSANDBOXED', value)
    expect(() => readSandbox({}, { log })).toThrow(SandboxUnavailableError)
  })

  test('TAPLINE_ALLOW_UNSANDBOXED=1 is one, on stderr where nobody takes the log', async () => {
    vi.stubEnv('TAPLINE_ALLOW_UNSANDBOXED', '1')
    const write = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
    try {
      expect((await readSandbox({}).run('echo', ['x'])).stdout).toBe('x\n')
      expect(write.mock.calls.map(([text]) => String(text))).toEqual([
        expect.stringContaining('allowed by TAPLINE_ALLOW_UNSANDBOXED=1\n'),
        expect.stringContaining('"echo" runs without a sandbox'),
      ])
    } finally {
      write.mockRestore()
    }
  })

  test('what a model may have put into a name cannot break the line', async () => {
    const sandbox = readSandbox(undefined, { allowUnsandboxed: true, log })
    await expect(sandbox.run('no\nsuch\u001b[31m thing')).rejects.toThrow(SandboxLauncherError)
    expect(lines[1]).toContain(String.raw`"no\nsuch\u001b[31m thing" runs`)
  })
})

test('errors are errors of the library, with the name of their class', () => {
  for (const [error, code] of [
    [new SandboxUnavailableError('x'), 'SANDBOX_UNAVAILABLE'],
    [new SandboxContradictionError('x'), 'SANDBOX_CONTRADICTION'],
    [new SandboxLauncherError('x', 'said'), 'SANDBOX_LAUNCHER_FAILED'],
  ] as const) {
    expect(isTaplineError(error) && error instanceof Error).toBe(true)
    expect([error.code, error.name, String(error)]).toEqual([code, error.constructor.name, `${error.constructor.name}: x`])
  }
})
