/** Arguments of requests for resources name an owner, so a rewrite of them is compared with what was asked (vectors/ownership-guard.json). */
import type { Json, JsonObject } from '../json.ts'
import { HookError } from './hook-error.ts'
import type { ViewOwner } from './tap-view.ts'

/** In the order in which they are looked at. */
const OWNER_FIELDS = ['server', 'environment_id', 'installation_id'] as const

/**
 * The rewritten arguments, with the owner as it was asked for: texts are trimmed, an empty one counts as left out, and what a tap leaves out
 * is put back. Throws HOOK_CHANGED_OWNER for any other difference.
 */
export function guardResourceArguments(original: JsonObject, rewritten: JsonObject, callId: string, tap: ViewOwner): JsonObject {
  const guarded: Record<string, Json> = { ...rewritten }
  for (const field of OWNER_FIELDS) {
    if (!Object.hasOwn(rewritten, field)) {
      if (Object.hasOwn(original, field)) guarded[field] = original[field] as Json
      continue
    }
    const asked = normal(Object.hasOwn(original, field) ? original[field] : undefined)
    const answered = normal(rewritten[field])
    if (answered === undefined || asked !== answered) {
      throw new HookError(
        'HOOK_CHANGED_OWNER',
        `hook cannot change the tool environment (${field}): tap "${tap.name}" of plugin "${tap.plugin}" returned another ${field} in ${tap.hook}`,
        tap,
        callId,
        { data: { key: field } },
      )
    }
    guarded[field] = answered
  }
  return guarded
}

/** null: nothing was said; undefined: not a text, which is never the same as anything. */
function normal(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' ? null : text
}
