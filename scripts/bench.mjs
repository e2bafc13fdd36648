// Compiles bench/ beside the sources into .cache and runs each bench/*.bench.ts whose name contains one of the arguments (none: all).
import fs from 'node:fs'
import path from 'node:path'
import { prepare } from './prepare.mjs'
import { bin, CACHE, ROOT, runNode } from './tools.mjs'

async function main(wanted) {
  const ready = await prepare()
  if (ready !== 0) return ready
  const folder = path.join(CACHE, 'bench')
  fs.rmSync(folder, { recursive: true, force: true })
  const compiled = runNode([bin('typescript', 'tsc'), '-p', 'tsconfig.bench.json', '--outDir', folder])
  if (compiled !== 0) return compiled
  const names = fs.readdirSync(path.join(ROOT, 'bench')).filter((name) => name.endsWith('.bench.ts'))
  const chosen = names.filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  if (chosen.length === 0) {
    console.error(`no benchmark of that name; there are ${names.join(', ') || 'none'}`)
    return 2
  }
  let failed = 0
  for (const name of chosen.sort()) {
    if (runNode([path.join(folder, 'bench', name.replace(/\.ts$/, '.js'))]) !== 0) failed++
  }
  return failed === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
