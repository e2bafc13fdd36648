import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDocument } from '../../src/documents/document.ts'
import type { Value } from '../../src/documents/value.ts'
import { toJson } from '../../src/documents/value.ts'
import { failure, loadText } from './files.ts'

/** Random space between tokens: blanks, line ends of all kinds, comments. */
const gap = fc
  .array(fc.constantFrom(' ', '\t', '\n', '\r\n', '\r', '/* a\n"x": { */', '// "y": [\n'), { maxLength: 4 })
  .map((parts) => parts.join(''))

interface Pieces {
  readonly text: string
  /** offset of the planted key, or -1 */
  readonly planted: number
}

/** Writes a value with random space; members named PLANTED are found again by their offset. */
function written(value: unknown, next: () => string): Pieces {
  let text = ''
  let planted = -1
  const put = (one: unknown): void => {
    text += next()
    if (typeof one !== 'object' || one === null) text += JSON.stringify(one)
    else if (Array.isArray(one)) {
      text += '['
      one.forEach((item, index) => {
        if (index > 0) text += `${next()},`
        put(item)
      })
      text += `${next()}]`
    } else {
      text += '{'
      Object.entries(one).forEach(([name, member], index) => {
        if (index > 0) text += `${next()},`
        text += next()
        if (name.startsWith('PLANTED:')) planted = text.length
        text += `${JSON.stringify(name.replace(/^PLANTED:/, ''))}${next()}:`
        put(member)
      })
      text += `${next()}}`
    }
    text += next()
  }
  put(value)
  return { text, planted }
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/)
  return `${before.length}:${(before.at(-1) as string).length + 1}`
}

/** The same members with one more at a random position. */
function withMember(object: Record<string, unknown>, at: number, name: string, value: unknown): Record<string, unknown> {
  const entries = Object.entries(object)
  entries.splice(at % (entries.length + 1), 0, [name, value])
  return Object.fromEntries(entries)
}

const stdio = { command: 'node', args: ['ü "quoted"', '😀\t'], env: { A: 'é' } }
const document = (): Record<string, unknown> => ({
  environments: {
    one: { cwd: '.', mcpServers: { scoped: { ...stdio } } },
    two: { permissions: { type: 'read-only', networkAccess: false } },
  },
  selectedEnvironments: ['one'],
  mcpServers: {
    first: { ...stdio, tools: { '😀': { approvalMode: 'auto' } } },
    second: { url: 'http://127.0.0.1/', httpHeaders: { A: 'b' } },
  },
  hooks: [{ package: 'x', options: { deep: [{ er: 1 }] } }],
  features: { f: true },
  naming: { maxLength: 64 },
})
/** Way to an object, a typo, the key that it is nearest to, and whether it costs only a server. */
const spots: readonly (readonly [readonly (string | number)[], string, string, boolean])[] = [
  [[], 'mcpServerz', 'mcpServers', false],
  [[], 'selectedEnviroments', 'selectedEnvironments', false],
  [['environments', 'one'], 'permisions', 'permissions', false],
  [['environments', 'two', 'permissions'], 'writeableRoots', 'writableRoots', false],
  [['hooks', 0], 'optoins', 'options', false],
  [['naming'], 'maxlenght', 'maxLength', false],
  [['mcpServers', 'first'], 'dissabledTools', 'disabledTools', true],
  [['mcpServers', 'first'], 'tool_timeout_sce', 'toolTimeoutSec', true],
  [['mcpServers', 'first', 'tools', '😀'], 'aprovalMode', 'approvalMode', true],
  [['mcpServers', 'second'], 'httpHeader', 'httpHeaders', true],
  [['environments', 'one', 'mcpServers', 'scoped'], 'comand', 'command', true],
]

test('a planted unknown key is reported at exactly its line and column, with the nearest key', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...spots),
      fc.nat(20),
      fc.array(gap, { minLength: 40, maxLength: 40 }),
      fc.json(),
      fc.boolean(),
      async ([way, typo, near, serverOnly], at, gaps, junk, bom) => {
        const plant = (value: unknown, rest: readonly (string | number)[]): unknown => {
          const [step, ...more] = rest
          if (step === undefined) return withMember(value as Record<string, unknown>, at, `PLANTED:${typo}`, JSON.parse(junk))
          if (Array.isArray(value)) return value.map((item, index) => (index === step ? plant(item, more) : item))
          return Object.fromEntries(
            Object.entries(value as object).map(([name, member]) => [name, name === step ? plant(member, more) : member]),
          )
        }
        let turn = 0
        const { text, planted } = written(plant(document(), way), () => gaps[turn++ % gaps.length] as string)
        const place = lineAndColumn(text, planted)
        const content = `${bom ? '\uFEFF' : ''}${text}`
        const found = serverOnly
          ? (await loadText(content)).diagnostics.filter((one) => one.severity === 'error')
          : ((await failure(loadText(content))).data?.['mistakes'] as { where: string; message: string }[])
        const about = found.filter((one) => one.message.includes(`unknown key ${JSON.stringify(typo)}`))
        expect(about.map((one) => one.where?.replace(/^.*\.json:/, ''))).toEqual([place])
        expect(about[0]?.message).toContain(`(did you mean "${near}"?)`)
      },
    ),
    { numRuns: 150 },
  )
}, 60_000)

test('what is handed on unchanged is what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(gap, { minLength: 10, maxLength: 10 }), (value, gaps) => {
      let turn = 0
      // -0 has no text of its own in JSON
      const json = JSON.stringify(value)
      const { text } = written(JSON.parse(json), () => gaps[turn++ % gaps.length] as string)
      const mistakes: string[] = []
      const report = (_: string, message: string): void => void mistakes.push(message)
      const tree = parseDocument(text, 'f', report)
      expect(JSON.stringify(toJson(tree as Value, report))).toBe(json)
      expect(mistakes).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test.each(['9007199254740993', '1e400', '0.1234567890123456789', '-9223372036854775808'])('the number %s would lose digits', (number) => {
  const mistakes: string[] = []
  const report = (_: string, message: string): void => void mistakes.push(message)
  toJson(parseDocument(`{"a":[${number}]}`, 'f', report) as Value, report)
  expect(mistakes).toEqual([expect.stringContaining('the number a[0] cannot be kept exactly')])
})

test.each(['1.0', '1E2', '100000000000000000000', '0.1', '-0.50', '9007199254740991', '1e-7', '5e-324'])(
  'the number %s is kept',
  (number) => {
    const mistakes: string[] = []
    const report = (_: string, message: string): void => void mistakes.push(message)
    expect(toJson(parseDocument(number, 'f', report) as Value, report)).toBe(Number(number))
    expect(mistakes).toEqual([])
  },
)
