/** From what untrusted input says to one server, or to an error that lists what it could have meant. */
import { TaplineError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import type { CatalogEntry } from './catalog-entry.ts'
import type { CatalogView } from './catalog-view.ts'
import { DEFAULT_INSTALLATION, THREAD_WIDE } from './definition.ts'
import { displayKey } from './key.ts'

/** A bare name with or without the other parts. Left out or empty: any. */
export interface SelectorParts {
  readonly server: string
  /** null or `thread-wide`: the thread-wide one */
  readonly environmentId?: string | null | undefined
  /** null or `default`: the one without installation id */
  readonly installationId?: string | null | undefined
}

/** One server, or why it is not one. */
export type Selection =
  | { readonly entry: CatalogEntry; readonly error?: never; readonly candidates?: never }
  | {
      readonly entry?: never
      readonly error: TaplineError
      /** several that fit, or those of this name that do not */
      readonly candidates: readonly CatalogEntry[]
    }

/** Characters of an untrusted text that a message repeats. */
const QUOTED_MAX = 140

/** The one visible server that fits. Codes: AMBIGUOUS_SERVER, UNKNOWN_SERVER, UNKNOWN_ARGUMENT (an environment or installation in an unscoped view), CALL_INVALID_REQUEST (not text). */
export function selectServer(view: CatalogView, selector: SelectorParts): Selection {
  const { server, environmentId, installationId } = selector
  if (typeof server !== 'string' || !isText(environmentId) || !isText(installationId)) {
    return failure('CALL_INVALID_REQUEST', 'server, environmentId and installationId must be text', [])
  }
  const named = view.named(server)
  if (view.kind === 'unscoped') {
    // there is nothing to choose from, so null chooses nothing either
    const extra = environmentId ? 'environment' : installationId ? 'installation' : null
    if (extra !== null) {
      const value = quoted((environmentId || installationId) as string)
      return failure('UNKNOWN_ARGUMENT', `a server is selected by its name alone here: the ${extra} ${value} cannot be given`, named)
    }
  }
  const fits =
    view.kind === 'unscoped'
      ? named
      : named.filter(
          ({ key }) =>
            matches(key.environmentId, environmentId, THREAD_WIDE) && matches(key.installationId, installationId, DEFAULT_INSTALLATION),
        )
  const [entry, ...others] = fits
  if (entry && others.length === 0) return { entry }
  if (entry) return failure('AMBIGUOUS_SERVER', `${quoted(server)} fits ${fits.length} servers: ${display(fits)}`, fits)
  if (named.length > 0)
    return failure('UNKNOWN_SERVER', `no server ${quoted(server)} ${place(selector)}; there is ${display(named)}`, named)
  const near = nearest(server, new Set(view.servers.map(({ key }) => key.name)))
  return failure('UNKNOWN_SERVER', `no server is named ${quoted(server)}${near === null ? '' : `: did you mean ${quoted(near)}?`}`, [])
}

const isText = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string'

function matches(part: string | null, asked: string | null | undefined, noneWord: string): boolean {
  if (asked === undefined || asked === '') return true
  return part === (asked === noneWord ? null : asked)
}

function failure(
  code: 'AMBIGUOUS_SERVER' | 'UNKNOWN_SERVER' | 'UNKNOWN_ARGUMENT' | 'CALL_INVALID_REQUEST',
  message: string,
  candidates: readonly CatalogEntry[],
): Selection {
  return { error: new TaplineError(code, message, { data: { candidates: candidates.map(({ key }) => displayKey(key)) } }), candidates }
}

const display = (entries: readonly CatalogEntry[]): string => entries.map(({ key }) => displayKey(key)).join(', ')

function place({ environmentId, installationId }: SelectorParts): string {
  const parts: string[] = []
  if (environmentId === null || environmentId === THREAD_WIDE) parts.push('is thread-wide')
  else if (environmentId) parts.push(`is in the environment ${quoted(environmentId)}`)
  if (installationId === null || installationId === DEFAULT_INSTALLATION) parts.push('has no installation id')
  else if (installationId) parts.push(`has the installation id ${quoted(installationId)}`)
  return parts.join(' and ')
}

const quoted = (text: string): string => JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text)
