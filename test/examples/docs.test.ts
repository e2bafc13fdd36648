import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { FOREIGN_KEYS } from '../../src/config/foreign-keys.ts'
import * as keyTables from '../../src/config/keys.ts'
import { snakeCase } from '../../src/config/shape.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), 'utf8')

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  ...fs
    .readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.split(path.sep).join('/')}`),
]

/** Fenced blocks with a file name after the language. */
function namedBlocks(page: string): { file: string; text: string }[] {
  const blocks = read(page).matchAll(/^```\w+ ([\w./-]+)\n([^]*?)^```$/gm)
  return [...blocks].map(([, file, text]) => ({ file: file as string, text: text as string }))
}

test('a code block that names a file is that file', () => {
  const blocks = PAGES.flatMap(namedBlocks)
  expect(blocks.length).toBeGreaterThan(5)
  for (const { file, text } of blocks) expect(text, file).toBe(read(file))
})

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-')

test('links between the pages lead somewhere', () => {
  const broken: string[] = []
  for (const page of PAGES) {
    const text = read(page).replace(/^```[^]*?^```$/gm, '')
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target === undefined || /^https?:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? page : path.posix.join(path.posix.dirname(page), file)
      if (!fs.existsSync(path.join(ROOT, to))) broken.push(`${page}: ${target}`)
      else if (anchor !== undefined) {
        const anchors = [...read(to).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading as string))
        if (!anchors.includes(anchor)) broken.push(`${page}: ${target}`)
      }
    }
  }
  expect(broken).toEqual([])
})

test('links of the pages in the tarball lead to files that are in it', () => {
  const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] }
  // npm adds these whatever `files` says
  const packed = [...files, 'README.md', 'LICENSE', 'package.json']
  const outside: string[] = []
  for (const page of PAGES.filter((one) => packed.some((name) => one === name || one.startsWith(`${name}/`)))) {
    for (const [, target = ''] of read(page)
      .replace(/^```[^]*?^```$/gm, '')
      .matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
      if (/^https?:/.test(target)) continue
      const to = path.posix.join(path.posix.dirname(page), target)
      if (!packed.some((name) => to === name || to.startsWith(`${name}/`))) outside.push(`${page}: ${target}`)
    }
  }
  expect(outside).toEqual([])
})

test('docs/reference/configuration.md lists every diagnostic that the code makes', () => {
  const page = read('docs/reference/configuration.md')
  const sources = fs
    .readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(path.join('src', name)))
  const codes = sources.flatMap((source) =>
    [...source.matchAll(/(?:\bcode: (?:\w+ \? )?|\bnote\(\s*)'([a-z]+(?:_[a-z]+)*)'/g)].map(([, code]) => code as string),
  )
  expect(new Set(codes).size).toBeGreaterThan(15)
  expect([...new Set(codes)].filter((code) => !page.includes(`\`${code}\``))).toEqual([])
})

test('docs/reference/cli.md names every command and every option', () => {
  const page = read('docs/reference/cli.md')
  const program = createProgram({ color: false, run: async () => {}, writeHelp: () => {}, writeUsage: () => {} })
  const missing: string[] = []
  const look = (command: typeof program, name: string): void => {
    for (const option of command.options) if (!page.includes(`${option.long}`)) missing.push(`${name} ${option.flags}`)
    for (const sub of command.commands) {
      const full = `${name} ${sub.name()}`
      if (sub.commands.length === 0 && !page.includes(`\`${full}`)) missing.push(full)
      look(sub, full)
    }
  }
  look(program, 'tapline')
  expect(missing).toEqual([])
})

test('docs/reference/configuration.md names every key of every format', () => {
  const page = read('docs/reference/configuration.md')
  const tables = Object.values(keyTables).filter((table) => typeof table === 'object' && !Array.isArray(table)) as object[]
  const keys = tables.flatMap((table) => Object.keys(table)).filter((key) => !['least', 'most', 'pattern'].includes(key))
  const foreign = Object.values(FOREIGN_KEYS).flat()
  expect(keys.length).toBeGreaterThan(50)
  const isNamed = (key: string): boolean => page.includes(key) || page.includes(snakeCase(key))
  expect([...new Set([...keys, ...foreign])].filter((key) => !isNamed(key))).toEqual([])
})
