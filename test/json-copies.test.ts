import fc from 'fast-check'
import { expect, test } from 'vitest'
import { frozenCopy, snapshot } from '../src/json.ts'

const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const keysInOrder = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).map(([key, member]) => [key, keysInOrder(member)]) : value

/** What people put into arguments, and what they had better not. */
const member = fc.oneof(
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, Number.NaN, Infinity, Symbol('s'), () => 1),
  fc.date({ noInvalidDate: true }),
  fc.array(fc.integer(), { maxLength: 2 }),
  fc.record({ inner: fc.string() }),
  fc.constant({ toJSON: () => 'own' }),
)
const keys = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON', 'hasOwnProperty', '1', '0', 'length'))

test('a snapshot is what going through text gives: keys, their order, and every value', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, member, fc.boolean()), { maxLength: 6 }), fc.boolean(), (members, hasPrototype) => {
      const value = Object.create(hasPrototype ? Object.prototype : null) as object
      for (const [key, one, enumerable] of members) Object.defineProperty(value, key, { value: one, enumerable, configurable: true })
      // what writes itself as undefined is no JSON at the top
      fc.pre(JSON.stringify(value) !== undefined)
      const copy = snapshot(value)
      expect(copy).toStrictEqual(throughText(value))
      expect(keysInOrder(copy)).toEqual(keysInOrder(throughText(value)))
      expect(Object.is(copy, value)).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['minus zero', { a: -0 }],
  ['an inherited member', Object.assign(Object.create({ inherited: 1 }) as object, { a: 1 })],
  ['an instance with a way to write itself', new URL('http://x.test/')],
  ['a list', ['a', 1]],
  ['a getter', Object.defineProperty({}, 'a', { get: () => 'got', enumerable: true })],
  ['a Proxy', new Proxy({ a: 1 }, {})],
  ['half a surrogate pair', { a: '\ud800' }],
  ['names that all objects have', { constructor: 'c', toString: 't', valueOf: 'v' }],
  ['nothing', {}],
  ['a list that inherits like an object', Object.setPrototypeOf(['a'], Object.prototype)],
  ['a text that inherits like an object', Object.setPrototypeOf(Object('ab'), Object.prototype)],
  ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 })],
])('so it is for %s', (_what, value) => {
  expect(snapshot(value)).toStrictEqual(throughText(value))
  expect(Object.is(Object.values(snapshot(value) as object)[0], -0)).toBe(false)
})

test('what somebody put on Object.prototype is in no copy, but its toJSON counts as it does for JSON', () => {
  const { prototype } = Object
  try {
    Object.assign(prototype, { everywhere: 1 })
    expect(Object.hasOwn(snapshot({ a: 'x' }) as object, 'everywhere')).toBe(false)
    Object.assign(prototype, { toJSON: () => 'written' })
    expect(snapshot({ a: 'x' })).toBe('written')
  } finally {
    Reflect.deleteProperty(prototype, 'everywhere')
    Reflect.deleteProperty(prototype, 'toJSON')
  }
})

test.each([
  ['a snapshot', (value: object) => snapshot(value)],
  ['a frozen copy', (value: object) => frozenCopy(value as never)],
])('%s has members of its own, whatever setters and read-only fields Object.prototype has', (_what, copy) => {
  const { prototype } = Object
  const seen: unknown[] = []
  try {
    Object.defineProperty(prototype, 'path', {
      configurable: true,
      set(value: unknown) {
        seen.push(value)
      },
    })
    Object.defineProperty(prototype, 'fixed', { value: 'theirs', writable: false, configurable: true })
    const made = copy({ path: '/ok', fixed: 'ours', other: 1 })
    expect(Object.entries(made as object)).toEqual([
      ['path', '/ok'],
      ['fixed', 'ours'],
      ['other', 1],
    ])
    expect(Object.getOwnPropertyDescriptor(made, 'path')).toHaveProperty('value', '/ok')
    expect(seen).toEqual([])
  } finally {
    Reflect.deleteProperty(prototype, 'path')
    Reflect.deleteProperty(prototype, 'fixed')
  }
})
