/** What `tapline doctor` finds: one thing that was looked at, and how it stands. */
import type { ErrorCode } from '../../errors.ts'
import { asTaplineError } from '../../errors.ts'
import type { Diagnostic } from '../../servers/diagnostic.ts'
import type { KeyParts } from '../../servers/key.ts'

/** One line of the report. */
export interface Check {
  readonly check: 'node' | 'store' | 'trust' | 'configuration' | 'flags' | 'hooks' | 'environment' | 'server' | 'process'
  /** `skipped`: it could not be looked at, or is switched off. Only `failed` counts for the exit status */
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly message: string
  readonly code?: ErrorCode | (string & {})
  /** what to do; with every `failed` */
  readonly remedy?: string
  /** `file:line:column` */
  readonly where?: string
  readonly owner?: KeyParts
  readonly environmentId?: string
  /** what a server said of itself, where it answered */
  readonly found?: {
    readonly protocolVersion: string | null
    readonly serverInfo: object | null
    readonly startMs: number | null
    readonly tools: number
  }
}

/** A failed check out of what was thrown. */
export function failed(check: Check['check'], thrown: unknown): Check {
  const { code, message, remedy, where } = asTaplineError(thrown, 'INTERNAL')
  return { check, status: 'failed', code, message, remedy, ...(where !== undefined && { where }) }
}

/** A check out of a diagnostic: errors fail, the rest is a warning. */
export function found(check: Check['check'], { code, severity, message, owner, where }: Diagnostic): Check {
  return {
    check,
    status: severity === 'error' ? 'failed' : 'warning',
    code,
    message,
    ...(severity === 'error' && { remedy: 'Correct the file at the place named.' }),
    ...(where !== undefined && { where }),
    ...(owner !== undefined && { owner }),
  }
}
