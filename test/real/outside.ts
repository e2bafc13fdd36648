/** A place for folders that no profile counts as temporary: also where this clone itself lies below a folder for temporary files. */
import { mkdirSync, realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..', '..')

/** The first of the usual caches that is neither below /tmp nor below TMPDIR; throws where there is none. */
export function outsideOfTemporary(): string {
  const temporary = ['/tmp', tmpdir()].map((folder) => realpathSync(folder) + sep)
  for (const folder of [join(ROOT, '.cache'), join(homedir(), '.cache', 'tapline-test')]) {
    mkdirSync(folder, { recursive: true })
    const real = realpathSync(folder)
    if (!temporary.some((one) => real.startsWith(one))) return real
  }
  throw new Error('every cache lies below a folder for temporary files: set HOME to one that does not')
}
