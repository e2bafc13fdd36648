/** Pipes in the place of the sockets that Node makes for `stdio: 'pipe'`: where the sandbox forbids the network, a program cannot ask what its socket is, and Node then throws away what it prints. */
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Pipes for one child that is not started yet. Call exactly one of the two functions. */
export interface RealPipes {
  readonly stdio: StdioOptions
  /** Makes them the streams of the child. */
  attach(child: ChildProcess): void
  /** Closes them all. */
  abandon(): void
}

type Entry = Exclude<StdioOptions, string>[number]

const MAKERS = ['/usr/bin/mkfifo', '/bin/mkfifo']
const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** Real pipes for what would be a socket in these options; null where nothing would, or this system makes none: then Node's own will do. */
export function openRealPipes(given: StdioOptions | undefined): RealPipes | null {
  const stdio: Entry[] = Array.isArray(given) ? [...given] : [given, given, given]
  while (stdio.length < 3) stdio.push('pipe')
  const wanted = [0, 1, 2].filter((at) => stdio[at] === undefined || stdio[at] === null || stdio[at] === 'pipe')
  const maker = process.platform === 'linux' && wanted.length > 0 ? MAKERS.find((path) => existsSync(path)) : undefined
  if (maker === undefined) return null
  const open = new Set<number>()
  const opened = (path: string, flags: number): number => {
    const file = openSync(path, flags)
    open.add(file)
    return file
  }
  const close = (file: number): void => {
    open.delete(file)
    closeSync(file)
  }
  const abandon = (): void => {
    for (const file of open) close(file)
  }
  let folder: string | null = null
  try {
    folder = mkdtempSync(join(tmpdir(), 'tapline-pipes-'))
    const paths = wanted.map((at) => join(folder as string, String(at)))
    if (spawnSync(maker, ['-m', '600', ...paths], { stdio: 'ignore' }).status !== 0) return null
    const ends = wanted.map((at, index) => {
      const path = paths[index] as string
      if (at !== 0) return { at, ours: opened(path, O_RDONLY | O_NONBLOCK), theirs: opened(path, O_WRONLY) }
      // a pipe opens for writing, and for reading without O_NONBLOCK, only where its other end is open
      const reader = opened(path, O_RDONLY | O_NONBLOCK)
      const end = { at, ours: opened(path, O_WRONLY | O_NONBLOCK), theirs: opened(path, O_RDONLY) }
      close(reader)
      return end
    })
    for (const { at, theirs } of ends) stdio[at] = theirs
    const attach = (child: ChildProcess): void => {
      const streams = ends.map(({ at, ours, theirs }) => {
        close(theirs)
        open.delete(ours)
        return { at, stream: new Socket({ fd: ours, readable: at !== 0, writable: at === 0 }) }
      })
      for (const { at, stream } of streams) {
        Object.assign(child, { [['stdin', 'stdout', 'stderr'][at] as string]: stream })
        Object.assign(child.stdio, { [at]: stream })
      }
      closeAfter(
        child,
        streams.map(({ stream }) => stream),
      )
    }
    return { stdio, attach, abandon }
  } catch {
    abandon()
    return null
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}

/** Keeps the meaning of `close`: the process has ended, and so have its streams. */
function closeAfter(child: ChildProcess, streams: readonly Socket[]): void {
  let open = streams.length
  let held: readonly unknown[] | null = null
  const emit = child.emit.bind(child) as (event: string | symbol, ...values: unknown[]) => boolean
  child.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'close' || open === 0) return emit(event, ...values)
    held = values
    return true
  }
  for (const stream of streams) {
    stream.once('close', () => {
      open -= 1
      if (open === 0 && held !== null) emit('close', ...held)
    })
  }
}
