/** --server, --environment and --installation as the selector of a request. */
import { TaplineError } from '../errors.ts'
import type { ServerSelector } from '../runtime/types.ts'

/** The three options as they were given. */
export interface SelectorOptions {
  readonly server?: string
  readonly environment?: string
  readonly installation?: string
}

/** The parts that were given. Empty text counts as left out; what `thread-wide` and `default` mean is for the resolver to say. */
export function selectorOf(options: SelectorOptions): Partial<ServerSelector> {
  return {
    ...(given(options.server) ? { server: options.server } : {}),
    ...(given(options.environment) ? { environmentId: options.environment } : {}),
    ...(given(options.installation) ? { installationId: options.installation } : {}),
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
