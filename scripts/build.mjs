// Builds dist: tsc checks and compiles, rolldown joins the modules into entry points and the chunks that they share (hundreds of small files
// take twice as long to load), and the declarations of tsc and other files of src are put beside them.
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { bin, CACHE, DIST, digest, filesBelow, ROOT, runNode } from './tools.mjs'

const SOURCE = path.join(ROOT, 'src')
const STAMP = path.join(CACHE, 'built')
const COMMAND = path.join('cli', 'main.js')
/** A module that another one starts or copies as a file. */
const NEIGHBOUR = /new URL\((['"])(\.\/[\w-]+\.js)\1, import\.meta\.url\)/g

function inputs() {
  const configs = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs']
  return digest([...filesBelow(SOURCE), ...configs.map((name) => path.join(ROOT, name))])
}

/** True where dist is what the sources of now give. */
export function isBuilt() {
  return fs.existsSync(DIST) && fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === inputs()
}

/** What package.json points at, as paths below dist without their extension. */
function entries() {
  const { exports, bin: commands } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  const targets = [...Object.values(exports).map((target) => target.default), ...Object.values(commands)]
  return targets.filter(Boolean).map((target) => target.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, ''))
}

/** Makes an entry point of a neighbour, and of its address one that holds in a chunk too. */
const neighbours = {
  name: 'neighbours',
  transform(code, id) {
    return code.replace(NEIGHBOUR, (_, quote, file) => {
      const chunk = this.emitFile({ type: 'chunk', id: path.join(path.dirname(id), file), name: path.basename(file, '.js') })
      return `new URL(import.meta.ROLLUP_FILE_URL_${chunk})`
    })
  },
}

async function joinModules(compiled, fresh) {
  const bundle = await rolldown({
    input: Object.fromEntries(entries().map((name) => [name, path.join(compiled, `${name}.js`)])),
    // every package stays one of its own
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
    platform: 'node',
    plugins: [neighbours],
    experimental: { attachDebugInfo: 'none' },
  })
  await bundle.write({ dir: fresh, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' })
  await bundle.close()
}

function copy(files, from, to) {
  for (const file of files) {
    const target = path.join(to, path.relative(from, file))
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.copyFileSync(file, target)
  }
}

/** Builds into a new folder and puts it in the place of dist only when all went well; gives an exit status. */
export async function build() {
  const of = inputs()
  const compiled = path.join(CACHE, `compiled-${process.pid}`)
  const fresh = path.join(CACHE, `dist-${process.pid}`)
  fs.mkdirSync(CACHE, { recursive: true })
  try {
    const status = runNode([bin('typescript', 'tsc'), '-p', 'tsconfig.build.json', '--outDir', compiled])
    if (status !== 0) return status
    await joinModules(compiled, fresh)
    copy(
      filesBelow(compiled).filter((file) => file.endsWith('.d.ts')),
      compiled,
      fresh,
    )
    copy(
      filesBelow(SOURCE).filter((file) => !file.endsWith('.ts')),
      SOURCE,
      fresh,
    )
    const command = path.join(fresh, COMMAND)
    if (fs.existsSync(command)) fs.chmodSync(command, 0o755)
    fs.rmSync(DIST, { recursive: true, force: true })
    fs.renameSync(fresh, DIST)
    fs.writeFileSync(STAMP, of)
    return 0
  } finally {
    fs.rmSync(compiled, { recursive: true, force: true })
    fs.rmSync(fresh, { recursive: true, force: true })
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) process.exitCode = await build()
