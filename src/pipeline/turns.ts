/** One call at a time, for servers that cannot take more (`supportsParallelToolCalls: false`), whichever session it comes from. */
import type { Connection } from '../connections/connection.ts'
import { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { PipelineRun } from './pipeline-run.ts'

/** The calls of one connection. */
class Line {
  isBusy = false
  /** in the order in which they came */
  readonly waiting: (() => void)[] = []
  /** One for all of its calls: whoever had the turn has ended. */
  readonly leave = (): void => {
    const next = this.waiting.shift()
    if (next === undefined) this.isBusy = false
    else next()
  }
}

type Work = (run: PipelineRun) => Promise<JsonObject>

// taken early: a module that patches it later must not keep a line from moving on
const { then } = Promise.prototype
const lines = new WeakMap<Connection, Line>()

/**
 * Runs the work in its turn, at once where nobody is before it. A call that ends while it waits leaves the line and rejects with
 * CALL_CANCELLED (`data.sent` 'no'). Its limit for the whole call runs on, the one between signs of life begins with the work.
 */
export function inTurn(connection: Connection, run: PipelineRun, work: Work): Promise<JsonObject> {
  let line = lines.get(connection)
  if (line === undefined) lines.set(connection, (line = new Line()))
  if (!line.isBusy) {
    line.isBusy = true
    return worked(line, run, work)
  }
  // the host could change its object while the call waits
  run.arguments.own()
  return queued(line, run, work)
}

function queued(line: Line, run: PipelineRun, work: Work): Promise<JsonObject> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      forget()
      run.trace?.time('queue', performance.now() - began)
      resolve(worked(line, run, work))
    }
    const forget = run.onCancel(() => {
      line.waiting.splice(line.waiting.indexOf(begin), 1)
      reject(new TaplineError('CALL_CANCELLED', 'the call ended while it waited for the one before it', { data: { sent: 'no' } }))
    })
    line.waiting.push(begin)
  })
}

/** The promise of the work itself is given on; its turn ends before anybody else learns that. */
function worked(line: Line, run: PipelineRun, work: Work): Promise<JsonObject> {
  let working: Promise<JsonObject>
  try {
    working = work(run)
  } catch (error) {
    // its turn ends in a microtask, like that of any other: thousands that fail at once must not call each other
    working = Promise.reject(error)
  }
  void then.call(working, line.leave, line.leave)
  return working
}
