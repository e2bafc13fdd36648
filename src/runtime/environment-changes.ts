/** Tells a session whether the machines of its environments can be reached. */
import type { Environment } from '../servers/environment.ts'
import { LOCAL, watchStatus } from '../servers/environment.ts'
import type { SessionEvent } from './session-event.ts'

/** Until the signal ends. This machine is always there, so nothing is told of `local`. */
export function tellOfEnvironments(environments: Iterable<Environment>, signal: AbortSignal, tell: (event: SessionEvent) => void): void {
  const watches = [...environments]
    .filter(({ base }) => base.executor !== LOCAL)
    .map(({ id, base }) => watchStatus(base, (status) => tell({ type: 'environment_changed', environmentId: id, ...status })))
  if (watches.length > 0) signal.addEventListener('abort', () => watches.forEach((watch) => watch[Symbol.dispose]()), { once: true })
}
