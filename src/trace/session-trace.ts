/** Keeps the records of one session: makes them after the calls have ended, and hands them to where they go. */
import { randomBytes } from 'node:crypto'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { JsonObject } from '../json.ts'
import type { Method } from '../mcp.ts'
import type { EndedRun } from '../pipeline/host.ts'
import type { Secrets } from '../secrets.ts'
import { callRecord } from './call-record.ts'
import type { EndedCall } from './call-record.ts'
import type { SessionRecord, TraceRecord } from './records.ts'
import { redactRecord } from './redact-record.ts'

/** What a session trace needs to know. */
export interface SessionTraceParts {
  /** asked once, before the first call */
  readonly header: () => SessionRecord
  readonly secrets: Secrets
  /** takes records in their order; must not throw */
  readonly target: (record: TraceRecord) => void
  /** records have the arguments themselves */
  readonly withArguments: boolean
}

/** The trace of one session. */
export class SessionTrace {
  readonly #parts: SessionTraceParts
  readonly #key = randomBytes(32)
  #ended: EndedCall[] = []
  #isScheduled = false
  #session: string | null = null

  constructor(parts: SessionTraceParts) {
    this.#parts = parts
  }

  /** Takes a call; its record is made when those who wait for an outcome in this turn have theirs. */
  add(run: EndedRun, outcome: CallOutcome<Method>): void {
    const began = Date.now() - (performance.now() - run.began)
    this.#ended.push({ id: run.id, method: run.method, outcome, trace: run.trace, arguments: argumentsOf(run), began })
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  /** Hands on what is there. */
  flush(): void {
    const ended = this.#ended
    if (ended.length === 0) return
    this.#ended = []
    const session = (this.#session ??= this.#open())
    const rules = { key: this.#key, whole: this.#parts.withArguments }
    for (const call of ended) this.#hand(callRecord(session, call, rules))
  }

  #open(): string {
    const header = this.#parts.header()
    this.#hand(header)
    return header.session
  }

  #hand(record: TraceRecord): void {
    const { secrets, target } = this.#parts
    target(redactRecord(record, secrets))
  }
}

/** Ours from here on: a host may change its own object once it has the outcome. */
function argumentsOf(run: EndedRun): JsonObject | null {
  try {
    run.arguments.own()
    return run.arguments.value
  } catch {
    return null
  }
}
