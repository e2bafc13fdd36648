/** Reading trace files: whole, broken, cut off, foreign, and in pieces of any size. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GapRecord } from '../../src/index.ts'
import { readTrace } from '../../src/trace/read-trace.ts'
import type { TraceLine } from '../../src/trace/read-trace.ts'

const gap = (time: string, records = 1): GapRecord => ({ v: 1, type: 'gap', time, records })

async function read(bytes: Uint8Array, sizes: readonly number[] = [65_536]): Promise<TraceLine[]> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] as number
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  const lines: TraceLine[] = []
  for await (const line of readTrace(pieces())) lines.push(line)
  return lines
}

test('records come back as they were, whatever is in their texts and however the bytes arrive', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), sizes, fc.boolean(), async (times, chunks, isEnded) => {
      const records = times.map((time, index) => gap(time, index))
      const text = records.map((one) => JSON.stringify(one)).join('\n') + (isEnded && records.length > 0 ? '\n' : '')
      const lines = await read(Buffer.from(text), chunks)
      expect(lines).toEqual(records.map((record, index) => ({ line: index + 1, record: JSON.parse(JSON.stringify(record)) as unknown })))
    }),
    { numRuns: 150 },
  )
})

test('any bytes at all are lines with a problem, or nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      for (const line of await read(bytes, [7])) expect(line.problem).toEqual(expect.any(String))
    }),
    { numRuns: 300 },
  )
})

test('each kind of problem is told with its line, and the rest is read', async () => {
  const good = JSON.stringify(gap('t'))
  const lines = await read(
    Buffer.concat([
      Buffer.from(`${good}\n{bad\n\n   \n[]\nnull\n7\n{"v":2,"type":"call"}\n{"v":1,"type":"later"}\n{"v":1,"type":"gap","time":"t"}\n`),
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      Buffer.from(`${good}\n{"v":1,"type":"gap","ti`),
    ]),
  )
  expect(lines.map(({ line, problem }) => [line, problem])).toEqual([
    [1, undefined],
    [2, 'is not JSON'],
    [5, 'is no record of a trace: it must be object'],
    [6, 'is no record of a trace: it must be object'],
    [7, 'is no record of a trace: it must be object'],
    [8, 'has version 2 of the format; this tapline reads 1'],
    [9, expect.stringContaining('it.type must be one of "session", "call", "gap"')],
    [10, expect.stringContaining('it must have the property "records"')],
    [11, 'is not UTF-8'],
    [12, undefined],
    [13, expect.stringMatching(/^is not JSON; it is the last line, and has no end/)],
  ])
})

test('keys that a later version adds are no problem', async () => {
  const [line] = await read(Buffer.from(`${JSON.stringify({ ...gap('t'), later: { a: 1 } })}\n`))
  expect(line?.record).toEqual({ ...gap('t'), later: { a: 1 } })
})

test('a line that is too long is left out without being held', async () => {
  const long = Buffer.alloc(17 * 1024 * 1024, 0x20)
  const lines = await read(Buffer.concat([long, Buffer.from(`\n${JSON.stringify(gap('t'))}\n`)]))
  expect(lines).toEqual([
    { line: 1, problem: expect.stringContaining('is longer than') },
    { line: 2, record: gap('t') },
  ])
})
