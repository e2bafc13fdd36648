/** When a process that has ended has also said everything. */
import type { Readable } from 'node:stream'

/** ms of silence after the exit: what then still holds the pipes open is somebody else, a daemon. */
const QUIET_MS = 250

/** Settles after the exit, once the pipes are closed or nothing more comes from them. Their data must be read. */
export async function lastWords(exited: Promise<unknown>, pipes: readonly Readable[]): Promise<void> {
  let heard = 0
  for (const pipe of pipes) pipe.on('data', () => (heard = performance.now()))
  const closed = Promise.all(pipes.map((pipe) => new Promise<void>((done) => pipe.once('close', done))))
  await exited
  heard = performance.now()
  let timer: NodeJS.Timeout | undefined
  const quiet = new Promise<void>((resolve) => {
    // one turn more: what is in the pipes already is read first
    const listen = (): void => void setImmediate(() => wait(heard + QUIET_MS - performance.now()))
    const wait = (ms: number): void => {
      if (ms > 0) timer = setTimeout(listen, ms)
      else resolve()
    }
    wait(QUIET_MS)
  })
  await Promise.race([closed, quiet])
  clearTimeout(timer)
}
