// Builds dist with plain tsc: declarations beside the code, `.ts` imports rewritten, other files of src copied.
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bin, CACHE, DIST, digest, filesBelow, ROOT, runNode } from './tools.mjs'

const SOURCE = path.join(ROOT, 'src')
const STAMP = path.join(CACHE, 'built')
const COMMAND = path.join('cli', 'main.js')

function inputs() {
  const configs = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs']
  return digest([...filesBelow(SOURCE), ...configs.map((name) => path.join(ROOT, name))])
}

/** True where dist is what the sources of now give. */
export function isBuilt() {
  return fs.existsSync(DIST) && fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === inputs()
}

/** Builds into a new folder and puts it in the place of dist only when all went well; gives an exit status. */
export function build() {
  const of = inputs()
  const fresh = path.join(CACHE, `dist-${process.pid}`)
  fs.rmSync(fresh, { recursive: true, force: true })
  fs.mkdirSync(CACHE, { recursive: true })
  const status = runNode([bin('typescript', 'tsc'), '-p', 'tsconfig.build.json', '--outDir', fresh])
  if (status !== 0) {
    fs.rmSync(fresh, { recursive: true, force: true })
    return status
  }
  for (const file of filesBelow(SOURCE)) {
    if (file.endsWith('.ts')) continue
    const target = path.join(fresh, path.relative(SOURCE, file))
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.copyFileSync(file, target)
  }
  const command = path.join(fresh, COMMAND)
  if (fs.existsSync(command)) fs.chmodSync(command, 0o755)
  fs.rmSync(DIST, { recursive: true, force: true })
  fs.renameSync(fresh, DIST)
  fs.writeFileSync(STAMP, of)
  return 0
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) process.exitCode = build()
