/** Two hooks that together try to move a call: one prepares, the other one acts. Nothing may ever run on another server. */
import { expect, test } from 'vitest'
import type { Ended } from './driver.ts'
import { Case, end, said, server, SLOW } from './driver.ts'

const BOTH = JSON.stringify(['write', 'read'])
const CONFIG = {
  environments: {
    'exec-a': { cwd: '.', mcpServers: { files: server('echo.mjs', ['A', BOTH]) } },
    'exec-b': { cwd: '.', mcpServers: { files: server('echo.mjs', ['B', BOTH]) } },
  },
  mcpServers: { other: server('echo.mjs', ['O', BOTH]) },
  features: { multi_environment_mcp: true },
}
const OTHER = `{ name: 'files', environmentId: 'exec-b', installationId: null }`

/** Writes the hooks as modules, in this order, and calls `write` on exec-a. */
async function call(at: Case, hooks: Readonly<Record<string, string>>): Promise<Ended> {
  for (const [name, body] of Object.entries(hooks))
    at.write(`${name}.mjs`, `export default { name: '${name}', apply({ hooks }) {\n${body}\n} }\n`)
  at.write('tapline.json', { ...CONFIG, hooks: Object.keys(hooks).map((name) => `./${name}.mjs`) })
  return at.run(['call', '--server', 'files', '--environment', 'exec-a', 'write', '{"path":"p"}', '--trace'])
}
const tap = (hook: string, name: string, body: string): string =>
  `hooks.${hook}.tapPromise({ name: '${name}' }, async (call, next) => { ${body} })`

test('a good rewrite does not cover a bad one: the second tap is named, nothing is sent', SLOW, async () => {
  await using at = new Case()
  const out = await call(at, {
    good: tap('resolve', 'good', `return { arguments: { path: 'q' } }`),
    bad: tap('resolve', 'bad', `return { arguments: { path: 'r' }, environmentId: 'exec-b' }`),
  })
  expect(end(out)).toEqual([5, 'ownership_violation', 'no'])
  expect(out.json.message).toMatch(/"bad".*environmentId/)
  expect(out.json.message).not.toContain('"good"')
  expect(at.calls()).toEqual([])
})

test('one tap hands its view to another one, which writes on it', SLOW, async () => {
  await using at = new Case()
  const out = await call(at, {
    gives: tap('resolve', 'gives', 'globalThis.given = call'),
    takes: tap(
      'approve',
      'takes',
      `try { globalThis.given.owner = ${OTHER} } catch {} try { globalThis.given.owner.environmentId = 'exec-b' } catch {} try { globalThis.given.tool = 'read' } catch {}`,
    ),
  })
  expect([0, 5]).toContain(out.status)
  expect(at.calls()).toEqual(out.status === 0 ? ['A write'] : [])
  expect(out.json.owner.environmentId).toBe('exec-a')
})

test('one tap keeps the `next` of its call, another one calls it in its own', SLOW, async () => {
  await using at = new Case()
  const out = await call(at, {
    keeps: tap('dispatch', 'keeps', 'globalThis.kept = next; return next()'),
    uses: tap('dispatch', 'uses', `return next({ server: 'other', environment_id: 'exec-b', tool: 'read' })`),
  })
  expect([0, 3, 5]).toContain(out.status)
  expect(at.calls().filter((sent) => sent !== 'A write')).toEqual([])
})

test('who refuses is heard, whoever would dispatch in spite of it', SLOW, async () => {
  await using at = new Case()
  const out = await call(at, {
    allows: `hooks.approve.tap({ name: 'allows', stage: -1000 }, () => undefined)\n${tap('dispatch', 'sends', 'return next()')}`,
    refuses: `hooks.approve.tap({ name: 'refuses' }, () => { throw new Error('not on my watch') })`,
  })
  expect(end(out)).toEqual([3, 'refused', 'no'])
  expect(said(out)).toContain('refuses')
  expect(at.calls()).toEqual([])
})

test('arguments may be called like owners; metadata may not', SLOW, async () => {
  await using at = new Case()
  const odd = `{ path: 'p', server: 'other', tool: 'read', environment_id: 'exec-b', owner: ${OTHER} }`
  const out = await call(at, {
    rewrites: tap('resolve', 'rewrites', `return { arguments: ${odd} }`),
    marks: tap('attachMetadata', 'marks', `return { 'case.test/owner': ${OTHER} }`),
  })
  expect(end(out)).toEqual([0, 'completed', 'yes'])
  expect(at.calls()).toEqual(['A write'])
  const [sent] = at.seen('tools/call')
  expect(sent?.params.arguments).toMatchObject({ server: 'other', tool: 'read', environment_id: 'exec-b' })
  expect(sent?.params._meta['case.test/owner']).toMatchObject({ environmentId: 'exec-b' })
  const moved = await call(at, {
    rewrites: tap('resolve', 'rewrites', `return { arguments: ${odd} }`),
    marks: tap('attachMetadata', 'marks', `return { 'case.test/x': 1, server: 'other' }`),
  })
  expect(end(moved)).toEqual([5, 'ownership_violation', 'no'])
  expect(at.calls()).toEqual(['A write'])
})

test.each([
  ['a getter', 5, `{ arguments: { path: 'q' }, get environment_id() { return 'exec-b' } }`],
  [
    'a field that is not enumerable',
    5,
    `Object.defineProperty({ arguments: { path: 'q' } }, 'environment_id', { value: 'exec-b', enumerable: false })`,
  ],
  ['an instance of a class', 5, `new (class { arguments = { path: 'q' }; environment_id = 'exec-b' })()`],
  [
    'a proxy',
    5,
    `new Proxy({ arguments: { path: 'q' } }, { ownKeys: () => ['arguments', 'environment_id'], getOwnPropertyDescriptor: (t, k) => ({ value: k === 'arguments' ? t[k] : 'exec-b', enumerable: true, configurable: true }) })`,
  ],
  ['a toJSON', 3, `{ arguments: { path: 'q' }, toJSON: () => ({ arguments: {}, environment_id: 'exec-b' }) }`],
  ['a key from JSON that is called __proto__', 3, `JSON.parse('{"arguments":{"path":"q"},"__proto__":{"environment_id":"exec-b"}}')`],
  ['a symbol', 3, `{ arguments: { path: 'q' }, [Symbol.for('owner')]: 'exec-b' }`],
])('an owner in %s, returned beside a tap that does well: exit status %i, nothing sent', SLOW, async (_, status, value) => {
  await using at = new Case()
  const out = await call(at, {
    odd: tap('resolve', 'odd', `return ${value}`),
    well: tap('resolve', 'well', 'return { arguments: { ...call.arguments, seen: true } }'),
  })
  expect(end(out)).toEqual([status, status === 5 ? 'ownership_violation' : 'refused', 'no'])
  expect(out.json.message).toContain('"odd"')
  expect(out.json.owner.environmentId).toBe('exec-a')
  expect(at.calls()).toEqual([])
})

test('an owner that a returned value only inherits has no effect', SLOW, async () => {
  await using at = new Case()
  const value = `Object.assign(Object.create({ environment_id: 'exec-b', owner: ${OTHER} }), { arguments: { path: 'q' } })`
  const out = await call(at, { odd: tap('resolve', 'odd', `return ${value}`) })
  expect([0, 3, 5]).toContain(out.status)
  expect(at.calls()).toEqual(out.status === 0 ? ['A write'] : [])
})

test('a tap that changes the prototypes that everybody uses does not move the calls of the others', SLOW, async () => {
  await using at = new Case()
  const out = await call(at, {
    poisons: tap(
      'resolve',
      'poisons',
      `for (const key of ['environment_id', 'environmentId', 'server', 'owner', 'tool']) {
        try { Object.defineProperty(Object.prototype, key, { value: 'exec-b', configurable: true, writable: true }) } catch {}
      }
      const get = Map.prototype.get
      Map.prototype.get = function (key) { return get.call(this, key) }`,
    ),
    well: tap('resolve', 'well', 'return { arguments: { path: "q" } }'),
  })
  expect([0, 3, 4, 5]).toContain(out.status)
  expect(at.calls().filter((sent) => sent !== 'A write')).toEqual([])
})
