/** --server, --environment and --installation as the selector of a request. */
import { TaplineError } from '../errors.ts'
import type { ServerSelector } from '../runtime/types.ts'

/** The three options as they were given. */
export interface SelectorOptions {
  readonly server?: string
  readonly environment?: string
  readonly installation?: string
}

/** The word that selects the server without an environment, and the one that selects the server without an installation. */
const THREAD_WIDE = 'thread-wide'
const DEFAULT = 'default'

/** The parts that were given. Empty text counts as left out; `thread-wide` and `default` are null. */
export function selectorOf(options: SelectorOptions): Partial<ServerSelector> {
  return {
    ...(given(options.server) ? { server: options.server } : {}),
    ...(given(options.environment) ? { environmentId: options.environment === THREAD_WIDE ? null : options.environment } : {}),
    ...(given(options.installation) ? { installationId: options.installation === DEFAULT ? null : options.installation } : {}),
  }
}

/** The selector of a request that must name its server. Throws CLI_USAGE. */
export function requiredSelector(options: SelectorOptions): ServerSelector {
  const { server, ...more } = selectorOf(options)
  if (server === undefined) {
    const message =
      more.environmentId === undefined ? 'server must be provided' : 'environment_id can only be used when a server is specified'
    throw new TaplineError('CLI_USAGE', message, { remedy: 'Name the server with --server.' })
  }
  return { server, ...more }
}

const given = (text: string | undefined): text is string => text !== undefined && text !== ''
