import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isTaplineError, type TaplineError } from '../../src/errors.ts'
import type { HookPlugin } from '../../src/hooks/plugin.ts'
import type { HookModuleSpec } from '../../src/plugins/loader.ts'
import { loadHookModule } from '../../src/plugins/loader.ts'

let folder: string
let root: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapline-loader-'))
  // Only what lies in a folder of this name is imported by Node itself under vitest, with its real rules.
  root = join(folder, 'node_modules')
  await mkdir(root)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

let count = 0
async function write(file: string, text: string): Promise<string> {
  const path = join(root, file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  return path
}
const spec = (module: string, more: Partial<HookModuleSpec> = {}): HookModuleSpec => ({
  module,
  kind: 'path',
  options: null,
  folder: root,
  where: 'tapline.json:3:14',
  ...more,
})
async function load(name: string, text: string, options: HookModuleSpec['options'] = null): Promise<HookPlugin & Record<string, unknown>> {
  return (await loadHookModule(spec(await write(join(`m${count++}`, name), text), { options }))) as HookPlugin & Record<string, unknown>
}
const inFolder = (module: string, folder: string, options: HookModuleSpec['options'] = null): Promise<HookPlugin> =>
  loadHookModule(spec(module, { kind: 'package', folder, options }))

async function failure(loading: Promise<unknown>): Promise<TaplineError> {
  const error = await loading.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!isTaplineError(error)) throw new Error(`no error of ours: ${String(error)}`)
  expect(error.code).toBe('HOOK_BAD_PLUGIN')
  expect(error.where).toBe('tapline.json:3:14')
  expect(error.message).not.toMatch(/[\r\n]/)
  expect(error.remedy).toMatch(/\S/)
  return error
}

const BODY = '{ name: "mine", apply() {} }'

describe('a plugin object', () => {
  test.each([
    ['an ES module', 'p.mjs', `export default ${BODY}`],
    ['CommonJS', 'p.cjs', `module.exports = ${BODY}`],
    ['CommonJS with exports', 'p.cjs', 'exports.name = "mine"; exports.apply = () => {}'],
    ['CommonJS from a compiler', 'p.cjs', `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = ${BODY}`],
    ['CommonJS with default beside others', 'p.cjs', `module.exports = { default: ${BODY}, helper() {} }`],
    ['a folder with a blank and more', "a b'ü(x)/p.mjs", `export default ${BODY}`],
    ['top-level await', 'p.mjs', `await new Promise((r) => setTimeout(r, 10)); export default ${BODY}`],
    [
      'an ES module that imports its neighbour',
      'p.mjs',
      `import { createRequire } from "node:module"; export default createRequire(import.meta.url) && ${BODY}`,
    ],
    ['a null prototype', 'p.mjs', `export default Object.assign(Object.create(null), ${BODY})`],
  ])('%s', async (_, name, text) => {
    expect(await load(name, text)).toMatchObject({ name: 'mine', apply: expect.any(Function) })
  })

  test('CommonJS stays in sloppy mode', async () => {
    const plugin = await load(
      'p.cjs',
      'module.exports = { name: "sloppy", apply() {}, sloppy: (function () { return this !== undefined })() }',
    )
    expect(plugin.sloppy).toBe(true)
  })

  test('takes no options, but an empty set is none', async () => {
    const error = await failure(load('p.mjs', `export default ${BODY}`, { a: 1 }))
    expect(error.message).toContain('takes no options')
    expect(error.remedy).toContain('export default (options) =>')
    expect((await load('p.mjs', `export default ${BODY}`, {})).name).toBe('mine')
  })
})

describe('a factory', () => {
  const factory = 'export default (options) => ({ name: "made", apply() {}, options })'
  test('is called with the options', async () => {
    expect(await load('p.mjs', factory, { tools: ['x'] })).toMatchObject({ name: 'made', options: { tools: ['x'] } })
  })
  test('gets an empty object where there are none', async () => {
    expect(await load('p.mjs', factory)).toMatchObject({ options: {} })
  })
  test.each([
    ['async', 'export default async (options) => ({ name: "made", apply() {}, options })'],
    ['a function with a name', 'export default function apply(options) { return { name: "made", apply() {}, options } }'],
  ])('%s', async (_, text) => {
    expect(await load('p.mjs', text, { a: 1 })).toMatchObject({ name: 'made', options: { a: 1 } })
  })
  test('in CommonJS', async () => {
    expect(await load('p.cjs', 'module.exports = (options) => ({ name: "made", apply() {}, options })', { a: 1 })).toMatchObject({
      options: { a: 1 },
    })
  })
  test('each load makes a plugin of its own', async () => {
    const file = await write('twice/p.mjs', factory)
    const [one, two] = await Promise.all([
      loadHookModule(spec(file, { options: { n: 1 } })),
      loadHookModule(spec(file, { options: { n: 2 } })),
    ])
    expect([one, two]).toMatchObject([{ options: { n: 1 } }, { options: { n: 2 } }])
    expect(one).not.toBe(two)
  })
})

describe('a class', () => {
  test('with apply on its prototype', async () => {
    const plugin = await load(
      'p.mjs',
      'export default class { name = "class"; #o; constructor(o) { this.#o = o } apply() { return this.#o } }',
      { a: 1 },
    )
    expect(plugin.name).toBe('class')
    expect(plugin.apply(undefined as never)).toEqual({ a: 1 })
  })
  test('with apply as a field, without options', async () => {
    expect(await load('p.mjs', 'export default class P { name = "class"; constructor(o) { this.o = o } apply = () => {} }')).toMatchObject({
      name: 'class',
      o: {},
    })
  })
  test('of the old kind', async () => {
    expect(
      await load('p.cjs', 'function P(o) { this.name = "old"; this.o = o }\nP.prototype.apply = function () {}\nmodule.exports = P', {
        a: 1,
      }),
    ).toMatchObject({ name: 'old', o: { a: 1 } })
  })
})

describe('a package', () => {
  async function place(name: string, manifest: object, files: Readonly<Record<string, string>>, folder = 'packages'): Promise<void> {
    await write(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...manifest }))
    for (const [file, text] of Object.entries(files)) await write(join(folder, 'node_modules', name, file), text)
  }
  const esm = (name: string): string => `export default { name: ${JSON.stringify(name)}, apply() {} }`
  const cjs = (name: string): string => `module.exports = { name: ${JSON.stringify(name)}, apply() {} }`
  const project = (): string => join(root, 'packages')

  test.each<[string, string, object, Readonly<Record<string, string>>]>([
    [
      'that only exports to import',
      'esm-only',
      { type: 'module', exports: { '.': { types: './i.d.ts', import: './i.js' } } },
      { 'i.js': esm('mine') },
    ],
    ['with a text as its exports', 'short', { type: 'module', exports: './i.js' }, { 'i.js': esm('mine') }],
    [
      'with conditions and no dot',
      'sugar',
      { exports: { browser: './no.js', node: { import: './i.mjs' }, default: './no.js' } },
      { 'i.mjs': esm('mine') },
    ],
    [
      'for both: the module is taken',
      'dual',
      { exports: { require: './c.cjs', import: './i.mjs' } },
      { 'i.mjs': esm('mine'), 'c.cjs': cjs('the wrong one') },
    ],
    ['with main', 'old', { main: './lib/m' }, { 'lib/m.js': cjs('mine') }],
    ['without any of it', 'oldest', {}, { 'index.js': cjs('mine') }],
    ['with a scope', '@team/guard', { type: 'module', exports: './i.js' }, { 'i.js': esm('mine') }],
    ['with a list of targets', 'listed', { exports: [{ browser: './no.js' }, './i.mjs'] }, { 'i.mjs': esm('mine') }],
  ])('%s', async (_, name, manifest, files) => {
    await place(name, manifest, files)
    expect(await inFolder(name, project())).toMatchObject({ name: 'mine' })
  })

  test('a part of a package', async () => {
    await place(
      'parts',
      { exports: { './deny': './deny.mjs', './hooks/*': './lib/*.mjs', './hooks/private/*': null } },
      { 'deny.mjs': esm('deny'), 'lib/a.mjs': esm('a'), 'lib/private/x.mjs': esm('x') },
    )
    expect((await inFolder('parts/deny', project())).name).toBe('deny')
    expect((await inFolder('parts/hooks/a', project())).name).toBe('a')
    for (const name of ['parts', 'parts/lib/a.mjs', 'parts/hooks/private/x'])
      expect((await failure(inFolder(name, project()))).message).toContain('does not export')
  })

  test('is found from the folder of the file, upwards, the nearest first', async () => {
    await place('near', { exports: './i.mjs' }, { 'i.mjs': esm('outer') }, 'packages')
    await place('near', { exports: './i.mjs' }, { 'i.mjs': esm('inner') }, 'packages/project')
    await mkdir(join(root, 'packages/other/deep'), { recursive: true })
    expect((await inFolder('near', join(root, 'packages/project'))).name).toBe('inner')
    expect((await inFolder('near', join(root, 'packages/other/deep'))).name).toBe('outer')
  })

  test('takes options', async () => {
    await place('with-options', { exports: './i.mjs' }, { 'i.mjs': 'export default (options) => ({ name: "made", apply() {}, options })' })
    expect(await inFolder('with-options', project(), { deep: [1] })).toMatchObject({ options: { deep: [1] } })
  })

  test('that is not there is named, with the folder', async () => {
    const error = await failure(inFolder('not-there', project()))
    expect(error.message).toBe(`the hook plugin not-there cannot be found: there is no package not-there to be found from ${project()}`)
    expect(error.remedy).toContain('Install the package')
  })

  test.each(['', '.', './x', '../x', '/x', '@scope', 'a//b', 'a\\b', 'a%2f', 'a/../../b', '__proto__', 'node:fs', 'a\0'])(
    '%j is none',
    async (name) => {
      expect((await failure(inFolder(name, project()))).message).toContain('cannot be found')
    },
  )

  test('that points outside itself, to nothing, or has a broken manifest', async () => {
    await write('packages/node_modules/out.mjs', esm('outside'))
    await place('outside', { exports: './../out.mjs' }, {})
    await place('hollow', { exports: './none.mjs' }, {})
    await write('packages/node_modules/broken/package.json', '{')
    expect((await failure(inFolder('outside', project()))).message).toContain('not inside it')
    expect((await failure(inFolder('hollow', project()))).message).toContain('does not exist')
    expect((await failure(inFolder('broken', project()))).message).toContain('cannot be found')
  })
})

describe('what is no plugin says what is missing', () => {
  test.each<[string, string, string, RegExp]>([
    [
      'no default export',
      'p.mjs',
      'export const a = 1; export class DenyTools {}',
      /p\.mjs has no default export \(it exports DenyTools, a\)$/,
    ],
    ['nothing at all', 'p.mjs', '', /has no default export$/],
    ['empty CommonJS', 'p.cjs', '', /has no default export/],
    ['null', 'p.mjs', 'export default null', /has no default export/],
    ['no name', 'p.mjs', 'export default { apply() {} }', /has no name: `name` of its default export is missing/],
    ['an empty name', 'p.mjs', 'export default { name: "", apply() {} }', /has no name: .* is empty/],
    ['a name that is a number', 'p.mjs', 'export default { name: 5, apply() {} }', /has no name: .* is a number/],
    ['a name of two lines', 'p.mjs', 'export default { name: "a\\nb", apply() {} }', /more than one line/],
    ['no apply', 'p.mjs', 'export default { name: "x" }', /has no apply: `apply` of its default export is missing/],
    ['apply that is text', 'p.mjs', 'export default { name: "x", apply: "y" }', /has no apply: .* is a string/],
    ['text', 'p.mjs', 'export default "deny-tools"', /is no plugin: its default export is a string/],
    ['a list', 'p.mjs', 'export default [1]', /has no name/],
    ['a factory of nothing', 'p.mjs', 'export default () => {}', /what its default export returns is missing/],
    [
      'a factory of a factory',
      'p.mjs',
      'export default () => () => ({ name: "x", apply() {} })',
      /what its default export returns is a function/,
    ],
    [
      'a factory that throws',
      'p.mjs',
      'export default () => { throw new Error("max: expected a number\\nsecond line") }',
      /does not accept its options: max: expected a number$/,
    ],
    ['a factory that rejects', 'p.mjs', 'export default async () => { throw "no" }', /does not accept its options: no$/],
    [
      'a class that throws',
      'p.mjs',
      'export default class { constructor() { throw new TypeError("options.tools") } apply() {} }',
      /does not accept its options: options\.tools$/,
    ],
    ['a class without a name', 'p.mjs', 'export default class { apply() {} }', /`name` of an instance of its default export is missing/],
    [
      'a getter that throws',
      'p.mjs',
      'export default { get name() { throw new Error("no name for you") }, apply() {} }',
      /no name for you/,
    ],
    ['a throw on import', 'p.mjs', 'throw new Error("boom\\nand more")', /fails when it is loaded: boom$/],
    ['a throw of undefined', 'p.mjs', 'throw undefined', /fails when it is loaded/],
    ['a missing import', 'p.mjs', 'import "nothing-here"; export default {}', /fails when it is loaded: .*nothing-here/],
    ['a syntax error', 'p.mjs', 'export default {', /fails when it is loaded/],
    [
      'a syntax error in CommonJS, with its line',
      'p.cjs',
      'module.exports = {\n  name: "x"\n  apply() {}\n}',
      /fails when it is loaded: .*p\.cjs:3\)$/,
    ],
  ])('%s', async (_, name, text, message) => {
    const error = await failure(load(name, text))
    expect(error.message).toMatch(message)
    expect(error.message).toContain(root)
  })

  test('the cause is attached', async () => {
    const error = await failure(load('p.mjs', 'throw new RangeError("boom")'))
    expect(error.cause).toMatchObject({ name: 'RangeError', message: 'boom' })
  })

  test('a missing file, a folder, a file of another kind', async () => {
    expect((await failure(loadHookModule(spec(join(root, 'none.mjs'))))).message).toBe(
      `the hook plugin ${join(root, 'none.mjs')} does not exist`,
    )
    expect((await failure(loadHookModule(spec(root)))).message).toContain('is no file')
    await failure(load('p.txt', 'hello'))
    await failure(load('p.json', BODY))
    await failure(loadHookModule(spec('/a\0\n')))
  })

  test.each([
    ['a module', 'await new Promise((resolve) => setTimeout(resolve, 60_000).unref()); export default {}'],
    ['a factory', 'export default () => new Promise(() => {})'],
    ['a namespace with then', 'export function then() {}; export default { name: "x", apply() {} }'],
  ])('%s that never ends is given up', async (_, text) => {
    const file = await write(join(`m${count++}`, 'p.mjs'), text)
    expect((await failure(loadHookModule(spec(file), { timeoutMs: 300 }))).message).toMatch(/has not loaded within 300 ms$/)
  })
})
