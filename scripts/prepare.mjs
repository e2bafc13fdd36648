// Makes a fresh clone ready: installs what the lock file names and builds dist, each only where it is missing or stale.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { captureNpm, QUIET_NPM, ROOT } from './tools.mjs'

const LOCK = path.join(ROOT, 'package-lock.json')
const INSTALLED = path.join(ROOT, 'node_modules', '.package-lock.json') // npm writes it last
const STAMP = path.join(ROOT, 'node_modules', '.tapline-lock')

const lockDigest = () => createHash('sha256').update(fs.readFileSync(LOCK)).digest('hex')

/** True where node_modules comes from the lock file of now. */
function isInstalled() {
  if (!fs.existsSync(INSTALLED)) return false
  if (fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === lockDigest()) return true
  return fs.statSync(INSTALLED).mtimeMs >= fs.statSync(LOCK).mtimeMs
}

async function install() {
  console.error('installing dependencies (npm ci) …')
  const { status, output } = await captureNpm(['ci', ...QUIET_NPM])
  if (status === 0) return 0
  console.error(`${output}npm ci failed: check that the npm registry can be reached, then run the same command again`)
  return status
}

/** Installs and builds what is missing or stale; gives an exit status. */
export async function prepare({ build = true } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Node ${process.versions.node} is too old: tapline needs Node 20.19 or newer`)
    return 1
  }
  if (!isInstalled()) {
    const status = await install()
    if (status !== 0) return status
  }
  if (!fs.existsSync(STAMP) || fs.readFileSync(STAMP, 'utf8') !== lockDigest()) fs.writeFileSync(STAMP, lockDigest())
  if (!build) return 0
  // loaded late: it needs what was just installed
  const builder = await import('./build.mjs')
  if (builder.isBuilt()) return 0
  console.error('building dist …')
  return builder.build()
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) process.exitCode = await prepare()
