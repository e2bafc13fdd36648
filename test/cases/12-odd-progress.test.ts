/** Progress that is malformed, and progress of somebody else. */
import { expect, test } from 'vitest'
import { Case, SLOW } from './driver.ts'
import { on, sessionOn } from './session.ts'

test('malformed progress costs nothing: the call ends well, and its caller hears what can be read', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  const heard: unknown[] = []
  const outcome = await session.callTool(on('odd_progress'), { onProgress: (progress) => heard.push(progress) })
  expect(outcome).toMatchObject({ outcome: 'completed', forModel: { text: 'done' } })
  expect(heard).toContainEqual(expect.objectContaining({ progress: 2, total: 4, message: 'going back' }))
  expect(await session.callTool(on('quick'))).toMatchObject({ outcome: 'completed' })
  expect(new Set(at.ledger({ ev: 'in' }).map(({ pid }) => pid)).size).toBe(1)
})

test('signs of life of somebody else keep no call alive', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs', { toolTimeoutSec: 0.5 })
  const outcome = await session.callTool(on('foreign_progress'))
  expect(outcome).toMatchObject({ outcome: 'timed_out', limitMs: 500 })
  expect(at.seen('notifications/cancelled').length).toBeLessThanOrEqual(1)
  expect(await session.callTool(on('quick'))).toMatchObject({ outcome: 'completed' })
})
