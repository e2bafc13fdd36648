/** The file of one area: read whole, replaced whole, set aside where it is damaged. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { asTaplineError, TaplineError } from '../errors.ts'
import { EntryTable } from './entry-table.ts'
import { withFileLock } from './file-lock.ts'

/** ms after which the temporary file of a writer that was killed is swept up. */
const ABANDONED_MS = 60_000

/** The entries of a file; none where there is no file. Rejects with STORE_FAILED for a damaged file, which is then set aside. */
export async function readArea(file: string): Promise<EntryTable> {
  await refuseSharedFolder(dirname(file))
  const text = await readText(file)
  if (text === null) return new EntryTable()
  return parse(file, text) ?? (await lookAgain(file))
}

/** Replaces a file as a whole, with one writer at a time; `change` answers null or false where it changed nothing. Rejects as readArea does. */
export async function changeArea<T>(file: string, change: (table: EntryTable) => T): Promise<T> {
  const folder = dirname(file)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await refuseSharedFolder(folder)
  for (;;) {
    const done = await withFileLock(file, async (lock) => {
      const version = await versionOf(file)
      const table = await loadOrSetAside(file)
      const answer = change(table)
      if (answer === null || answer === false) return { answer }
      const temporary = await writeTemporary(file, table.toText())
      // never over the work of a process that took the lock away from this one: look again and start anew
      if (!(await lock.isHeld()) || (await versionOf(file)) !== version) {
        await rm(temporary, { force: true })
        return null
      }
      await rename(temporary, file)
      return { answer }
    })
    if (done !== null) return done.answer
  }
}

/** A damaged file is moved under the lock, which is why it is read a second time. */
async function lookAgain(file: string): Promise<EntryTable> {
  try {
    return await withFileLock(file, () => loadOrSetAside(file))
  } catch (error) {
    throw asTaplineError(error, 'STORE_FAILED', `${file} is damaged and cannot be set aside: ${(error as Error).message}`)
  }
}

/** With the lock held, so that it is the damaged file that is moved and not a new one of somebody else. */
async function loadOrSetAside(file: string): Promise<EntryTable> {
  const text = await readText(file)
  if (text === null) return new EntryTable()
  const table = parse(file, text)
  if (table !== null) return table
  const aside = `${file}.damaged-${new Date().toISOString().replace(/[-:.]/g, '')}`
  await rename(file, aside)
  throw new TaplineError(
    'STORE_FAILED',
    `${file} is damaged; it was set aside as ${basename(aside)}, and what it held counts as not there`,
    {
      remedy: 'Repair the file and move it back, or go on: from now on the store begins empty.',
    },
  )
}

/** null for a damaged file. */
function parse(file: string, text: string): EntryTable | null {
  try {
    return EntryTable.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error instanceof TaplineError
      ? new TaplineError(error.code, `${file} cannot be read: ${error.message}`, { remedy: error.remedy, cause: error })
      : error
  }
}

async function writeTemporary(file: string, text: string): Promise<string> {
  const temporary = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  return temporary
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Changes whenever the file is replaced. */
async function versionOf(file: string): Promise<string | null> {
  try {
    const { ino, mtimeNs, size } = await stat(file, { bigint: true })
    return `${ino}:${mtimeNs}:${size}`
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whoever can write into the folder can plant approvals and trust. */
async function refuseSharedFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const found = await stat(folder).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (found === null) return
  // root is who it is wherever it works, and containers mount the homes of others
  const me = process.geteuid?.() ?? 0
  if (me !== 0 && found.uid !== me && found.uid !== 0)
    throw new TaplineError('STORE_FAILED', `the folder ${folder} belongs to another user (${found.uid})`, {
      remedy: 'Name another folder for the store, or set XDG_STATE_HOME to one of your own.',
    })
  if ((found.mode & 0o022) === 0) return
  throw new TaplineError('STORE_FAILED', `other users can write into the folder ${folder} (mode ${(found.mode & 0o777).toString(8)})`, {
    remedy: `Run chmod 700 ${folder}, or name another folder for the store.`,
  })
}

/** Removes what writers that were killed left behind; never rejects. */
export async function sweepArea(file: string): Promise<void> {
  const folder = dirname(file)
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith('.tmp')) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && found.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true }).catch(() => {})
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException)?.code === 'ENOENT'
