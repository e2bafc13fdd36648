/** What a call came to, in a form that can be compared between runs. */
import type { HookName } from '../../errors.ts'
import { isJsonObject } from '../../json.ts'
import { readVerdict } from '../../verdicts.ts'
import type { Place } from './findings.ts'
import type { WatchedTap } from './watched-tap.ts'

/** What one tap returned, as text. */
export interface Returned {
  readonly tap: WatchedTap
  readonly text: string
}

/** What a call came to: what each tap returned, and the end that the caller saw. */
export interface Signature {
  readonly returned: readonly Returned[]
  readonly end: string
}

/** The kind of a verdict, the keys of metadata (values may be ids and times), the arguments of a rewrite. */
export function returnedText(tap: WatchedTap, value: unknown): string {
  try {
    const verdict = readVerdict(value)
    if (verdict !== null) return verdict.kind
    if (tap.hook === 'attachMetadata' && isJsonObject(value)) return Object.keys(value).sort().join(' ')
    return JSON.stringify(value) ?? 'nothing'
  } catch {
    return 'a value that cannot be read'
  }
}

/** As text, without the ids that each session and each call has of its own. */
export function withoutIds(value: unknown, sessionId: string): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.split(new RegExp(`${sessionId}(?:\\.\\d+)?`)).join('<id>')
}

/** Where two runs of one call first differ, or null. */
export function difference(a: Signature, b: Signature): (Place & { readonly texts: readonly [string, string] }) | null {
  for (let at = 0; at < Math.max(a.returned.length, b.returned.length); at++) {
    const [one, other] = [a.returned[at], b.returned[at]]
    if (one?.tap === other?.tap && one?.text === other?.text) continue
    const { tap } = (one ?? other) as Returned
    return { hook: tap.hook, tap: tap.tap, texts: [one?.text ?? 'not run', other?.text ?? 'not run'] }
  }
  return a.end === b.end ? null : { hook: null, tap: null, texts: [a.end, b.end] }
}

/** The hooks whose returns are part of a signature; results are seen at the end of the call. */
export const COMPARED: ReadonlySet<HookName> = new Set<HookName>(['resolve', 'approve', 'attachMetadata'])
