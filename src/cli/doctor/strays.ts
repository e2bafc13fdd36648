/** Processes of earlier runs: on Linux, what was started like a server of the configuration and belongs to nobody any more. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ServerRegistration, StdioLaunch } from '../../servers/definition.ts'
import { displayKey } from '../../servers/key.ts'
import type { Check } from './check.ts'

/** One warning for each such process; the words of its command line may hold secrets and are not shown. */
export async function findStrays(registrations: readonly ServerRegistration[]): Promise<readonly Check[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const strays = await Promise.all(pids.map(strayOf))
  return strays.flatMap((stray) => {
    if (stray === null) return []
    const like = registrations.find(({ launch }) => launch.type === 'stdio' && isLike(stray.words, launch))
    if (like === undefined) return []
    return [
      {
        check: 'process',
        status: 'warning',
        code: 'stray_process',
        owner: like.key,
        message: `process ${stray.pid} was started like ${displayKey(like.key)} and belongs to nobody: it may be left from an earlier run`,
        remedy: `Look at it with ps ${stray.pid}; end it with kill ${stray.pid} where it is not wanted.`,
      },
    ]
  })
}

/** pid and command line of a process of this user whose parent is gone. */
async function strayOf(pid: string): Promise<{ readonly pid: string; readonly words: readonly string[] } | null> {
  try {
    const [status, line] = await Promise.all([readFile(`/proc/${pid}/status`, 'utf8'), readFile(`/proc/${pid}/cmdline`, 'utf8')])
    const of = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1])
    if (of('PPid') !== 1 || of('Uid') !== process.getuid?.() || line === '') return null
    return { pid, words: line.replace(/\0$/, '').split('\0') }
  } catch {
    return null // it ended meanwhile
  }
}

/** An interpreter may stand before the command; what follows must be the same to the last word. */
function isLike(words: readonly string[], { command, args }: StdioLaunch): boolean {
  const at = words.length - args.length - 1
  return (
    at >= 0 &&
    at <= 1 &&
    path.basename(words[at]!) === path.basename(command) &&
    args.every((word, index) => words[at + 1 + index] === word)
  )
}
