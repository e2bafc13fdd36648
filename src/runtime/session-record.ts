/** What a trace says of a session in front of its calls. */
import type { CapturedFlags } from '../flags/flag.ts'
import type { Environment } from '../servers/environment.ts'
import { TRACE_VERSION } from '../trace/records.ts'
import type { SessionRecord } from '../trace/records.ts'
import { VERSION } from '../version.ts'
import type { SessionPlugins } from './session-plugins.ts'

/** The record, not yet redacted. */
export function sessionRecord(session: {
  readonly id: string
  /** ms since 1970 */
  readonly opened: number
  readonly environments: readonly Environment[]
  readonly flags: CapturedFlags
  readonly plugins: SessionPlugins
}): SessionRecord {
  return {
    v: TRACE_VERSION,
    type: 'session',
    time: new Date(session.opened).toISOString(),
    session: session.id,
    tapline: VERSION,
    node: process.version,
    platform: process.platform,
    pid: process.pid,
    environments: session.environments.map(({ id, executor, cwd }) => ({ id, executor, cwd })),
    flags: session.flags.all(),
    plugins: session.plugins.shown.map(({ name, mode, flag }) => ({ name, mode, ...(flag !== null && { flag }) })),
  }
}
