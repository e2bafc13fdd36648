/** Which keys of a request's `_meta` belong to the pipeline or to MCP, and what a tap or a caller may set. */
import type { JsonObject } from '../json.ts'
import { OWNERSHIP_KEYS } from '../ownership-keys.ts'

/** What is wrong with a key that a tap returns; `ownership` is HOOK_CHANGED_OWNER, the others are HOOK_BAD_RETURN. */
export type MetaKeyProblem = 'reserved' | 'ownership' | 'needs_prefix'

/** The key grammar of MCP: labels with dots between, a slash, a name. */
const PREFIXED =
  /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
const MCP_LABELS: ReadonlySet<string> = new Set(['mcp', 'modelcontextprotocol'])

/** Trace context by W3C. MCP (SEP-414) takes these three out of what it says of prefixes. */
const TRACE_CONTEXT: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/** True for a key of trace context, whose value is a text. */
export const isTraceContextKey = (key: string): boolean => TRACE_CONTEXT.has(key)

/** True for the keys that only the pipeline writes: `codex/*` and `progressToken`. */
function isOurs(key: string): boolean {
  return key === 'progressToken' || key.startsWith('codex/')
}

/**
 * True for a key that no tap may set: the pipeline's own, and every prefix with a label `mcp` or `modelcontextprotocol`.
 * MCP 2025-06-18 reserves these words before the last label and 2025-11-25 as the second one; any place covers both.
 */
export function isReservedKey(key: string): boolean {
  if (isOurs(key)) return true
  // labels are those of a domain name, which has no case
  const prefix = key.slice(0, Math.max(0, key.indexOf('/'))).toLowerCase()
  return prefix === 'codex' || prefix.split('.').some((label) => MCP_LABELS.has(label))
}

/** What forbids a tap to return this key in a metadata patch, or null where it may. */
export function metaKeyProblem(key: string): MetaKeyProblem | null {
  if (OWNERSHIP_KEYS.has(key)) return 'ownership'
  if (isReservedKey(key)) return 'reserved'
  return PREFIXED.test(key) || TRACE_CONTEXT.has(key) ? null : 'needs_prefix'
}

/** A caller's `_meta` without the keys of the pipeline, in the caller's order, and the keys that were dropped. */
export function stripReserved(meta: JsonObject): { readonly kept: JsonObject; readonly dropped: readonly string[] } {
  const dropped = Object.keys(meta).filter(isOurs)
  if (dropped.length === 0) return { kept: meta, dropped }
  return { kept: Object.fromEntries(Object.entries(meta).filter(([key]) => !isOurs(key))), dropped }
}
