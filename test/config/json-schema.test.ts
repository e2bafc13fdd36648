import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { configSchema } from '../../src/config/json-schema.ts'
import { Secrets } from '../../src/secrets.ts'
import { folderWith, write } from './files.ts'
import { against } from './schema.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const TOP = Object.keys(configSchema()['properties'] as object)

/** Every block of JSON in the pages that is a whole configuration. */
function documented(): { where: string; config: unknown }[] {
  const below = fs.readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)
  const pages = ['README.md', ...below].filter((name) => name.endsWith('.md'))
  return pages.flatMap((page) =>
    [...fs.readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```jsonc? ?([\w./-]*)\n([^]*?)^```$/gm)].flatMap(
      ([, name = '', block], index) => {
        const config: unknown = parse(block as string)
        const isOurs = typeof config === 'object' && config !== null && Object.keys(config).some((key) => TOP.includes(key))
        return isOurs && !/mcp\.json|claude_desktop|plugin\.json|flags\.json|hooks\.json/.test(name)
          ? [{ where: `${page} ${index}`, config }]
          : []
      },
    ),
  )
}

test('the configurations of the pages and the examples fit', () => {
  const all = documented()
  expect(all.length).toBeGreaterThan(4)
  for (const { where, config } of all) expect(against(config), where).toEqual([])
  const example = (name: string): string => fs.readFileSync(path.join(ROOT, 'examples', name), 'utf8')
  expect(against(parse(example('tapline.json')))).toEqual([])
  expect(against(parseToml(example('config/tapline.toml')))).toEqual([])
})

const stdio = { command: 'node', args: ['a'], env: { A: 'b' }, envVars: ['X', { name: 'Y', source: 'remote' }], cwd: '.' }
const http = { url: 'http://127.0.0.1:1/', httpHeaders: { A: 'b' }, envHttpHeaders: { B: 'X' }, bearerTokenEnvVar: 'X' }
const policy = {
  enabled: true,
  required: false,
  startupTimeoutSec: 1,
  toolTimeoutSec: 2,
  toolTotalTimeoutSec: 3,
  enabledTools: ['x'],
  disabledTools: ['y'],
  defaultToolsApprovalMode: 'auto',
  tools: { x: { approvalMode: 'deny' } },
  trustAnnotations: true,
  supportsParallelToolCalls: true,
  sharing: 'session',
  maxResultBytes: 4096,
  protocol: 'auto',
  outputSchema: 'enforce',
  installation: 'i',
}
/** Every key once. */
const FULL = {
  $schema: './x.json',
  environments: {
    one: {
      executor: 'local',
      cwd: '.',
      extraRoots: ['.'],
      permissions: {
        type: 'workspace-write',
        networkAccess: true,
        writableRoots: ['.'],
        excludeSlashTmp: true,
        excludeTmpdirEnvVar: false,
      },
      approvalPolicy: { granular: { mcpElicitations: true } },
      mcpServers: { a: { ...stdio, ...policy } },
      codexExecutable: '/x',
    },
    two: { permissions: { type: 'opaque', sandboxState: { x: 1 } }, approvalPolicy: 'never' },
  },
  selectedEnvironments: ['one'],
  mcpServers: {
    a: { ...stdio, type: 'stdio', environment: 'one' },
    b: { ...http, ...policy, type: 'http' },
    c: { url: http.url, headers: { A: 'b' }, disabled: true },
  },
  features: { f: true, g: 'x' },
  naming: { scheme: 'stable', maxLength: 100 },
  hooks: [
    './x.mjs',
    { module: './y.js', options: { a: 1 }, environments: ['one', null], servers: ['a'], tools: ['x'], mode: 'enforce' },
    { module: './z.js', mode: 'shadow' },
    { package: 'p', mode: { flag: 'guard_mode', default: 'enforce' } },
    { package: 'p' },
    { commandHooks: 'hooks.json', onFailure: 'continue', env: ['A'], tools: ['x'] },
  ],
  store: { file: './store' },
  trace: { file: './t.jsonl', arguments: true },
  plugins: [],
  flags: { flagd: 'flags.json' },
}

type Way = readonly (string | number)[]
function waysIn(value: unknown, way: Way = []): Way[] {
  if (typeof value !== 'object' || value === null) return [way]
  return [way, ...Object.entries(value).flatMap(([key, member]) => waysIn(member, [...way, Array.isArray(value) ? Number(key) : key]))]
}
const WAYS = waysIn(FULL)

function changed(value: unknown, way: Way, change: (value: unknown) => unknown): unknown {
  const [step, ...rest] = way
  if (step === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === step ? changed(item, rest, change) : item))
  return Object.fromEntries(
    Object.entries(value as object).map(([key, member]) => [key, key === step ? changed(member, rest, change) : member]),
  )
}

const folder = folderWith()

/** True where the readers find no mistake. */
async function isRead(config: unknown): Promise<boolean> {
  const file = write(folder, 'tapline.json', config)
  try {
    const { diagnostics } = await loadConfig({
      files: [{ path: file, kind: 'named' }],
      env: { X: 'http://x.test/' },
      secrets: new Secrets(),
      cwd: folder,
    })
    return !diagnostics.some(({ severity }) => severity === 'error')
  } catch {
    return false
  }
}

test('the whole of it is read and fits, in both spellings', async () => {
  expect([against(FULL), await isRead(FULL)]).toEqual([[], true])
  const snake = JSON.parse(
    JSON.stringify(FULL).replace(
      /"([a-z]+(?:[A-Z][a-z]+)+)":/g,
      (_, name: string) => `"${name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)}":`,
    ),
  ) as unknown
  expect([against(snake), await isRead(snake)]).toEqual([[], true])
})

/** What the schema cannot say: ids that must be declared, what belongs to an environment already. */
const BEYOND: readonly RegExp[] = [
  /^selectedEnvironments/,
  /^environments$/,
  /^environments\/one$/,
  /executor$/,
  /environment$/,
  /mcpServers$/,
  /^mcpServers\/a$/,
]

const ODD: readonly unknown[] = [
  '',
  'x',
  'auto',
  'never',
  'local',
  'enforce',
  'opaque',
  'stable',
  'codex',
  'none of them',
  'a b',
  'default',
  './x.mjs',
  'x.mjs',
  '../x.js',
  '/x.ts',
  '@scope/name',
  '${X}',
  'http://x.test',
  'ftp://x.test',
  'a:b',
  0,
  1,
  -1,
  0.5,
  64,
  128,
  1024,
  86_400,
  86_401,
  1e9,
  true,
  false,
  null,
  [],
  {},
  [''],
  ['x'],
  [1],
  [null],
  ['x', 'x'],
  [{}],
  { x: 'y' },
  { x: 1 },
  { 'a b': {} },
  { '': 'x' },
  { 'a=b': 'x' },
  { 'a\nb': 'x' },
  { kind: 'local' },
  { name: 'x' },
  { type: 'opaque' },
  { granular: {} },
  { approvalMode: 'no' },
]

async function disagreement(way: Way, value: unknown): Promise<string | null> {
  const config = changed(FULL, way, () => value)
  const [isFine, says] = [await isRead(config), against(config)]
  // what is read must fit everywhere; what is not must not, where a schema can say so
  if (isFine === (says.length === 0) || (!isFine && BEYOND.some((one) => one.test(way.join('/'))))) return null
  return `${way.join('/')} = ${JSON.stringify(value)} is ${isFine ? `read, but: ${says.join('; ')}` : 'not read, but fits'}`
}

test('whatever stands at any place, the schema and the readers agree on it', async () => {
  const found: string[] = []
  // every third pair, so that each place meets a third of the values, and each value a third of the places
  for (const [at, way] of WAYS.entries())
    for (const [index, value] of ODD.entries()) if ((at + index) % 3 === 0) found.push((await disagreement(way, value)) ?? '')
  expect(found.filter(Boolean)).toEqual([])
}, 120_000)

test('and so for any pair, and for values that nobody thought of', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WAYS), fc.oneof(fc.constantFrom(...ODD), fc.jsonValue({ maxDepth: 2 })), async (way, value) => {
      const json = JSON.stringify(value)
      // digits that get lost and NUL are mistakes that no schema sees
      fc.pre(!/\d{16}|\de|\\u0000/.test(json))
      expect(await disagreement(way, JSON.parse(json))).toBeNull()
    }),
    { numRuns: 400 },
  )
}, 120_000)

test('a planted unknown key is refused at every object that has keys of its own', async () => {
  const free =
    /\/(env|httpHeaders|headers|envHttpHeaders|options|sandboxState|tools)$|^(features|environments|mcpServers|flags)$|\/mcpServers$/
  for (const way of WAYS) {
    const config = changed(FULL, way, (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, zzz: 1 } : value,
    )
    if (JSON.stringify(config) === JSON.stringify(FULL) || free.test(way.join('/'))) continue
    expect([way.join('/'), against(config).length > 0, await isRead(config)]).toEqual([way.join('/'), true, false])
  }
})

test('both spellings of a key, or both kinds of a server, are refused', async () => {
  for (const server of [
    { command: 'node', url: 'http://x.test/' },
    {},
    { command: 'node', http_headers: {} },
    { url: 'http://x.test/', args: [] },
    { url: 'http://x.test/', env_vars: [] },
    { command: 'node', enabled: true, disabled: false },
  ]) {
    const config = { mcpServers: { a: server } }
    expect([server, against(config).length > 0, await isRead(config)]).toEqual([server, true, false])
  }
})
