/** Fifteen MiB in thirty thousand blocks, twelve MiB in structured content, and messages on either side of the frame limit. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Case, SLOW } from './driver.ts'
import { on, sessionOn } from './session.ts'

const MIB = 1024 * 1024

test('of many small blocks the first are kept, whole and in order; the file has all of them', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  const file = at.path('all.json')
  const outcome = await session.callTool(on('blocks'), { overflowFile: file })
  if (outcome.outcome !== 'completed') throw new Error(outcome.message)
  const texts = outcome.result.content.map((block) => block['text'] as string)
  expect(texts.length).toBeGreaterThan(10_000)
  texts.slice(0, -2).forEach((text, i) => expect(text).toBe(`${i}`.padStart(500, '.')))
  expect(texts.at(-1)).toMatch(/too large .* Left out: \d.*text/)
  expect(JSON.stringify(outcome.result).length).toBeLessThan(9 * MIB)
  expect(JSON.parse(readFileSync(file, 'utf8')).content).toHaveLength(30_000)
})

test('structured content is held against its schema whole, and left out whole', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  const outcome = await session.callTool(on('deep_data'))
  expect(outcome).toMatchObject({
    outcome: 'completed',
    result: { content: [{ text: 'short' }, { text: expect.stringContaining('structuredContent') }] },
    overflow: { limitBytes: 8 * MIB },
  })
  expect(outcome.outcome === 'completed' && outcome.result.structuredContent).toBeUndefined()
})

test('a message just below the frame limit arrives, one above it fails its call alone', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs', { maxResultBytes: 64 * MIB })
  const near = await session.callTool(on('near_limit'))
  expect(near.outcome === 'completed' && (near.result.content[0]!['text'] as string).length).toBe(60 * MIB)
  const [over, quick] = await Promise.all([session.callTool(on('over_limit')), session.callTool(on('quick'))])
  expect(over).toMatchObject({ outcome: 'server_failed', message: expect.stringMatching(/frame over the limit of 64/) })
  expect(quick).toMatchObject({ outcome: 'completed' })
  expect(new Set(at.ledger({ ev: 'in' }).map(({ pid }) => pid)).size).toBe(1)
})
