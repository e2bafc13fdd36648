import { expect, test } from 'vitest'
import { CallArguments } from '../../src/hooks/call-arguments.ts'
import { CallRun, sealedCallOf } from '../../src/hooks/call-run.ts'
import { HookError } from '../../src/hooks/hook-error.ts'
import { SealedCall } from '../../src/hooks/sealed-call.ts'
import { TaplineError } from '../../src/errors.ts'

const sealed = (name: string): SealedCall => new SealedCall({ entry: { key: { name } }, environment: { governance: {} } } as never)
const run = (): CallRun => new CallRun('s.1', 'tools/call', new CallArguments({}), {} as never, null)

test('a call is sealed once: even who gets hold of the run cannot put another call into it', () => {
  const one = run()
  const [first, second] = [sealed('first'), sealed('second')]
  one.seal(first)
  expect(() => one.seal(second)).toThrow(expect.objectContaining({ code: 'INTERNAL' }))
  expect(() => Object.assign(one, { call: second })).toThrow(TypeError)
  expect(one.sealed).toBe(first)
  Object.defineProperty(one, 'sealed', { value: second })
  expect(sealedCallOf(one)).toBe(first)
})

test('a sealed call takes no property that would hide its own', () => {
  const call = sealed('first')
  for (const field of ['owner', 'connection', 'environment', 'target', 'tool']) {
    expect(Reflect.defineProperty(call, field, { value: 'x' })).toBe(false)
    expect(Reflect.defineProperty(SealedCall.prototype, field, { value: 'x' })).toBe(false)
  }
  expect(call.owner.name).toBe('first')
  expect([
    SealedCall.is(call),
    SealedCall.is(new Proxy(call, {})),
    SealedCall.is(Object.create(call)),
    SealedCall.is({ owner: call.owner }),
  ]).toEqual([true, false, false, false])
})

test('an error about a tap is known by the tap and the call that it was made for, and cannot be rewritten', () => {
  const tap = { hook: 'approve', name: 't', plugin: 'p' } as const
  const error = new HookError('HOOK_CHANGED_OWNER', 'x', tap, 's.1', { data: { key: 'owner' } })
  expect(HookError.isOf(error, tap, 's.1')).toBe(true)
  for (const [value, whose, call] of [
    [error, { ...tap }, 's.1'],
    [error, tap, 's.2'],
    [new Proxy(error, {}), tap, 's.1'],
    [Object.create(error), tap, 's.1'],
    [new TaplineError('HOOK_CHANGED_OWNER', 'x', { ...tap, tap: 't', callId: 's.1' }), tap, 's.1'],
    [null, tap, 's.1'],
  ] as const) {
    expect(HookError.isOf(value, whose, call)).toBe(false)
  }
  for (const change of [{ code: 'OK' }, { tap: 'other' }, { plugin: 'other' }, { message: '' }, { data: {} }])
    expect(() => Object.assign(error, change)).toThrow(TypeError)
  expect(() => Object.assign(error.data!, { key: '' })).toThrow(TypeError)
})
