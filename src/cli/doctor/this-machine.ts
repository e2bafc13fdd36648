/** What tapline itself needs of this machine: a Node that is new enough, and a folder for its store that is the user's own. */
import { access, constants, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Check } from './check.ts'

/** The oldest Node that is supported: major, minor. */
const OLDEST = [20, 19] as const

/** How the running Node stands. */
export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  const what = `Node ${version} on ${process.platform} ${process.arch}`
  if (isNewEnough) return { check: 'node', status: 'ok', message: what }
  return {
    check: 'node',
    status: 'failed',
    code: 'node_too_old',
    message: `${what}; tapline needs ${OLDEST.join('.')} or newer`,
    remedy: 'Install a newer Node.',
  }
}

/** Whether the store can be written, and only by its user. A folder that is not there yet is made when it is needed. */
export async function checkStore(folder: string): Promise<Check> {
  const bad = (message: string, remedy: string): Check => ({ check: 'store', status: 'failed', code: 'STORE_FAILED', message, remedy })
  const there = await stat(folder).catch(() => null)
  if (there === null) {
    const parent = await nearest(folder)
    return (await isWritable(parent))
      ? { check: 'store', status: 'ok', message: `${folder} is made when something has to be kept` }
      : bad(`${folder} cannot be made: ${parent} is not writable`, `Make ${parent} writable, or set XDG_STATE_HOME to another folder.`)
  }
  if (!there.isDirectory()) return bad(`${folder} is no folder`, 'Move the file away.')
  if (process.getuid !== undefined && there.uid !== process.getuid() && process.getuid() !== 0)
    return bad(`${folder} belongs to another user`, 'Set XDG_STATE_HOME to a folder of your own.')
  if (!(await isWritable(folder))) return bad(`${folder} is not writable`, `Run chmod 700 ${folder}.`)
  // Windows has no such bits
  if (process.platform === 'win32') return { check: 'store', status: 'ok', message: folder }
  if ((there.mode & 0o022) !== 0) return bad(`other users can write into ${folder}`, `Run chmod 700 ${folder}.`)
  const open = (await readable(folder)).concat((there.mode & 0o077) === 0 ? [] : [folder])
  if (open.length === 0) return { check: 'store', status: 'ok', message: `${folder} is the user's own` }
  return {
    check: 'store',
    status: 'warning',
    code: 'store_readable',
    message: `other users can read ${open.join(', ')}`,
    remedy: `Run chmod -R go= ${folder}.`,
  }
}

/** Files of the store that others may read. */
async function readable(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const modes = await Promise.all(
    names.map((name) =>
      stat(path.join(folder, name)).then(
        ({ mode }) => mode,
        () => 0,
      ),
    ),
  )
  return names.filter((_, index) => (modes[index]! & 0o077) !== 0).map((name) => path.join(folder, name))
}

/** The folder itself, or the nearest one above it that exists. */
async function nearest(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  )
  const parent = path.dirname(folder)
  return isThere || parent === folder ? folder : nearest(parent)
}

const isWritable = (folder: string): Promise<boolean> =>
  access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
