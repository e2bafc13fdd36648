/** URIs of resources, unique among all servers: the owner in front, the server's own URI unchanged behind it, so that templates still expand. */
import type { KeyParts } from '../servers/key.ts'

const SCHEME = 'tapline:///'
const NONE = '~'

/** `tapline:///SERVER/ENVIRONMENT/INSTALLATION/URI`, `~` for none. */
export function uniqueUri(owner: KeyParts, uri: string): string {
  return `${prefixOf(owner)}${uri}`
}

/** The two halves of such a URI; null for any other text. */
export function splitUri(text: string): { readonly owner: string; readonly uri: string } | null {
  const match = /^tapline:\/\/\/[^/]+\/[^/]+\/[^/]+\//.exec(text)
  return match === null ? null : { owner: match[0], uri: text.slice(match[0].length) }
}

/** True for a text that begins as unique URIs do, whether it is one or not; the scheme of a URI has no case. */
export function isUnique(text: string): boolean {
  return text.trimStart().slice(0, SCHEME.length).toLowerCase() === SCHEME
}

/** What the unique URIs of a server begin with. */
export function prefixOf({ name, environmentId, installationId }: KeyParts): string {
  return `${SCHEME}${[name, environmentId, installationId].map(part).join('/')}/`
}

const part = (text: string | null): string => (text === null ? NONE : encodeURIComponent(text).replaceAll('~', '%7E'))
