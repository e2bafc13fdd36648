/** What can go wrong with one HTTP server, as errors of ours: no URL beyond its origin, no header, no secret. */
import { TaplineError } from '../../errors.ts'
import type { Secrets } from '../../secrets.ts'
import type { HttpLaunch } from '../../servers/definition.ts'
import { printable } from '../printable.ts'
import { networkProblem } from './network-error.ts'
import { RefusedRedirect } from './redirects.ts'

const CHECK = 'Check that the server runs and that its url is right; the next call tries again.'

/** Errors about one server. */
export class HttpErrors {
  readonly label: string
  /** true from the answer to `initialize` on: before, everything is a failed start */
  isUp = false
  readonly #origin: string
  readonly #launch: HttpLaunch
  readonly #secrets: Secrets

  constructor(label: string, launch: HttpLaunch, secrets: Secrets) {
    this.label = label
    this.#launch = launch
    this.#secrets = secrets
    this.#origin = new URL(launch.url).origin
  }

  /** For whatever a request rejected with. */
  network(error: unknown): TaplineError {
    if (error instanceof TaplineError) return error
    if (error instanceof RefusedRedirect) return this.#failed(error.message, { httpStatus: error.status, sent: 'no' }, REDIRECTED)
    const { text, code, sent } = networkProblem(error)
    const cause = this.#secrets.redact(text)
    if (sent === 'no')
      return this.#broken(`cannot be reached at ${this.#origin}: ${cause}${this.isUp ? '; nothing was sent' : ''}`, { cause: code, sent })
    return this.#broken(`broke off the connection before its answer: ${cause}${this.isUp ? '; whether the request ran is unknown' : ''}`, {
      cause: code,
      sent,
    })
  }

  /** 401 and 403. */
  unauthorized(status: number): TaplineError {
    const { bearerTokenEnvVar: token, envHeaders, headers } = this.#launch
    const named = [...(token === null ? [] : [token]), ...Object.values(envHeaders)]
    const written = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
    const had = named.length > 0 || written ? 'does not accept its credentials' : 'wants credentials'
    const remedy =
      named.length > 0
        ? `Set ${named.join(', ')} to a valid value; it is read anew at the next start of the server.`
        : written
          ? 'Correct the header Authorization of the server.'
          : 'Name a variable with a token in bearerTokenEnvVar of the server. Logins (OAuth) are not supported by this version.'
    return new TaplineError('SERVER_AUTH_REQUIRED', `${this.label} ${had} (HTTP ${status})`, {
      remedy,
      data: { httpStatus: status, variables: named, sent: 'no' },
    })
  }

  /** A variable with credentials that is not set. */
  missing(variable: string, header: string): TaplineError {
    return new TaplineError(
      'SERVER_AUTH_REQUIRED',
      `${this.label} needs the variable ${variable} for its header ${header}, and it is not set`,
      {
        remedy: `Set ${variable} in the environment of tapline.`,
        data: { variables: [variable], sent: 'no' },
      },
    )
  }

  /** A status that is no success. */
  status(status: number, text: string): TaplineError {
    const said = printable(
      this.#secrets.redact(
        text
          .replace(/<[^>]*>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
      ),
      200,
    )
    return this.#failed(`answered HTTP ${status}${said && `: ${said}`}`, { httpStatus: status, sent: 'yes' })
  }

  /** An answer that is no MCP; the text is the rest of a sentence about the server. */
  odd(text: string): TaplineError {
    return this.#failed(text, { sent: 'yes' })
  }

  /** The stream ended before the answer, and it cannot be taken up again. */
  cutOff(why: string | null = null): TaplineError {
    return this.#broken(
      `closed the stream before its answer${why === null ? '' : ` (${why})`}${this.isUp ? '; whether the request ran is unknown' : ''}`,
      { sent: 'unknown' },
    )
  }

  /** The server no longer knows the session. `data.sessionLost` marks what may be sent once more where that is safe. */
  lost(status: number): TaplineError {
    return this.#broken(`no longer knows the session (HTTP ${status}); whether requests that were on their way ran is unknown`, {
      httpStatus: status,
      sent: 'unknown',
      sessionLost: true,
    })
  }

  #failed(text: string, data: Readonly<Record<string, unknown>>, remedy: string = CHECK): TaplineError {
    return new TaplineError(this.isUp ? 'SERVER_FAILED' : 'SERVER_START_FAILED', `${this.label} ${text}`, { remedy, data })
  }

  #broken(text: string, data: Readonly<Record<string, unknown>>): TaplineError {
    return new TaplineError(this.isUp ? 'SERVER_EXITED' : 'SERVER_START_FAILED', `${this.label} ${text}`, { remedy: CHECK, data })
  }
}

const REDIRECTED = 'Put the URL where the server is now into the configuration, if you trust it.'
