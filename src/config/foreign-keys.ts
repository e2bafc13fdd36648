/** What servers in files of other programs may have beside our keys, and what becomes of it. */
import type { Fields } from '../documents/fields.ts'
import type { Format } from './format.ts'

/** Read, or refused with a reason of its own. */
export const FOREIGN_KEYS: Readonly<Record<Format, readonly string[]>> = {
  tapline: [],
  shared: ['envFile', 'sandboxEnabled'],
  vscode: ['envFile', 'sandboxEnabled'],
  codex: ['startupTimeoutMs', 'environmentId', 'experimentalEnvironment', 'bearerToken', 'httpHeadersHelper', 'name'],
}

/** Keys that mean nothing here; they never loosen anything. */
export const HARMLESS: ReadonlySet<string> = new Set([
  'autoApprove',
  'alwaysAllow',
  'description',
  'autoStart',
  'icon',
  'tags',
  'dev',
  'gallery',
  'version',
  'sandbox',
])

/** Refuses what would be wrong to leave out: a sandbox that is not there, a login or an environment that the server needs. */
export function rejectForeign(fields: Fields): void {
  if (fields.boolean('sandboxEnabled') === true)
    fields.reject('sandboxEnabled', 'asks for the sandbox of VS Code, which is not here; take it out to run the server without one')
  if (fields.has('bearerToken'))
    fields.reject('bearerToken', 'must not be in a file; put the token into a variable and name that in "bearer_token_env_var"')
  if (fields.has('httpHeadersHelper'))
    fields.reject('httpHeadersHelper', 'is not supported by this version; give the headers with "env_http_headers"')
  for (const key of ['environmentId', 'experimentalEnvironment']) {
    if (fields.has(key) && fields.text(key)?.text !== 'local')
      fields.reject(key, 'names an environment of Codex; declare the server in a tapline.json, under an environment of its own')
  }
}
