// What taps and observers in shadow get of calls that have ended: results nested without end, errors of servers, arguments of the host.
import { expect, test } from 'vitest'
import { frozenCopy } from '../../src/json.ts'
import type { CallOutcome } from '../../src/index.ts'
import { open, plugin, REQUEST } from '../pipeline/kit.ts'
import { answering } from './answering.ts'

type Event = { readonly call: { readonly arguments: unknown }; readonly outcome: CallOutcome }

const RUN = { server: 'x', tool: 'run' }
const DEEP = `"result":{"content":[],"structuredContent":${'{"d":'.repeat(20_000)}1${'}'.repeat(20_000)}}`

test('a result nested deeper than a stack goes reaches a tap of dispatch in shadow, and the call has its whole trace', async () => {
  const pass = plugin(({ hooks }) => hooks.dispatch.tapPromise('t', (_call: unknown, next: () => Promise<unknown>) => next()))
  await using t = await answering(DEEP, [{ plugin: pass, mode: 'shadow' }])
  expect(await t.session.callTool(RUN, { trace: true })).toMatchObject({ outcome: 'completed' })
  await expect.poll(() => t.events).toEqual(['settled', 'traced'])
})

test('it reaches an observer in shadow too', async () => {
  let seen: Event | undefined
  const observes = plugin(({ hooks }) => hooks.settled.tap('o', (event: Event) => void (seen = event)))
  await using t = await answering(DEEP, [{ plugin: observes, mode: 'shadow' }])
  expect(await t.session.callTool(RUN)).toMatchObject({ outcome: 'completed' })
  await expect.poll(() => t.events).toEqual(['settled', 'traced'])
  expect(seen!.outcome).toMatchObject({ outcome: 'completed', forModel: { content: [] } })
})

test('a frozen copy is equal, shares nothing, and keeps a key that is the name of the prototype', () => {
  const given = JSON.parse('{"a":[1,{"b":null}],"__proto__":{"c":[]}}') as { readonly a: readonly unknown[] }
  const copy = frozenCopy(given as never) as typeof given
  expect(JSON.stringify(copy)).toBe(JSON.stringify(given))
  expect([copy, copy.a, copy.a[1]].every((one) => Object.isFrozen(one))).toBe(true)
  expect(Object.isFrozen(given.a)).toBe(false)
})

test.each(['enforce', 'shadow'] as const)('an observer (%s) cannot change the JSON-RPC error that the host has', async (mode) => {
  let isChanged: boolean | undefined
  const observes = plugin(({ hooks }) =>
    hooks.settled.tap('o', ({ outcome }: Event) => {
      const { rpcError } = outcome as unknown as { rpcError: { code: number; data: { why: string } } }
      isChanged = Reflect.set(rpcError, 'code', 1) || Reflect.set(rpcError.data, 'why', 'swapped')
    }),
  )
  await using t = await answering('"error":{"code":-32000,"message":"no","data":{"why":"because"}}', [
    mode === 'enforce' ? observes : { plugin: observes, mode },
  ])
  const outcome = await t.session.callTool(RUN)
  expect(outcome).toMatchObject({ outcome: 'server_failed', rpcError: { code: -32000, data: { why: 'because' } } })
  await expect.poll(() => isChanged).toBe(false)
  // in shadow it does not even freeze what the host has
  expect(Object.isFrozen((outcome as { rpcError?: object }).rpcError)).toBe(mode === 'enforce')
})

test('what the host does to its arguments once it has the outcome is not what observers in shadow see', async () => {
  let go = (): void => {}
  let seen: unknown
  const slow = plugin(({ hooks }) => {
    hooks.approve.tapPromise('waits', () => new Promise<void>((resolve) => (go = resolve)))
    hooks.settled.tap('o', ({ call }: Event) => void (seen = call.arguments))
  })
  await using t = await open([{ plugin: slow, mode: 'shadow' }])
  await t.session.listTools()
  const own = { a: 1 }
  expect((await t.callTool({ ...REQUEST, arguments: own })).outcome).toBe('completed')
  own.a = 2
  go()
  await expect.poll(() => seen).toEqual({ a: 1 })
})
