import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = path.join(import.meta.dirname, '..')

interface Manifest {
  readonly version: string
  readonly exports: Record<string, string | Record<string, string>>
  readonly bin: Record<string, string>
  readonly dependencies: Record<string, string>
}
const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Manifest

/** A project that has installed the tarball which npm would publish, with the runtime dependencies and nothing else. */
let consumer: string
let installed: string

const run = (command: string, args: string[], cwd = consumer): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 })

beforeAll(() => {
  if (!fs.existsSync(path.join(ROOT, 'dist', 'index.js'))) throw new Error('dist is missing: run `npm run build` first')
  consumer = fs.mkdtempSync(path.join(os.tmpdir(), 'tapline-package-'))
  run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', consumer], ROOT)
  run('tar', ['-xzf', `tapline-${manifest.version}.tgz`])
  installed = path.join(consumer, 'node_modules', 'tapline')
  fs.mkdirSync(path.dirname(installed), { recursive: true })
  fs.renameSync(path.join(consumer, 'package'), installed)
  for (const name of [...Object.keys(manifest.dependencies), 'ai', '@types/node', 'undici-types']) {
    const link = path.join(consumer, 'node_modules', name)
    fs.mkdirSync(path.dirname(link), { recursive: true })
    fs.symlinkSync(path.join(ROOT, 'node_modules', name), link, 'junction')
  }
  fs.writeFileSync(path.join(consumer, 'package.json'), '{ "private": true, "type": "module" }\n')
}, 60_000)

afterAll(() => fs.rmSync(consumer, { recursive: true, force: true }))

test('the tarball has the built files, the legal and the reading ones, and no sources or tests', () => {
  const files = fs.readdirSync(installed).sort()
  expect(files).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'examples', 'package.json'])
  const sources = fs
    .readdirSync(installed, { recursive: true, encoding: 'utf8' })
    // examples are sources to read
    .filter((file) => !file.startsWith('examples') && /(?<!\.d)\.ts$|\.test\.|tsbuildinfo/.test(file))
  expect(sources).toEqual([])
})

test('everything that package.json points at is there', () => {
  const targets = [
    ...Object.values(manifest.exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target))),
    ...Object.values(manifest.bin),
  ]
  expect(targets.filter((target) => !fs.existsSync(path.join(installed, target)))).toEqual([])
})

test('every entry point loads from the tarball, with named exports only', () => {
  for (const entry of Object.keys(manifest.exports).filter((key) => key !== './package.json')) {
    const specifier = path.posix.join('tapline', entry)
    const names = JSON.parse(
      run(process.execPath, ['-e', `import('${specifier}').then((all) => console.log(JSON.stringify(Object.keys(all))))`]),
    ) as string[]
    expect(names, specifier).not.toEqual([])
    expect(names, specifier).not.toContain('default')
  }
})

test('what is not exported cannot be reached', () => {
  expect(() =>
    run(process.execPath, ['-e', "import('tapline/dist/errors.js').catch((e) => { console.error(e.code); process.exit(1) })"]),
  ).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED')
})

test('the declarations compile in a strict project that checks libraries too', () => {
  const entries = Object.keys(manifest.exports).filter((key) => key !== './package.json')
  const lines = entries.map((entry, at) => `export * as entry${at} from '${path.posix.join('tapline', entry)}'`)
  fs.writeFileSync(path.join(consumer, 'use.ts'), `${lines.join('\n')}\n`)
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
  }
  fs.writeFileSync(path.join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  let output = ''
  try {
    output = run(process.execPath, [tsc, '-p', '.'])
  } catch (error) {
    output = String((error as { stdout?: unknown }).stdout ?? error)
  }
  // Declarations of others may not stand so strict a look; ours must.
  expect(output.split('\n').filter((line) => line.startsWith('node_modules/tapline/') || line.startsWith('use.ts'))).toEqual([])
})

test('the command runs as npm links it', () => {
  const file = path.join(installed, manifest.bin['tapline'] as string)
  const link = path.join(consumer, 'node_modules', '.bin', 'tapline')
  fs.mkdirSync(path.dirname(link), { recursive: true })
  fs.symlinkSync(file, link)
  expect(fs.readFileSync(file, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true)
  expect(fs.statSync(file).mode & 0o111).toBe(0o111)
  expect(run(process.execPath, [link, '--version']).trim()).toBe(manifest.version)
  expect(run(link, ['--help'])).toContain('Usage')
})

/** Files and packages that Node loads for a file before it runs a line of ours: static imports, all the way down. */
function loadedBy(folder: string, entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [entry]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    files.add(file)
    const source = fs.readFileSync(path.join(folder, file), 'utf8')
    for (const [, from, bare] of source.matchAll(
      /^\s*(?:(?:import|export)\b(?! type\b)[^'";]*?\bfrom\s*['"]([^'"]+)['"]|import\s*['"]([^'"]+)['"])/gm,
    )) {
      const specifier = from ?? bare ?? ''
      if (specifier.startsWith('.')) waiting.push(path.posix.join(path.posix.dirname(file), specifier))
      else if (!specifier.startsWith('node:')) packages.add(specifier)
    }
  }
  return { files, packages }
}

// the built package has chunks, whose names say nothing; which modules belong to an entry point is seen in the sources
const builtBy = (entry: string): ReturnType<typeof loadedBy> => loadedBy(path.join(installed, 'dist'), entry)
const sourcesOf = (entry: string): ReturnType<typeof loadedBy> => loadedBy(path.join(ROOT, 'src'), entry)

test('the command and the library come as few files, which load faster than many', () => {
  expect(builtBy('index.js').files.size).toBeLessThan(70)
  expect(builtBy('cli/main.js').files.size).toBeLessThan(20)
})

test('entry points and the command load the heavy packages only when they are needed', () => {
  const heavy = /^(@modelcontextprotocol\/|@opentelemetry\/|@openfeature\/|re2js|ajv|zod|@clack\/)/
  for (const entry of [
    'index.js',
    'plugin.js',
    'plugins/builtin/index.js',
    'sandbox/index.js',
    'formats/openai.js',
    'formats/anthropic.js',
    'formats/ai-sdk.js',
    'testing/index.js',
    'cli/main.js',
  ]) {
    const { packages } = builtBy(entry)
    expect(
      [...packages].filter((name) => heavy.test(name)),
      entry,
    ).toEqual([])
  }
})

test('tapline/plugin loads no transport, no pipeline and no runtime', () => {
  const { files } = sourcesOf('plugin.ts')
  expect([...files].filter((file) => /^(connections|pipeline|plugins|runtime|config|storage|cli|testing)\//.test(file))).toEqual([])
})

test('tapline/builtin loads no transport, no pipeline, no runtime and no package', () => {
  const { files } = sourcesOf('plugins/builtin/index.ts')
  const { packages } = builtBy('plugins/builtin/index.js')
  expect([...packages]).toEqual([])
  expect([...files].filter((file) => /^(connections|pipeline|runtime|config|cli|testing)\//.test(file))).toEqual([])
})

test('tapline/sandbox loads nothing but its own files, a few leaves and no package', () => {
  const { files } = sourcesOf('sandbox/index.ts')
  const { packages } = builtBy('sandbox/index.js')
  expect([...packages]).toEqual([])
  expect([...files].filter((file) => !file.startsWith('sandbox/')).sort()).toEqual([
    'errors.ts',
    'json.ts',
    'launcher-probe.ts',
    'sandbox-keys.ts',
  ])
})

test('the formats of models load no part of the runtime, and only tapline/ai-sdk loads ai', () => {
  for (const [entry, wanted] of [
    ['openai', []],
    ['anthropic', []],
    ['ai-sdk', ['ai']],
  ] as const) {
    const { files } = sourcesOf(`formats/${entry}.ts`)
    expect([...builtBy(`formats/${entry}.js`).packages]).toEqual(wanted)
    expect([...files].filter((file) => /^(runtime|connections|hooks|cli)\//.test(file))).toEqual([])
  }
})

test("a new author's path, by docs/guides/first-plugin.md: begin, edit, test, check, run against a real server, see it in the trace", () => {
  const tapline = path.join(installed, manifest.bin['tapline'] as string)
  run(process.execPath, [tapline, 'hooks', 'init', 'my-guard'])
  const folder = path.join(consumer, 'my-guard')
  const source = path.join(folder, 'src', 'plugin.js')
  const page = fs.readFileSync(path.join(installed, 'docs', 'guides', 'first-plugin.md'), 'utf8')
  const second = /^```js\n([^]*?)^```$/m.exec(page)?.[1] as string
  expect(second).toContain('ask(')
  const text = fs.readFileSync(source, 'utf8')
  fs.writeFileSync(
    source,
    text.replace('ALL_METHODS, deny', 'ALL_METHODS, ask, deny').replace('hooks.approve.tap({', `${second}      hooks.approve.tap({`),
  )

  const tested = run(process.execPath, ['--test', '--test-reporter=tap'], folder)
  expect(tested).toMatch(/^# pass 3$/m)
  // its types hold too
  const strict = [
    '--ignoreConfig',
    '--allowJs',
    '--checkJs',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--skipLibCheck',
    '--types',
    'node',
  ]
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  run(process.execPath, [tsc, ...strict, 'src/plugin.js', 'test/plugin.test.js', 'try/server.js'], folder)
  expect(run(process.execPath, [tapline, 'hooks', 'check', './src/plugin.js'], folder)).toMatch(
    /^my-guard: nothing found \(2\d{3} calls, 2 taps/,
  )

  const call = (...args: string[]): any => {
    const command = [tapline, '--config', 'try/tapline.json', '--json', 'call', '--server', 'notes', ...args, '--trace']
    const { status, stdout } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8', timeout: 60_000 })
    return { status, ...JSON.parse(stdout) }
  }
  const taps = (outcome: any): string[] => outcome.trace.taps.map(({ plugin, tap, decision }: any) => `${plugin}/${tap}: ${decision}`)
  const added = call('add', '{"text":"milk"}')
  expect([added.status, added.result.content[0].text]).toEqual([0, 'note 1'])
  expect(taps(added)).toEqual(['my-guard/refuse: none', 'my-guard/long-notes: none'])
  const refused = call('clear')
  expect([refused.status, refused.sent]).toEqual([3, 'no'])
  expect(taps(refused)).toEqual(['my-guard/refuse: deny'])
  // nobody is there to be asked about a long one
  const long = call('add', JSON.stringify({ text: 'x'.repeat(101) }))
  expect([long.code, taps(long).at(-1)]).toEqual(['CALL_NO_APPROVER', 'my-guard/long-notes: ask'])
}, 60_000)
