/** Time that this thread could have run and did not, because other programs had the processors: no plugin can help that. */
import fs from 'node:fs'

const FILE = '/proc/thread-self/schedstat'

/** A clock that stands still while the thread waits for a processor. */
export const threadNow = (): number => performance.now() - runDelayMs()

/** ms since the thread began, where the system counts them (Linux); elsewhere 0. */
function runDelayMs(): number {
  try {
    // ns on a processor, ns waiting for one, turns
    return Number(fs.readFileSync(FILE, 'latin1').split(' ')[1]) / 1e6 || 0
  } catch {
    return 0
  }
}
