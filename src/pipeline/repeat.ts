/** May a request be sent once more after its session was lost? Only where that does no harm, by what the host believes of the tool. */
import { isSessionLost } from '../connections/session-lost.ts'
import type { SealedCall } from '../hooks/sealed-call.ts'

/** True for lists, reads and prompts, and for tools that are read-only or idempotent; a server whose annotations are not trusted has no such tools. */
export function mayRepeat(call: SealedCall, error: unknown): boolean {
  if (!isSessionLost(error)) return false
  if (call.method !== 'tools/call') return true
  const { annotations } = call.tool ?? {}
  return call.entry.registration.policy.trustAnnotations && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}
