import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { isTaplineError } from '../../src/errors.ts'
import { Secrets } from '../../src/secrets.ts'
import { failure, folderWith, load, loadText, write } from './files.ts'

const NAMES = [
  'tapline.json',
  'tapline.toml',
  '.mcp.json',
  'mcp.json',
  'config.toml',
  'claude_desktop_config.json',
  'other.json',
  'other.toml',
]
const folder = folderWith()

/** Reads the bytes under every name. Gives what is not as it should be: each time a configuration, or mistakes of one line each with their place. */
async function read(bytes: string | Uint8Array): Promise<string[]> {
  const odd: string[] = []
  for (const name of NAMES) {
    const file = write(folder, name, bytes)
    const judge = ({ message, where }: { message: string; where?: string }): void => {
      if (message.includes('\n') || !where?.startsWith(file)) odd.push(`${name}: ${where} ${message}`)
    }
    try {
      const loaded = await loadConfig({ files: [{ path: file, kind: 'named' }], env: {}, secrets: new Secrets(), cwd: folder })
      loaded.diagnostics.forEach(judge)
    } catch (error) {
      if (!isTaplineError(error)) throw error
      const mistakes = error.data?.['mistakes'] as { where: string; message: string }[]
      if (error.code !== 'CONFIG_INVALID' || mistakes.length === 0) odd.push(`${name}: ${error.code}`)
      mistakes.forEach(judge)
    }
  }
  return odd
}

/** Pieces of both languages, so that the noise gets past the parsers. */
const piece = fc.constantFrom(
  ...'{ } [ ] [[ ]] " \' """ \'\'\' , : = . # // /* */ \\ \\u'.split(' '),
  ...'mcpServers mcp_servers servers inputs environments hooks command "command" url env a 0 -1 1e9 true null 07:32 0x'.split(' '),
  ...'__proto__ constructor ${ ${input: ${A} ü 😀'.split(' '),
  '\n',
  '\r\n',
  '\r',
  ' ',
  '\t',
  '\u0000',
  '\uFEFF',
  '\uD800',
)

test('any bytes end in a configuration or in clear mistakes', async () => {
  const isFine = async (bytes: string | Uint8Array): Promise<void> => {
    expect(await read(bytes)).toEqual([])
  }
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), isFine), { numRuns: 50 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      isFine,
    ),
    { numRuns: 200 },
  )
}, 120_000)

test('and so does any JSON, under every name', async () => {
  const keys = 'mcpServers servers inputs environments hooks command args env url type id options default tools __proto__'.split(' ')
  const key = fc.oneof(fc.constantFrom('', ...keys), fc.string({ maxLength: 5 }))
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('promptString', 'pickString', '${input:a}', 'node', ''),
      fc.jsonValue({ maxDepth: 0 }),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  await fc.assert(
    fc.asyncProperty(value, async (any) => {
      expect(await read(JSON.stringify(any))).toEqual([])
    }),
    { numRuns: 150 },
  )
}, 120_000)

test.each([
  ['JSON nested deep', 'tapline.json', '['.repeat(200_000)],
  ['objects nested deep', 'tapline.json', '{"a":'.repeat(50_000)],
  ['whole JSON nested deep', 'tapline.json', `{"mcpServers":${'{"a":'.repeat(500)}1${'}'.repeat(501)}`],
  ['TOML nested deep', 'tapline.toml', `a = ${'['.repeat(100_000)}`],
  ['a header that is deep', 'tapline.toml', `[${'a.'.repeat(50_000)}a]\nb = 1`],
  ['a dotted key that is deep', 'tapline.toml', `${'a.'.repeat(50_000)}a = 1`],
  ['inline tables that are deep', 'tapline.toml', `a = ${'{a='.repeat(5_000)}1${'}'.repeat(5_000)}`],
])('%s is one clear line', async (_, name, text) => {
  const { code, message, data } = await failure(loadText(text, { name }))
  expect([code, (data?.['mistakes'] as unknown[]).length >= 1]).toEqual(['CONFIG_INVALID', true])
  expect(message.length).toBeLessThan(2_000)
})

test.each([
  [
    'tapline.json',
    (count: number) => `{"mcpServers":{${Array.from({ length: count }, (_, at) => `"s${at}":{"command":"node"}`).join(',')}}}`,
  ],
  ['tapline.toml', (count: number) => Array.from({ length: count }, (_, at) => `[mcp_servers.s${at}]\ncommand = "node"\n`).join('')],
])('many servers are read whole: %s', async (name, text) => {
  const loaded = await loadText(text(3_000), { name })
  expect(loaded.registrations).toHaveLength(3_000)
  expect(loaded.registrations.at(-1)?.key.name).toBe('s2999')
})

test.each(NAMES)('what is no text file is told so: %s', async (name) => {
  const place = folderWith({ 'a/x': '' })
  fs.mkdirSync(path.join(place, 'folder', name), { recursive: true })
  const at = async (file: string): Promise<string> => (await failure(load([{ path: file, kind: 'named' }]))).message
  expect(await at(path.join(place, 'folder', name))).toMatch(/is a folder; name the file in it/)
  expect(await at(write(place, name, new Uint8Array([0x7b, 0xff, 0xfe])))).toMatch(/is not UTF-8 text/)
  expect(await at(write(place, `utf16/${name}`, Buffer.from('\uFEFF{}', 'utf16le')))).toMatch(/is not UTF-8 text/)
  expect(await at(write(place, `big/${name}`, Buffer.alloc(1024 * 1024 + 1, ' ')))).toMatch(/1048576 is the limit/)
  expect(await at(path.join(place, 'nowhere', name))).toMatch(/there is no file/)
  fs.mkdirSync(path.join(place, 'links'))
  fs.symlinkSync(path.join(place, 'gone'), path.join(place, 'links', name))
  expect(await at(path.join(place, 'links', name))).toMatch(/there is no file/)
  fs.mkdirSync(path.join(place, 'loop'))
  fs.symlinkSync(path.join(place, 'loop', name), path.join(place, 'loop', name))
  expect(await at(path.join(place, 'loop', name))).toMatch(/cannot be read \(ELOOP\)/)
})

test('a link to a file is read; relative paths start where the link is', async () => {
  const place = folderWith({
    'real/target.json': { mcpServers: { a: { command: './run' } } },
    'real/t.toml': '[mcp_servers.a]\ncommand = "./run"\n',
    'here/x': '',
  })
  for (const [target, name] of [
    ['target.json', 'tapline.json'],
    ['t.toml', 'tapline.toml'],
  ] as const) {
    fs.symlinkSync(path.join(place, 'real', target), path.join(place, 'here', name))
    const loaded = await load([{ path: path.join(place, 'here', name), kind: 'named' }])
    expect(loaded.registrations[0]?.launch).toMatchObject({ command: path.join(place, 'here/run') })
  }
})

test('BOM and CRLF move no place', async () => {
  for (const [name, text] of [
    ['tapline.json', '\uFEFF{\r\n  "mcpServers": {\r\n    "a": { "comand": "x" } } }'],
    ['tapline.toml', '\uFEFF# x\r\n[mcp_servers.a]\r\n    "comand" = 1\r\n'],
  ] as const) {
    const loaded = await loadText(text, { name })
    expect(loaded.diagnostics[0]?.where).toBe(`${loaded.file}:3:${name.endsWith('toml') ? 5 : 12}`)
  }
})
