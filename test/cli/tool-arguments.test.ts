import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseToolArguments, readToolArguments } from '../../src/cli/tool-arguments.ts'

const interrupt = { signal: new AbortController().signal }
const from = (stdin = '', cwd = '/'): { cwd: string; stdin: Readable; interrupt: typeof interrupt } => ({
  cwd,
  stdin: Readable.from([stdin]),
  interrupt,
})

test('JSON, a file, standard input, and nothing at all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapline-args-'))
  try {
    await writeFile(join(folder, 'a.json'), '\uFEFF{"a": "file"}')
    expect(await readToolArguments('{"a":1}', from())).toEqual({ a: 1 })
    expect(await readToolArguments('@a.json', from('', folder))).toEqual({ a: 'file' })
    expect(await readToolArguments(`@${folder}/a.json`, from())).toEqual({ a: 'file' })
    expect(await readToolArguments('-', from(' {"a": "stdin"}\n'))).toEqual({ a: 'stdin' })
    expect(await readToolArguments(undefined, from('{"a": "not read"}'))).toBeUndefined()
    expect(await readToolArguments('[1]', from())).toEqual([1])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.each([
  ['{"a":1,}', 1, 8],
  ['{a:1}', 1, 2],
  ["{'a':1}", 1, 2],
  ['{"a":1', 1, 7],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ['hello', 1, 1],
  ['', 1, 1],
  ['{} x', 1, 4],
  ['{"a": "\n"}', 1, 7],
])('broken JSON %j is told with its place %i:%i', async (text, line, column) => {
  await expect(parseToolArguments(text, 'ARGS')).rejects.toMatchObject({
    code: 'CALL_INVALID_REQUEST',
    where: `ARGS:${line}:${column}`,
    message: expect.stringMatching(/^the arguments are not JSON: \w/),
  })
})

test('a file that is not there is named', async () => {
  await expect(readToolArguments('@absent.json', from('', '/nowhere'))).rejects.toMatchObject({
    code: 'CALL_INVALID_REQUEST',
    message: expect.stringContaining('/nowhere/absent.json: it is not there'),
  })
})

test('any text is JSON or a coded error with a place inside it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((text) => text.slice(0, -1)),
      ),
      async (text) => {
        const ended = await parseToolArguments(text, 'ARGS').then(
          (value) => ({ value }),
          (error: { code: string; where: string }) => ({ error }),
        )
        const [, line, column] = /^ARGS:(\d+):(\d+)$/.exec('error' in ended ? ended.error.where : '') ?? []
        const isRight =
          'value' in ended
            ? isDeepStrictEqual(ended.value, JSON.parse(text.replace(/^\uFEFF/, '')))
            : ended.error.code === 'CALL_INVALID_REQUEST' && Number(line) <= text.split('\n').length && Number(column) <= text.length + 1
        expect(isRight).toBe(true)
      },
    ),
  )
})

test('brackets without an end are a mistake like any other', async () => {
  await expect(parseToolArguments('['.repeat(500_000), 'ARGS')).rejects.toMatchObject({ code: 'CALL_INVALID_REQUEST', where: 'ARGS:1:1' })
})
