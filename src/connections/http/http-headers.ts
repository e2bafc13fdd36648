/** The headers of a server as they are sent now: what its definition says, with the credentials read anew. */
import { TaplineError } from '../../errors.ts'
import type { Secrets } from '../../secrets.ts'
import type { HttpLaunch } from '../../servers/definition.ts'
import type { HttpErrors } from './http-errors.ts'

/** Headers that belong to the connection, not to the one who asks. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Names in lower case. Throws SERVER_AUTH_REQUIRED for a variable that is not set; values of variables count as secret from now on. */
export function readHeaders(launch: HttpLaunch, errors: HttpErrors, secrets: Secrets): Record<string, string> {
  const headers: Record<string, string> = {}
  const add = (name: string, value: string): void => {
    const lower = name.toLowerCase()
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new TaplineError(
        'SERVER_START_FAILED',
        `${errors.label}: the value of its header ${name} has characters that no header can have`,
        {
          remedy: 'Correct the value, or the variable that it comes from.',
        },
      )
    if (!NOT_OURS.has(lower)) headers[lower] = value
  }
  const variable = (name: string, header: string): string => {
    const value = process.env[name]
    if (value === undefined || value === '') throw errors.missing(name, header)
    secrets.add(value)
    return value
  }
  const { username, password } = new URL(launch.url)
  if (username !== '' || password !== '') {
    const basic = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
    secrets.add(basic)
    add('authorization', `Basic ${basic}`)
  }
  for (const [name, value] of Object.entries(launch.headers)) add(name, value)
  for (const [name, from] of Object.entries(launch.envHeaders)) add(name, variable(from, name))
  const { bearerTokenEnvVar } = launch
  if (bearerTokenEnvVar !== null) add('authorization', `Bearer ${variable(bearerTokenEnvVar, 'Authorization')}`)
  return headers
}

/** As it is where it only looks like percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
