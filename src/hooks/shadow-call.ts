/** What runs in shadow beside one call: for each plugin one thing after the other, as it would be in the call. */
import type { ModeCell } from './mode-cell.ts'
import type { JsonObject } from '../json.ts'
import type { CallRun } from './call-run.ts'

/** Something to run; a promise where it takes longer, which never rejects. */
export type ShadowJob = () => Promise<void> | undefined

const { then } = Promise.prototype

/** Plugins do not wait for each other. Over as soon as the call has ended and nothing runs any more. */
export class ShadowCall {
  readonly #queues = new Map<ModeCell, ShadowJob[]>()
  readonly #runs: CallRun[] = []
  readonly #listeners: (() => void)[] = []
  #copies: Map<JsonObject, JsonObject> | null = null
  #atEnd: (() => void)[] = []
  #hasEnded = false

  /** Runs the job now, or after those of its plugin that still run. */
  add(plugin: ModeCell, job: ShadowJob): void {
    const queue = this.#queues.get(plugin)
    if (queue !== undefined) queue.push(job)
    else {
      const made = [job]
      this.#queues.set(plugin, made)
      this.#work(plugin, made)
    }
  }

  /** A tap's state, to be ended when everything is over: its signal lives as long as the call and what is left of it. */
  keep(run: CallRun): void {
    this.#runs.push(run)
  }

  /** Runs the job in the turn in which the call ends, right after the caller has its outcome. */
  atEnd(job: () => void): void {
    this.#atEnd.push(job)
  }

  /** Results and their frozen copies, for the jobs of the end. */
  get copies(): Map<JsonObject, JsonObject> {
    return (this.#copies ??= new Map())
  }

  /** The call has its outcome. */
  ended(): void {
    const jobs = this.#atEnd
    this.#atEnd = []
    for (const job of jobs) job()
    this.#copies = null
    this.#hasEnded = true
    this.#check()
  }

  /** Tells, once, when everything is over; at once where it is. */
  whenOver(listener: () => void): void {
    this.#listeners.push(listener)
    this.#check()
  }

  #work(plugin: ModeCell, queue: ShadowJob[]): void {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const pending = job()
      if (pending !== undefined) {
        void then.call(pending, () => this.#work(plugin, queue))
        return
      }
    }
    this.#queues.delete(plugin)
    this.#check()
  }

  #check(): void {
    if (!this.#hasEnded || this.#queues.size > 0) return
    for (const run of this.#runs.splice(0)) run.end()
    for (const listener of this.#listeners.splice(0)) listener()
  }
}
