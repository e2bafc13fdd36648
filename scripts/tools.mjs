// What the other scripts share: places, running a tool of node_modules, and hashing what a build depends on.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
export const CACHE = path.join(ROOT, '.cache')
export const DIST = path.join(ROOT, 'dist')

/** Settings that keep npm quiet; CI and terminals print the same. */
export const QUIET_NPM = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']

/** Path of the script behind the command `name` of an installed package. */
export function bin(packageName, name = packageName) {
  const folder = path.join(ROOT, 'node_modules', packageName)
  const { bin: entry } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const file = typeof entry === 'string' ? entry : entry?.[name]
  if (file === undefined) throw new Error(`${packageName} has no command ${name}`)
  return path.join(folder, file)
}

/** Environment for child processes: our tools come first in PATH, then the Node that runs us, so that they start the same one. */
export function childEnv() {
  const PATH = [path.join(ROOT, 'node_modules', '.bin'), path.dirname(process.execPath), process.env.PATH].join(path.delimiter)
  return { ...process.env, PATH }
}

/** Runs Node with `args` on our own terminal; gives the exit status. */
export function runNode(args, options = {}) {
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: childEnv(), ...options })
  if (error) throw error
  return status ?? 1
}

function capture(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: childEnv() })
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ status: 1, output: `${output}${error.message}\n` }))
    child.on('close', (status) => resolve({ status: status ?? 1, output }))
  })
}

/** Runs npm with `args` (the one that started us, else the one of PATH) and keeps what it prints; resolves with `{ status, output }`. */
export function captureNpm(args) {
  const own = process.env.npm_execpath
  return own?.endsWith('npm-cli.js') ? capture(process.execPath, [own, ...args]) : capture('npm', args)
}

/** All files below `folder`, as sorted absolute paths; none where the folder is missing. */
export function filesBelow(folder) {
  if (!fs.existsSync(folder)) return []
  const items = fs.readdirSync(folder, { withFileTypes: true, recursive: true })
  return items
    .filter((item) => item.isFile())
    .map((item) => path.join(item.parentPath ?? item.path, item.name))
    .sort()
}

/** Digest over names and contents of files. */
export function digest(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(`${path.relative(ROOT, file)}\0`)
    hash.update(fs.readFileSync(file))
    hash.update('\0')
  }
  return hash.digest('hex')
}
