/** Many calls cancelled at once, and answers that come at the same moment as the cancel notice and again after it. */
import { expect, test } from 'vitest'
import { Case, SLOW, until } from './driver.ts'
import { on, sessionOn } from './session.ts'

test('twenty calls cancelled at once: one notice each, with the id of its request, and the server goes on', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  await session.listTools()
  const warnings: string[] = []
  const warned = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', warned)
  const abort = new AbortController()
  const calls = Array.from({ length: 20 }, () => session.callTool(on('hangs'), { signal: abort.signal }))
  await until(() => at.calls().length === 20)
  abort.abort(new Error('the words of the caller stay here'))
  for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ outcome: 'cancelled', by: 'host' })
  expect(await session.callTool(on('quick'))).toMatchObject({ outcome: 'completed' })
  const notices = at.seen('notifications/cancelled')
  expect(notices).toHaveLength(20)
  // one signal for a whole turn of a model is no leak
  process.off('warning', warned)
  expect(warnings).toEqual([])
  const ids = at
    .seen('tools/call')
    .slice(0, 20)
    .map((entry) => entry['id'] as number)
  expect(new Set(notices.map(({ params }) => params.requestId))).toEqual(new Set(ids))
  expect(JSON.stringify(notices)).not.toContain('words of the caller')
})

test('an answer at the moment of the cancel, and two more after it, reach nobody', SLOW, async () => {
  await using at = new Case()
  await using session = await sessionOn(at, 'answers.mjs')
  const ends: string[] = []
  session.subscribe((event) => event.type === 'settled' && ends.push(event.callId))
  for (let round = 0; round < 5; round++) {
    const abort = new AbortController()
    const call = session.callTool(on('at_cancel'), { signal: abort.signal, callId: `c${round}` })
    await until(() => at.calls().length === round + 1)
    abort.abort()
    expect(await call).toMatchObject({ outcome: 'cancelled' })
  }
  expect(await session.callTool(on('quick'), { callId: 'last' })).toMatchObject({ outcome: 'completed', forModel: { text: 'quick' } })
  expect(ends).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'last'])
  // nothing is sent for a call that was over before it began
  const sent = at.calls().length
  expect(await session.callTool(on('quick'), { signal: AbortSignal.abort() })).toMatchObject({ outcome: 'cancelled', sent: 'no' })
  expect(at.calls()).toHaveLength(sent)
})
