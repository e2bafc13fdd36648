/** A transport to an HTTP server, from the place where the server is reached. */
import { TaplineError } from '../../errors.ts'
import type { Secrets } from '../../secrets.ts'
import type { HttpLaunch } from '../../servers/definition.ts'
import type { Environment } from '../../servers/environment.ts'
import type { Executor } from '../executor.ts'
import { FRAME_LIMIT } from '../frame-reader.ts'
import type { HttpClient } from './http-client.ts'
import { HttpErrors } from './http-errors.ts'
import { readHeaders } from './http-headers.ts'
import { HttpTransport } from './http-transport.ts'
import { localClient } from './local-client.ts'
import { remoteClient } from './remote-client.ts'

export interface OpenHttpOptions {
  readonly launch: HttpLaunch
  /** display form of the key */
  readonly label: string
  readonly environment: Environment
  /** connects the environment where it is not connected yet; not asked for this machine */
  readonly executor: () => Promise<Executor>
  readonly secrets: Secrets
  /** bytes; default 64 MiB */
  readonly frameLimit?: number
}

/** Sends nothing yet. Rejects with SERVER_AUTH_REQUIRED (a variable is not set), SERVER_START_FAILED, ENVIRONMENT_UNSUPPORTED. */
export async function openHttp(options: OpenHttpOptions): Promise<HttpTransport> {
  const { launch, label, secrets, frameLimit = FRAME_LIMIT } = options
  const errors = new HttpErrors(label, launch, secrets)
  const headers = readHeaders(launch, errors, secrets)
  const url = new URL(launch.url)
  url.username = url.password = url.hash = ''
  return new HttpTransport({ url, client: await clientFor(options), headers, errors, frameLimit })
}

/** Never from this machine where the server belongs to another one. */
async function clientFor({ launch, label, environment, executor }: OpenHttpOptions): Promise<HttpClient> {
  const { id, executor: kind } = environment
  if (kind === 'local' || kind === 'memory') return localClient(launch)
  const place = await executor()
  if (place.fetch) return remoteClient(place.fetch.bind(place))
  throw new TaplineError(
    'ENVIRONMENT_UNSUPPORTED',
    `${label} is an HTTP server of environment ${id}, and its executor ${kind} makes no HTTP requests`,
    {
      remedy: 'Let the server run on an environment whose executor can, or give it as a process with "command".',
      data: { kind, environmentId: id },
    },
  )
}
