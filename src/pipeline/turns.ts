/** One call at a time, for servers that cannot take more (`supportsParallelToolCalls: false`), whichever session it comes from. */
import type { Connection } from '../connections/connection.ts'
import { TaplineError } from '../errors.ts'
import type { PipelineRun } from './pipeline-run.ts'

interface Line {
  isBusy: boolean
  /** in the order in which they came */
  readonly waiting: (() => void)[]
}

const lines = new WeakMap<Connection, Line>()

/**
 * Runs the work in its turn, at once where nobody is before it. A call that ends while it waits leaves the line and rejects with
 * CALL_CANCELLED (`data.sent` 'no'). Its limit for the whole call runs on, the one between signs of life begins with the work.
 */
export function inTurn<T>(connection: Connection, run: PipelineRun, work: () => Promise<T>): Promise<T> {
  let line = lines.get(connection)
  if (line === undefined) lines.set(connection, (line = { isBusy: false, waiting: [] }))
  if (!line.isBusy) {
    line.isBusy = true
    return worked(line, work)
  }
  // the host could change its object while the call waits
  run.arguments.own()
  return queued(line, run, work)
}

function queued<T>(line: Line, run: PipelineRun, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      forget()
      run.trace?.time('queue', performance.now() - began)
      resolve(worked(line, work))
    }
    const forget = run.onCancel(() => {
      line.waiting.splice(line.waiting.indexOf(begin), 1)
      reject(new TaplineError('CALL_CANCELLED', 'the call ended while it waited for the one before it', { data: { sent: 'no' } }))
    })
    line.waiting.push(begin)
  })
}

async function worked<T>(line: Line, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    const next = line.waiting.shift()
    if (next === undefined) line.isBusy = false
    else next()
  }
}
