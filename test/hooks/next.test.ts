import { afterEach, beforeEach, expect, test } from 'vitest'
import { open, plugin, REQUEST, sleep, toolCalls } from '../pipeline/kit.ts'

const unhandled: unknown[] = []
const note = (error: unknown): void => void unhandled.push(error)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
})

const OWN = { content: [{ type: 'text', text: 'own' }] }
/** The server answers with what is no result. */
const FAILING = { run: { run: () => ({ content: 'none' }) as never } }

test.each<[string, (next: (...args: unknown[]) => unknown) => unknown]>([
  ['drops what fails', (next) => (next(), sleep(20).then(() => OWN))],
  ['drops what fails, twice', (next) => (next(), next(), sleep(20).then(() => OWN))],
  ['drops a next() that was given something', async (next) => (next('x'), await sleep(5), OWN)],
])('a tap that %s ends nothing but its own call', async (_what, tap) => {
  let late: (() => unknown) | null = null
  const hooks = plugin(({ hooks: ports }) =>
    ports.dispatch.tapPromise('t', (_call: unknown, next: (...args: unknown[]) => unknown) => ((late = next), tap(next))),
  )
  await using t = await open([hooks], {}, FAILING)
  const outcome = await t.callTool(REQUEST)
  expect(['completed', 'result_withheld', 'refused']).toContain(outcome.outcome)
  const sent = toolCalls(t).length
  const answer = late!()
  await sleep(20)
  expect(unhandled).toEqual([])
  await expect(answer).rejects.toMatchObject({ code: 'HOOK_FAILED', message: expect.stringContaining('nothing was sent') })
  expect(toolCalls(t)).toHaveLength(sent)
})

test('whoever waits for next() gets its error, and that error is the outcome where it is let through', async () => {
  const caught: unknown[] = []
  const hooks = plugin(({ hooks: ports }) =>
    ports.dispatch.tapPromise('t', async (_call: unknown, next: () => Promise<unknown>) => {
      await next().catch((error: unknown) => caught.push(error))
      return next()
    }),
  )
  await using t = await open([hooks], {}, FAILING)
  const outcome = await t.callTool(REQUEST)
  expect(outcome).toMatchObject({ outcome: 'server_failed', code: 'SERVER_FAILED' })
  expect(caught).toEqual([expect.objectContaining({ code: 'SERVER_FAILED' })])
  expect(Object.isFrozen(caught[0])).toBe(true)
  expect(toolCalls(t)).toHaveLength(2)
})
