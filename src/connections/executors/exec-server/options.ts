/** Options of the executor `exec-server`, checked where no configuration file was read. */
import { TaplineError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'

export interface ExecServerOptions {
  /** ws:// or wss:// */
  readonly url: string
  /** the variable of this process that holds the token, or null */
  readonly bearerTokenEnvVar: string | null
}

/** Throws CONFIG_INVALID. */
export function readExecServerOptions({ url, bearerTokenEnvVar, ...others }: JsonObject): ExecServerOptions {
  if (typeof url !== 'string' || !URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol))
    throw invalid('url must be a ws:// or wss:// URL')
  if (new URL(url).username !== '' || new URL(url).hash !== '')
    throw invalid('url may have no user and no fragment; a token goes into the variable that bearerTokenEnvVar names')
  if (bearerTokenEnvVar !== undefined && (typeof bearerTokenEnvVar !== 'string' || !/^[^=\0\s${}]+$/.test(bearerTokenEnvVar)))
    throw invalid('bearerTokenEnvVar must be the bare name of a variable')
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(`${JSON.stringify(other)} is no option; there is url, bearerTokenEnvVar`)
  return { url, bearerTokenEnvVar: bearerTokenEnvVar ?? null }
}

function invalid(problem: string): TaplineError {
  return new TaplineError('CONFIG_INVALID', `executor exec-server: ${problem}`, {
    remedy: 'Correct the executor of the environment; docs/guides/environments.md lists the options.',
  })
}
