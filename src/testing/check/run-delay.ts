/** Time that this thread could have run and did not, because other programs had the processors: no plugin can help that. */
import fs from 'node:fs'

const FILE = '/proc/thread-self/schedstat'
const text = Buffer.alloc(128)
/** open for as long as the thread lives: opening it for each look takes longer than most taps; null where the system does not count */
let open: number | null | undefined

/** ms since the thread began, where the system counts them (Linux); elsewhere 0. */
function runDelayMs(): number {
  try {
    if (open === undefined) {
      open = null
      open = fs.openSync(FILE, 'r')
    }
    if (open === null) return 0
    // ns on a processor, ns waiting for one, turns
    return Number(text.toString('latin1', 0, fs.readSync(open, text, 0, text.length, 0)).split(' ')[1]) / 1e6 || 0
  } catch {
    return 0
  }
}

/** A clock that stands still while the thread waits for a processor. */
export const threadNow = (): number => performance.now() - runDelayMs()
