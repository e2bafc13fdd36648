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

test.each([
  ['answers by itself', () => sleep(20).then(() => OWN), 'completed'],
  ['never answers', () => new Promise(() => {}), 'result_withheld'],
])('what a tap does to the promise of next() is its own affair: it %s', async (_what, then, outcome) => {
  const hooks = plugin(({ hooks: ports }) =>
    ports.dispatch.tapPromise({ name: 't', timeoutMs: 100 }, (_call: unknown, next: () => object) => {
      Object.defineProperty(next(), 'constructor', {
        get() {
          throw new Error('no constructor')
        },
      })
      return then()
    }),
  )
  await using t = await open([hooks], {}, FAILING)
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome })
  await sleep(5)
  expect(unhandled).toEqual([])
})

test.each<[string, (next: () => Promise<unknown>) => unknown]>([
  ['throws', () => sleep(20).then(() => Promise.reject(new Error('mine')))],
  ['never ends', () => new Promise(() => {})],
  [
    'takes the error of next() for its own',
    async (next) => {
      await sleep(20)
      await next().catch(() => Promise.reject(new Error('mine')))
    },
  ],
])('a tap that may fail and %s, where the call may no longer be sent: the call ends, and says why', async (_what, tap) => {
  const update = (): void => t.environments.get('local')!.update({ permissions: 'read-only' })
  const hooks = plugin(({ hooks: ports }) =>
    ports.dispatch.tapPromise({ name: 't', onFailure: 'continue', timeoutMs: 60 }, (_call: unknown, next: () => Promise<unknown>) => {
      update()
      return tap(next)
    }),
  )
  await using t = await open([hooks], {
    environments: { local: { servers: {}, permissions: 'workspace-write' } },
    policies: { s: { defaultToolsApprovalMode: 'approve', supportsParallelToolCalls: true } },
  })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'authority_changed', sent: 'no' })
  expect(toolCalls(t)).toEqual([])
  expect(unhandled).toEqual([])
})
