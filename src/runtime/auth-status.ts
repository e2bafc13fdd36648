/** How a server is logged in to, as far as it is known without asking it. */
import type { Connection } from '../connections/connection.ts'
import type { TaplineError } from '../errors.ts'
import type { Launch } from '../servers/definition.ts'
import type { ServerStatus } from './types.ts'

/**
 * `unsupported`: a process, or an HTTP server that answers without credentials; `bearer_token`: it gets credentials, whether it likes them or
 * not; `not_logged_in`: it wants some and has none; `unknown`: it was not asked yet. `oauth` comes with logins.
 */
export function authStatusOf(launch: Launch, isConnected: boolean, error: TaplineError | null): ServerStatus['authStatus'] {
  if (launch.type === 'stdio') return 'unsupported'
  const { bearerTokenEnvVar: token, headers, envHeaders } = launch
  if (token !== null && !process.env[token]) return 'not_logged_in'
  const names = [...Object.keys(headers), ...Object.keys(envHeaders)]
  if (token !== null || names.some((name) => name.toLowerCase() === 'authorization')) return 'bearer_token'
  if (error?.code === 'SERVER_AUTH_REQUIRED') return 'not_logged_in'
  return isConnected ? 'unsupported' : 'unknown'
}

/** The state of a server that is switched on; `error` is what a look at it came to. */
export function runtimeStatusOf(connection: Connection | null, error: TaplineError | null): ServerStatus['runtimeStatus'] {
  if (connection?.state === 'connected' || connection?.state === 'starting') return connection.state
  if (error === null) return 'idle'
  return error.code === 'SERVER_AUTH_REQUIRED' ? 'auth_required' : 'failed'
}

/** The state of a connection, for events. */
export function connectionStatus({ state, error }: Connection): ServerStatus['runtimeStatus'] {
  if (state === 'closed') return 'idle'
  return state === 'failed' && error?.code === 'SERVER_AUTH_REQUIRED' ? 'auth_required' : state
}
