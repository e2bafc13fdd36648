/** What a session says to those around it: its log lines, diagnostics and events. */
import type { CallOutcome } from '../hooks/outcome.ts'
import type { Method } from '../mcp.ts'
import type { PipelineHost } from '../pipeline/host.ts'
import type { Secrets } from '../secrets.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import type { Logger } from './logger.ts'
import { SessionLog } from './session-log.ts'
import type { SessionEvent } from './session-event.ts'

/** The part of a session that talks. */
export class SessionReporter {
  readonly id: string
  readonly secrets: Secrets
  protected readonly events: SessionLog
  readonly #logger: Logger | null

  constructor(id: string, secrets: Secrets, logger: Logger | null) {
    this.id = id
    this.secrets = secrets
    this.events = new SessionLog(secrets)
    this.#logger = logger
  }

  get sessionId(): string {
    return this.id
  }

  subscribe(listener: (event: SessionEvent) => void): Disposable {
    return this.events.subscribe(listener)
  }

  log(line: string): void {
    this.#logger?.info({ session: this.id }, this.secrets.redact(line))
  }

  lateWrite(callId: string, tap: string, plugin: string, key: string): void {
    this.report({
      code: 'late_write',
      severity: 'warning',
      message: `tap "${tap}" of plugin "${plugin}" assigned ${key} of call ${callId} after it had ended: nothing changed`,
    })
  }

  report(diagnostic: Diagnostic): void {
    this.reportOnce(`${diagnostic.code} ${diagnostic.message}`, diagnostic)
  }

  reportOnce(id: string, diagnostic: Diagnostic): void {
    this.events.reportOnce(id, diagnostic)
  }

  question(event: Parameters<PipelineHost['question']>[0]): void {
    this.events.emit({ type: 'question', ...event })
  }

  settled(outcome: CallOutcome<Method>): void {
    if (this.events.isHeard) this.events.emit({ type: 'settled', callId: outcome.callId, owner: outcome.owner, outcome })
  }

  traced(event: Parameters<PipelineHost['traced']>[0]): void {
    if (this.events.isHeard) this.events.emit({ type: 'traced', ...event })
  }
}
