/** The parts below HTTP on their own: addresses, redirect-free look-ups, causes of errors, events in pieces. */
import type { LookupAddress } from 'node:dns'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import type { Place } from '../../src/connections/http/address-guard.ts'
import { AddressGuard, placeOf } from '../../src/connections/http/address-guard.ts'
import { networkProblem } from '../../src/connections/http/network-error.ts'
import { SseReader } from '../../src/connections/http/sse-reader.ts'

const PLACES: Readonly<Record<Place, readonly string[]>> = {
  public: ['93.184.216.34', '2606:4700::1111', '::ffff:93.184.216.34', '64:ff9b::5db8:d822'],
  private: ['10.0.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:10.0.0.1', '64:ff9b::a00:1'],
  loopback: ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
  never: [
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    'fe80::1',
    '::',
    'ff02::1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::1',
  ],
}

for (const [place, addresses] of Object.entries(PLACES))
  test(`addresses that are ${place}`, () => {
    expect(addresses.map((address) => [address, placeOf(address, ipaddr)])).toEqual(addresses.map((address) => [address, place]))
  })

/** A guard over an answer that changes; gives the addresses that are left, or the error. */
function guarded(): (hostname: string, ...answers: readonly string[]) => Promise<readonly string[] | string> {
  let answers: readonly string[] = []
  const guard = new AddressGuard(ipaddr, (_hostname, _options, callback) =>
    callback(
      null,
      answers.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ),
  )
  return (hostname, ...now) => {
    answers = now
    return new Promise((resolve) =>
      guard.lookup(hostname, { all: true }, (error, found) =>
        resolve(error ? error.message : (found as LookupAddress[]).map(({ address }) => address)),
      ),
    )
  }
}

test('a name that led to a public address never leads to a private one afterwards, and the other way round it may', async () => {
  const look = guarded()
  expect(await look('evil.example', '93.184.216.34')).toEqual(['93.184.216.34'])
  for (const place of ['private', 'loopback', 'never'] as const)
    for (const address of PLACES[place]) expect(await look('evil.example', address)).toMatch(/^evil\.example leads to /)
  expect(await look('evil.example', '10.0.0.1', '93.184.216.35')).toEqual(['93.184.216.35'])
  const inside = guarded()
  expect(await inside('mcp.corp.example', '10.1.2.3')).toEqual(['10.1.2.3'])
  expect(await inside('mcp.corp.example', '10.1.2.4', '93.184.216.34')).toEqual(['10.1.2.4', '93.184.216.34'])
  expect(await inside('mcp.corp.example', '127.0.0.1')).toMatch(/loopback address 127\.0\.0\.1/)
})

test('of several kinds at first the public ones count; localhost is loopback; nothing leads to what no server has', async () => {
  const look = guarded()
  expect(await look('mixed.example', '127.0.0.1', '93.184.216.34', '10.0.0.1')).toEqual(['93.184.216.34'])
  expect(await look('mixed.example', '10.0.0.1')).toMatch(/private address/)
  for (const name of ['localhost', 'a.localhost', 'LOCALHOST.']) {
    const local = guarded()
    expect(await local(name, '127.0.0.1', '::1')).toEqual(['127.0.0.1', '::1'])
    expect(await local(name, '93.184.216.34')).toMatch(/leads to the public address/)
    expect(await local(name, '10.0.0.1')).toMatch(/leads to the private address/)
  }
  const meta = guarded()
  expect(await meta('metadata.example', '169.254.169.254')).toBe('metadata.example leads to 169.254.169.254, where no server can be')
  expect(await meta('metadata.example', '127.0.0.1')).toEqual(['127.0.0.1'])
  expect(await guarded()('nowhere.example')).toBe('nowhere.example has no address')
})

test('a look-up for one address gives one, and its own error is passed on', () => {
  const guard = new AddressGuard(ipaddr, (name, _options, callback) =>
    name === 'x.example'
      ? callback(null, [{ address: '10.0.0.9', family: 4 }])
      : callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []),
  )
  const seen: unknown[] = []
  guard.lookup('x.example', {}, (...found) => seen.push(found))
  guard.lookup('y.example', {}, (error) => seen.push(error?.code))
  expect(seen).toEqual([[null, '10.0.0.9', 4], 'ENOTFOUND'])
})

test('the cause at the bottom of a chain is the line', () => {
  const coded = (code: string, more: object = {}): Error => Object.assign(new Error(`low ${code}`), { code, ...more })
  const within = (error: unknown): Error => new TypeError('fetch failed', { cause: error })
  expect(networkProblem(within(coded('ECONNREFUSED')))).toMatchObject({ code: 'ECONNREFUSED', sent: 'no' })
  expect(networkProblem(within(new AggregateError([coded('EHOSTUNREACH'), coded('ECONNREFUSED')])))).toMatchObject({ code: 'EHOSTUNREACH' })
  expect(networkProblem(coded('ETIMEDOUT', { syscall: 'connect' })).sent).toBe('no')
  expect(networkProblem(coded('ETIMEDOUT', { syscall: 'read' })).sent).toBe('unknown')
  expect(networkProblem(coded('DEPTH_ZERO_SELF_SIGNED_CERT'))).toMatchObject({
    sent: 'no',
    text: expect.stringContaining('TLS certificate') as string,
  })
  expect(networkProblem(within(within(new Error('deep\ndown'))))).toEqual({
    text: expect.not.stringContaining('\n') as string,
    code: null,
    sent: 'unknown',
  })
  const circle = new Error('round')
  circle.cause = circle
  expect(networkProblem(circle).text).toBe('round')
  for (const odd of [undefined, null, 'text', 7, {}]) expect(typeof networkProblem(odd).text).toBe('string')
})

type Event = readonly [type: string, data: string, id: string | null]
function read(chunks: readonly Buffer[], limit = 1e6): { events: Event[]; retries: number[]; tooLong: number } {
  const seen = { events: [] as Event[], retries: [] as number[], tooLong: 0 }
  const reader = new SseReader(
    {
      event: (...event) => void seen.events.push(event),
      retry: (ms) => void seen.retries.push(ms),
      tooLong: () => void seen.tooLong++,
    },
    limit,
  )
  for (const chunk of chunks) reader.push(chunk)
  return seen
}

test('events of every form, however the bytes are cut', () => {
  const stream =
    '\u{feff}: comment\ndata: one\n\n' +
    'event: endpoint\r\ndata:two\r\n\r\n' +
    'id: 7\rdata: three\rdata: grüße 日本 😀\r\r' +
    'id\ndata\n\nretry: 50\nretry: soon\nid: a\0b\ndata: four\n\nid: 8\n\nunknown: x\n\ndata: cut off'
  const expected: Event[] = [
    ['message', 'one', null],
    ['endpoint', 'two', null],
    ['message', 'three\ngrüße 日本 😀', '7'],
    ['message', '', ''],
    ['message', 'four', null],
    ['message', '', '8'],
  ]
  const bytes = Buffer.from(stream)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const { events, retries, tooLong } = read(at.slice(1).map((end, n) => bytes.subarray(at[n], end)))
      expect([events, retries, tooLong]).toEqual([expected, [50], 0])
    }),
  )
})

test('an event over the limit is left out and told once, in one line or in many, and the next one is read', () => {
  const cases = [`data: ${'x'.repeat(500)}\n\n`, `${`data: ${'x'.repeat(40)}\n`.repeat(20)}\n`]
  for (const long of cases)
    for (const size of [1, 7, 64, 10_000]) {
      const bytes = Buffer.from(`data: before\n\n${long}data: after\n\n`)
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
      const { events, tooLong } = read(chunks, 200)
      expect([events.map(([, data]) => data), tooLong]).toEqual([['before', 'after'], 1])
    }
})
