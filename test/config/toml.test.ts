import * as fc from 'fast-check'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { parseTomlDocument } from '../../src/documents/toml-document.ts'
import type { Value } from '../../src/documents/value.ts'
import { toJson } from '../../src/documents/value.ts'

/** Every key and value of a tree: its path, and the text that stands at its place. */
function places(value: Value, text: string): [string, string][] {
  const offsetOf = (where: string): number => {
    const [line = 0, column = 0] = where.split(':').slice(-2).map(Number)
    const starts = [...text.matchAll(/^|(?<=\n)/g)].map(({ index }) => index)
    return (starts[line - 1] as number) + column - 1
  }
  const at = (where: string): string => text.slice(offsetOf(where), offsetOf(where) + 12)
  const found: [string, string][] = [[value.path, at(value.where)]]
  if (value.kind === 'list') for (const item of value.items) found.push(...places(item, text))
  if (value.kind === 'object') {
    for (const member of value.members) found.push([`key ${member.value.path}`, at(member.where)], ...places(member.value, text))
  }
  return found
}

async function read(text: string): Promise<{ tree: Value | null; mistakes: [string, string][] }> {
  const mistakes: [string, string][] = []
  const tree = await parseTomlDocument(text, 'f', (where, message) => mistakes.push([where, message]))
  return { tree, mistakes }
}

test('every key and value has its place, however it is written', async () => {
  const text = `# comment = [ "not", "this" ]
title = "t" # a = 1
dotted . "quo.ted" . 'li"t' = 1_000
inline = { a = [ 1, { b = "}" } ], "c\\u0041" = '''x]
y''' }
[servers.one]
args = [
  "a", # ] "z"
  """b ""\\" = """",
  [ 2.5, 0x10 ],
]
  [servers.one.env]
  KEY = 'v'
[[list]]
n = 1979-05-27 07:32:00
[[list]]
[list.sub]
deep.er = true
`
  const { tree, mistakes } = await read(text)
  expect(mistakes).toEqual([])
  expect(places(tree as Value, text).map(([path, at]) => `${path} @ ${at.split('\n')[0]}`)).toMatchInlineSnapshot(`
    [
      " @ # comment = ",
      "key title @ title = "t" ",
      "title @ "t" # a = 1",
      "key dotted @ dotted . "qu",
      "dotted @ dotted . "qu",
      "key dotted."quo.ted" @ "quo.ted" . ",
      "dotted."quo.ted" @ "quo.ted" . ",
      "key dotted."quo.ted"."li\\"t" @ 'li"t' = 1_0",
      "dotted."quo.ted"."li\\"t" @ 1_000",
      "key inline @ inline = { a",
      "inline @ { a = [ 1, {",
      "key inline.a @ a = [ 1, { b",
      "inline.a @ [ 1, { b = "",
      "inline.a[0] @ 1, { b = "}"",
      "inline.a[1] @ { b = "}" } ",
      "key inline.a[1].b @ b = "}" } ],",
      "inline.a[1].b @ "}" } ], "c\\",
      "key inline.cA @ "c\\u0041" = ",
      "inline.cA @ '''x]",
      "key servers @ servers.one]",
      "servers @ servers.one]",
      "key servers.one @ one]",
      "servers.one @ one]",
      "key servers.one.args @ args = [",
      "servers.one.args @ [",
      "servers.one.args[0] @ "a", # ] "z"",
      "servers.one.args[1] @ """b ""\\" = ",
      "servers.one.args[2] @ [ 2.5, 0x10 ",
      "servers.one.args[2][0] @ 2.5, 0x10 ],",
      "servers.one.args[2][1] @ 0x10 ],",
      "key servers.one.env @ env]",
      "servers.one.env @ env]",
      "key servers.one.env.KEY @ KEY = 'v'",
      "servers.one.env.KEY @ 'v'",
      "key list @ list]]",
      "list @ list]]",
      "list[0] @ list]]",
      "key list[0].n @ n = 1979-05-",
      "list[0].n @ 1979-05-27 0",
      "list[1] @ list]]",
      "key list[1].sub @ sub]",
      "list[1].sub @ sub]",
      "key list[1].sub.deep @ deep.er = tr",
      "list[1].sub.deep @ deep.er = tr",
      "key list[1].sub.deep.er @ er = true",
      "list[1].sub.deep.er @ true",
    ]
  `)
  // dates have no JSON
  const parsed = JSON.stringify(parse(text)).replace(/"1979[^"]*"/, 'null')
  expect(JSON.stringify(toJson(tree as Value, () => {}))).toBe(parsed)
})

const keyText = fc.oneof(fc.constantFrom('a', 'b-1', '_', '7', 'mcp_servers'), fc.string({ unit: 'grapheme', maxLength: 6 }))
/** True where the text can stand between single quotes as it is. */
const isLiteral = (text: string): boolean => [...text].every((one) => one === '\t' || (one >= ' ' && one !== "'" && one !== '\u007F'))
/** A key as TOML can write it, at random. */
const writtenKey = (name: string, style: number): string => {
  if (/^[A-Za-z0-9_-]+$/.test(name) && style % 3 === 0) return name
  if (isLiteral(name) && style % 3 === 1) return `'${name}'`
  return JSON.stringify(name).replaceAll('\u007F', '\\u007F')
}
const gap = fc.constantFrom('', ' ', '\t', '  ')
const lineGap = fc.constantFrom('', ' ', '\n', '\r\n', ' # c ] } = "\n', '\n# ]]\n\t')

interface Writer {
  text: string
  readonly at: Map<string, number>
  next: () => number
}
type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }
const plain = fc.letrec<{ value: Plain; table: { [key: string]: Plain } }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('table'),
  ),
  table: fc.dictionary(keyText, tie('value'), { maxKeys: 3 }),
})).table

/** Writes a document in random styles (tables, arrays of tables, inline, dotted) and keeps the offset of every key and value. */
function write(
  root: { readonly [key: string]: Plain },
  choices: readonly number[],
  gaps: readonly string[],
  lines: readonly string[],
): Writer {
  let turn = 0
  const writer: Writer = { text: '', at: new Map(), next: () => choices[turn++ % choices.length] as number }
  const put = (text: string): void => void (writer.text += text)
  const blank = (): void => put(gaps[writer.next() % gaps.length] as string)
  const line = (): void => put(lines[writer.next() % lines.length] as string)
  const mark = (path: string): void => void (writer.at.has(path) || writer.at.set(path, writer.text.length))
  const text = (value: string): string => {
    const style = writer.next() % 4
    const literal = isLiteral(value)
    if (style === 0 && literal) return `'${value}'`
    if (style === 1 && literal) return `'''${value}'''`
    const escaped = JSON.stringify(value).slice(1, -1).replaceAll('\u007F', '\\u007F')
    return style === 2 ? `"""${escaped}"""` : `"${escaped}"`
  }
  const putValue = (value: Plain, path: string): void => {
    mark(path)
    if (typeof value === 'string') put(text(value))
    else if (typeof value !== 'object') put(String(value))
    else if (Array.isArray(value)) {
      put('[')
      ;(value as readonly Plain[]).forEach((item, index) => {
        line()
        putValue(item, `${path}/${index}`)
        line()
        put(',')
      })
      line()
      put(']')
    } else {
      put('{')
      Object.entries(value).forEach(([name, member], index) => {
        if (index > 0) put(',')
        blank()
        mark(`${path}/${name}#`)
        put(writtenKey(name, writer.next()))
        blank()
        put('=')
        blank()
        putValue(member, `${path}/${name}`)
        blank()
      })
      put('}')
    }
  }
  const isTable = (value: Plain): value is { readonly [key: string]: Plain } => typeof value === 'object' && !Array.isArray(value)
  const isTables = (value: Plain): value is readonly { readonly [key: string]: Plain }[] =>
    Array.isArray(value) && value.length > 0 && value.every(isTable)
  const header = (names: readonly string[], base: string, open: string, close: string): void => {
    put('\n')
    line()
    put('\n')
    blank()
    put(open)
    let way = base
    names.forEach((name, index) => {
      if (index > 0) put('.')
      blank()
      way = `${way}/${name}`
      if (index === names.length - 1) {
        mark(`${way}#`)
        mark(way)
      }
      put(writtenKey(name, writer.next()))
      blank()
    })
    put(`${close}\n`)
  }
  const putTable = (table: { readonly [key: string]: Plain }, path: string, names: readonly string[], canHead: boolean): void => {
    const later: [string, Plain][] = []
    for (const [name, value] of Object.entries(table)) {
      if (canHead && (isTable(value) || isTables(value)) && writer.next() % 2 === 0) {
        later.push([name, value])
        continue
      }
      put('\n')
      blank()
      mark(`${path}/${name}#`)
      put(writtenKey(name, writer.next()))
      // one member alone can be written as a dotted key
      const only = isTable(value) ? Object.entries(value) : []
      const [first] = only
      if (only.length === 1 && first !== undefined && writer.next() % 2 === 0) {
        writer.at.set(`${path}/${name}`, writer.at.get(`${path}/${name}#`) as number)
        blank()
        put('.')
        blank()
        mark(`${path}/${name}/${first[0]}#`)
        put(writtenKey(first[0], writer.next()))
        blank()
        put('=')
        putValue(first[1], `${path}/${name}/${first[0]}`)
        put('\n')
        continue
      }
      blank()
      put('=')
      blank()
      putValue(value, `${path}/${name}`)
      put('\n')
    }
    for (const [name, value] of later) {
      if (isTables(value)) {
        value.forEach((item, index) => {
          header(
            [...names, name],
            path
              .split('/')
              .slice(0, path.split('/').length - names.length)
              .join('/'),
            '[[',
            ']]',
          )
          putTable(item, `${path}/${name}/${index}`, [], false)
        })
      } else {
        header([...names, name], '', '[', ']')
        putTable(value as { readonly [key: string]: Plain }, `${path}/${name}`, [...names, name], true)
      }
    }
  }
  putTable(root, '', [], true)
  return writer
}

test('in any document every value is the one that the parser reads, and stands where it was written', async () => {
  await fc.assert(
    fc.asyncProperty(
      plain,
      fc.array(fc.nat(11), { minLength: 30, maxLength: 30 }),
      fc.array(gap, { minLength: 5, maxLength: 5 }),
      fc.array(lineGap, { minLength: 5, maxLength: 5 }),
      async (root, choices, gaps, lines) => {
        // "/" and "#" are how this test writes paths
        const clean = JSON.parse(
          JSON.stringify(root).replaceAll('/', '~').replaceAll('#', '~').replaceAll('__proto__', 'proto'),
        ) as typeof root
        const { text, at } = write(clean, choices, gaps, lines)
        const { tree, mistakes } = await read(text)
        expect(mistakes, text).toEqual([])
        expect(toJson(tree as Value, () => {})).toEqual(JSON.parse(JSON.stringify(clean)))
        const seen = new Map<string, string>()
        const walk = (value: Value, path: string): void => {
          seen.set(path, value.where)
          if (value.kind === 'list') value.items.forEach((item, index) => walk(item, `${path}/${index}`))
          if (value.kind !== 'object') return
          for (const member of value.members) {
            seen.set(`${path}/${member.name}#`, member.where)
            walk(member.value, `${path}/${member.name}`)
          }
        }
        walk(tree as Value, '')
        for (const [path, offset] of at) {
          const before = text.slice(0, offset).split(/\r\n|\n/)
          expect([path, seen.get(path)], text).toEqual([path, `f:${before.length}:${(before.at(-1) as string).length + 1}`])
        }
      },
    ),
    { numRuns: 300 },
  )
}, 120_000)

test.each([
  ['a = 1\na = 2', 'f:2:1', /redefine/],
  ['[a]\nb = 1\n[a]\nc = 2', 'f:3:2', /redefine/],
  ['a.b = 1\na.b = 2', 'f:2:', /redefine/],
  ['a = [', 'f:1:', /unfinished array/],
  ['token = "secret-value', 'f:1:', /unfinished string/],
  ['a = "x\u0000y"', 'f:1:', /control characters/],
  [`a = ${'['.repeat(101)}${']'.repeat(101)}`, 'f:1:', /nested/],
  [`[${'a.'.repeat(200)}a]\nb = 1`, 'f:1:', /nested too deeply/],
  ['just text', 'f:1:', /illegal character in key/],
])('%j is broken: place and reason, never the text', async (text, where, reason) => {
  const { mistakes } = await read(text)
  expect(mistakes.length).toBe(1)
  expect(mistakes[0]?.[0].startsWith(where)).toBe(true)
  expect(mistakes[0]?.[1]).toMatch(reason)
  expect(mistakes[0]?.[1]).not.toContain('secret-value')
  expect(mistakes[0]?.[1]).not.toContain('\n')
})

test.each([
  ['9007199254740993', false],
  ['0.1234567890123456789', false],
  ['inf', false],
  ['nan', false],
  ['1_000.50', true],
  ['+7', true],
  ['0xff', true],
  ['0b101', true],
  ['1e3', true],
  ['-0.5', true],
])('the number %s is exact: %s', async (number, exact) => {
  const { tree } = await read(`n = ${number} # c`)
  expect(tree?.kind === 'object' && tree.members[0]?.value).toMatchObject({ kind: 'number', exact })
})

test('a BOM, CRLF and an empty document are fine; a date is no JSON', async () => {
  expect((await read('\uFEFFa = 1\r\nb = 2\r\n')).tree).toMatchObject({ members: [{ where: 'f:1:1' }, { where: 'f:2:1' }] })
  expect((await read('')).tree).toMatchObject({ kind: 'object', members: [] })
  const mistakes: string[] = []
  toJson((await read('d = 07:32:00')).tree as Value, (_, message) => mistakes.push(message))
  expect(mistakes).toEqual([expect.stringContaining('d is not JSON')])
})
