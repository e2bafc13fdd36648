/** Keys of `_meta` that only the host may set in a question or an answer: marks of a reviewer, what may be remembered, the pipeline's own. */
import { stripReserved } from '../hooks/reserved-metadata.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

const HOST_ONLY: ReadonlySet<string> = new Set(['approvals_reviewer', 'persist'])

/** The object without those keys in its `_meta`; the object itself where there were none. */
export function withoutHostOnlyMeta<T extends JsonObject>(object: T): T {
  const meta = object['_meta']
  if (!isJsonObject(meta)) return object
  const { kept } = stripReserved(meta)
  const left = Object.entries(kept).filter(([key]) => !HOST_ONLY.has(key))
  return left.length === Object.keys(meta).length ? object : { ...object, _meta: Object.fromEntries(left) }
}
