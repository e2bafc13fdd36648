// Attacks on the line that tells the far side what to start: nothing in it may be taken for more than one word.
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { launchLine } from '../../../src/connections/executors/command/bootstrap.ts'

const windows = process.platform === 'win32'
/** What a shell makes of the line: the words and one variable, each ended by NUL. */
function read(args: readonly string[], value: string): readonly string[] {
  const line = launchLine({ command: 'printf', args, cwd: '/', env: { VALUE: value }, label: 'x' })
  // one line, as the far side reads it
  expect(line.indexOf('\n')).toBe(line.length - 1)
  const script = 'IFS= read -r h; eval "$h"; for w in "$@" "$VALUE"; do printf "%s\\000" "$w"; done'
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { input: line, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\0').slice(0, -1)
}

test.skipIf(windows)('words with everything that a shell knows arrive as they are', () => {
  const odd = [
    `'; echo hacked; '`,
    '$(echo hacked)',
    '`echo hacked`',
    '\\',
    "\\'",
    '"',
    '$tl_n',
    '${tl_h}',
    'a\nb\n\n',
    '\n',
    '\r\n',
    '',
    ' ',
    '-n',
    '--',
    '*',
    '~',
    '!x',
    '\u2028',
    'é€😀',
    "'\"'\"'",
    '\u0004\u0003',
  ]
  expect(read(odd, odd.join(''))).toEqual(['printf', ...odd, odd.join('')])
})

test.skipIf(windows)('any words arrive as they are', () => {
  const word = fc.string({ unit: fc.constantFrom("'", '"', '\\', '\n', '$', '`', ';', ' ', '{', '}', 'a', '\r', '&', '#', 'é') })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), word, (args, value) => {
      expect(read(args, value)).toEqual(['printf', ...args, value])
    }),
    { numRuns: 40 },
  )
})

test.each([['a b'], ['A=B'], ['A;echo'], ['1A'], [''], ['Ä'], ['A\n'], ['tl_s'], ['tl_n'], ['__proto__ ']])(
  'the name %j of a variable is refused before anything is started',
  (name) => {
    const request = { command: 'x', args: [], cwd: '/', env: { [name]: '1' }, label: 'files' }
    expect(() => launchLine(request)).toThrow(expect.objectContaining({ code: 'SERVER_START_FAILED' }))
  },
)

test.each([
  ['command', { command: 'a\0b' }],
  ['argument', { args: ['--safe\0'] }],
  ['folder', { cwd: '/a\0' }],
  ['value', { env: { A: 'a\0b' } }],
])('NUL in a %s is refused, since a shell would drop it', (_what, part) => {
  const request = { command: 'x', args: [], cwd: '/', env: {}, label: 'files', ...part }
  expect(() => launchLine(request)).toThrow(expect.objectContaining({ code: 'SERVER_START_FAILED' }))
})
