/** One writer at a time, across processes. */
import { rmdir, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LockOptions } from 'proper-lockfile'
import { TaplineError } from '../errors.ts'

/** ms between two signs of life of a process that holds a lock. */
const ALIVE_MS = 1_000
/** ms without a sign of life after which a lock counts as left behind. */
const STALE_MS = 5_000
/** ms to wait for others: long enough to outlive a lock that was left behind, several times. */
const WAIT_MS = 30_000

/** What a holder of the lock can ask. */
export interface HeldLock {
  /** False once another process has taken the lock away, because this one seemed dead. */
  isHeld(): Promise<boolean>
}

type Lock = (file: string, options: LockOptions) => Promise<() => Promise<void>>

/** Runs the work while this process holds `file.lock`. Rejects with STORE_FAILED where others hold it for 30 s. */
export async function withFileLock<T>(file: string, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  const { lock } = await import('proper-lockfile')
  const folder = `${file}.lock`
  let lost = false
  const onCompromised = (): void => {
    lost = true
  }
  const release = await acquire(lock, file, folder, onCompromised)
  const mark = await markOf(folder)
  const isHeld = async (): Promise<boolean> => !lost && mark !== null && (await markOf(folder)) === mark
  try {
    return await work({ isHeld })
  } finally {
    if (await isHeld()) await release().catch(() => {})
  }
}

async function acquire(lock: Lock, file: string, folder: string, onCompromised: () => void): Promise<() => Promise<void>> {
  const deadline = Date.now() + WAIT_MS
  for (;;) {
    const release = await tryLock(lock, file, folder, { stale: Number.POSITIVE_INFINITY, update: ALIVE_MS, onCompromised })
    if (release !== null) return release
    if (Date.now() > deadline) throw new TaplineError('STORE_FAILED', `${file} has been locked by another process for ${WAIT_MS / 1000} s`)
    await removeLeftBehind(lock, folder)
    await sleep(2 + Math.random() * 30)
  }
}

/**
 * proper-lockfile itself would remove a lock in two steps, look and remove: of two processes that have looked, the later one removes the
 * lock that the earlier one has just taken, and both hold it. Here a second lock makes the two steps one.
 */
async function removeLeftBehind(lock: Lock, folder: string): Promise<void> {
  if (!(await isLeftBehind(folder))) return
  const release = await tryLock(lock, folder, `${folder}-removal`, { stale: STALE_MS, onCompromised: () => {} })
  if (release === null) return
  try {
    // ENOENT: its holder was only slow, and has given it back meanwhile
    if (await isLeftBehind(folder)) await rmdir(folder).catch(unlessMissing)
  } finally {
    await release().catch(() => {})
  }
}

/** null where another process holds it. */
async function tryLock(lock: Lock, file: string, lockfilePath: string, options: LockOptions): Promise<(() => Promise<void>) | null> {
  try {
    return await lock(file, { ...options, realpath: false, lockfilePath, retries: 0 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOCKED') return null
    throw error
  }
}

async function isLeftBehind(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null)
  return found !== null && found.mtimeMs < Date.now() - STALE_MS
}

/** Tells a lock from the one that another process took after it. */
async function markOf(folder: string): Promise<string | null> {
  try {
    const { ino, birthtimeNs } = await stat(folder, { bigint: true })
    return `${ino}:${birthtimeNs}`
  } catch {
    return null
  }
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
