import { expect, test } from 'vitest'
import { DeadlineWheel } from '../../src/hooks/deadline-wheel.ts'
import type { Deadline } from '../../src/hooks/deadline-wheel.ts'
import type { TestRuntime } from '../../src/testing/index.ts'
import { never, open, plugin, REQUEST, sleep, toolCalls } from '../pipeline/kit.ts'

type Hook = 'resolve' | 'approve' | 'attachMetadata' | 'dispatch'
const HOOKS: readonly Hook[] = ['resolve', 'approve', 'attachMetadata', 'dispatch']
type Next = () => Promise<{ content: unknown[] }>

/** A runtime whose server is up, so that limits begin with the taps. */
async function warm(...args: Parameters<typeof open>): Promise<TestRuntime> {
  const t = await open(...args)
  await t.session.listTools()
  return t
}

test.each(HOOKS)('a tap of %s that hangs ends at its own limit, with its names', async (hook) => {
  let signal: AbortSignal | undefined
  const p = plugin(({ hooks }) =>
    hooks[hook].tapPromise({ name: 't', timeoutMs: 40 }, (...args: unknown[]) => {
      signal = (args.at(-1) as { signal: AbortSignal }).signal
      return never()
    }),
  )
  await using t = await warm([p])
  const began = performance.now()
  const outcome = await t.callTool(REQUEST)
  expect(outcome).toMatchObject({
    outcome: 'refused',
    by: 'tap_failure',
    code: 'HOOK_TIMED_OUT',
    sent: 'no',
    message: `tap "t" of plugin "p" did not end within 40 ms in ${hook}`,
  })
  expect(performance.now() - began).toBeLessThan(8000)
  expect(signal?.aborted).toBe(true)
  expect(toolCalls(t)).toEqual([])
})

test.each(HOOKS)('a tap of %s that hangs and may fail lets the call go on, once, and its late answer is dropped', async (hook) => {
  let late: (value: unknown) => void = () => {}
  const p = plugin(({ hooks }) =>
    hooks[hook].tapPromise({ name: 't', timeoutMs: 30, onFailure: 'continue' }, () => new Promise((resolve) => (late = resolve))),
  )
  await using t = await warm([p])
  const outcome = await t.callTool(REQUEST, { trace: true })
  late(hook === 'resolve' ? { arguments: { late: true } } : hook === 'dispatch' ? { content: ['late'] } : undefined)
  await sleep(20)
  expect(outcome).toMatchObject({ outcome: 'completed', trace: { taps: [{ decision: 'timed_out', inEffect: false }] } })
  expect(toolCalls(t).map(({ params }) => params['arguments'])).toEqual([REQUEST.arguments])
})

test('the signal that a tap reads only after its end is aborted', async () => {
  let context: { signal: AbortSignal } | undefined
  const p = plugin(({ hooks }) =>
    hooks.approve.tapPromise({ name: 't', timeoutMs: 30 }, (_call: unknown, given: typeof context) => ((context = given), never())),
  )
  await using t = await warm([p])
  await t.callTool(REQUEST)
  expect(context!.signal.aborted).toBe(true)
})

test('time inside next() is not the time of the tap', async () => {
  const p = plugin(({ hooks }) => {
    hooks.dispatch.tapPromise({ name: 'outer', timeoutMs: 500 }, (_call: unknown, next: Next) => next())
    hooks.dispatch.tapPromise({ name: 'inner', timeoutMs: 500 }, async (_call: unknown, next: Next) => {
      const first = await next()
      await next()
      return first
    })
  })
  await using t = await warm([p], {}, { run: { run: () => sleep(1000).then(() => 'slow') } })
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', sent: 'yes' })
  expect(toolCalls(t)).toHaveLength(2)
})

test('its own time before and after next() is added up', async () => {
  let after = 0
  const p = plugin(({ hooks }) =>
    hooks.dispatch.tapPromise({ name: 't', timeoutMs: 3000 }, async (_call: unknown, next: Next, { signal }: { signal: AbortSignal }) => {
      await sleep(2000)
      const result = await next()
      const began = performance.now()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      after = performance.now() - began
      return result
    }),
  )
  await using t = await warm([p])
  expect(await t.callTool(REQUEST)).toMatchObject({
    outcome: 'result_withheld',
    code: 'HOOK_TIMED_OUT',
    hook: 'dispatch',
    tap: 't',
    sent: 'yes',
  })
  await sleep(0)
  // a third of the limit was left, and not all of it
  expect(after).toBeLessThan(2900)
})

test('a tap that does not wait for its next() gets no second one from us', async () => {
  for (const end of [() => Promise.reject(new Error('x')), () => Promise.resolve('no result')]) {
    const p = plugin(({ hooks }) =>
      hooks.dispatch.tapPromise({ name: 't', onFailure: 'continue' }, (_call: unknown, next: Next) => {
        void next()
        return end()
      }),
    )
    await using t = await warm([p], {}, { run: { run: () => sleep(50).then(() => 'once') } })
    expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', result: { content: [{ text: 'once' }] } })
    expect(toolCalls(t)).toHaveLength(1)
  }
})

test('next() after the end of its tap sends nothing', async () => {
  let late: Next | undefined
  const p = plugin(({ hooks }) => hooks.dispatch.tapPromise('t', async (_call: unknown, next: Next) => ((late = next), { content: [] })))
  await using t = await warm([p])
  expect(await t.callTool(REQUEST)).toMatchObject({ outcome: 'completed', sent: 'no' })
  await expect(late!()).rejects.toMatchObject({ code: 'HOOK_FAILED' })
  expect(toolCalls(t)).toEqual([])
})

test.each(HOOKS)('a call that is cancelled while a tap of %s hangs ends at once, and leaves no clock', async (hook) => {
  const arrived = deferred()
  const p = plugin(({ hooks }) => hooks[hook].tapPromise({ name: 't', timeoutMs: 3_600_000 }, () => (arrived.resolve(), never())))
  const t = await warm([p])
  const controller = new AbortController()
  const call = t.callTool(REQUEST, { signal: controller.signal })
  await arrived.promise
  const before = timers()
  const began = performance.now()
  controller.abort()
  expect(await call).toMatchObject({ outcome: 'cancelled', code: 'CALL_CANCELLED', by: 'host', sent: 'no' })
  expect(performance.now() - began).toBeLessThan(8000)
  await sleep(100)
  // the wheel of the tap's limit was one of them
  expect(timers()).toBeLessThan(before)
  await t.close()
})

test('outer layers stop their clocks too', async () => {
  const log: unknown[] = []
  const arrived = deferred()
  const p = plugin(({ hooks }) => {
    for (const name of ['a', 'b', 'c']) {
      hooks.dispatch.tapPromise({ name, timeoutMs: 1000 }, async (_call: unknown, next: Next) => {
        if (name === 'c') {
          arrived.resolve()
          await never()
        }
        try {
          return await next()
        } catch (error) {
          log.push([name, (error as { code: string }).code])
          throw error
        }
      })
    }
  })
  await using t = await warm([p])
  const controller = new AbortController()
  const call = t.callTool(REQUEST, { signal: controller.signal })
  await arrived.promise
  controller.abort()
  expect(await call).toMatchObject({ outcome: 'cancelled' })
  await sleep(1300)
  expect(log.map((entry) => (entry as string[])[1])).not.toContain('HOOK_TIMED_OUT')
})

/** What keeps the process alive by its clock; a timer that is unreferenced does not count. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

class Entry implements Deadline {
  wheelTick = 0
  wheelPrevious: Deadline | null = null
  wheelNext: Deadline | null = null
  expired = 0
  onExpire: () => void = () => {}
  expire(): void {
    this.expired++
    this.onExpire()
  }
}

test('the wheel: each entry expires once, not before its limit, whatever else comes and goes', async () => {
  const wheel = new DeadlineWheel()
  const began = performance.now()
  const late: number[] = []
  const waiting = [10, 40, 80, 120, 40].map((ms) => {
    const entry = new Entry()
    entry.onExpire = () => late.push(performance.now() - began - ms)
    wheel.add(entry, ms)
    return entry
  })
  const removed = new Entry()
  wheel.add(removed, 40)
  expect(wheel.remove(removed)).toBeGreaterThan(0)
  expect(wheel.remove(removed)).toBe(0)
  // one that takes its neighbours out when it expires
  waiting[1]!.onExpire = () => {
    wheel.remove(waiting[4]!)
    late.push(0)
  }
  for (let turn = 0; turn < 500 && waiting.slice(0, 4).some(({ expired }) => expired === 0); turn++) await sleep(20)
  await sleep(100)
  expect(removed.expired).toBe(0)
  expect(waiting.slice(0, 4).map(({ expired }) => expired)).toEqual([1, 1, 1, 1])
  expect(Math.min(...late)).toBeGreaterThanOrEqual(-2)
  wheel.close()
})

test('a wheel with nothing in it does not keep the process, and works again afterwards', async () => {
  const wheel = new DeadlineWheel()
  const before = timers()
  const entry = new Entry()
  wheel.add(entry, 1000)
  expect(timers()).toBe(before + 1)
  wheel.remove(entry)
  await sleep(100)
  wheel.add(entry, 10)
  for (let turn = 0; turn < 500 && entry.expired === 0; turn++) await sleep(20)
  await sleep(100)
  expect(entry.expired).toBe(1)
  // closing it frees nothing that counts
  const idle = timers()
  wheel.close()
  expect(timers()).toBe(idle)
})
