/** From what the runtime says of a tap that failed to a kind of finding. */
import type { TapTrace } from '../../hooks/trace.ts'
import type { FindingKind } from './finding.ts'

const FROZEN = /TypeError: .*(?:not extensible|read only property .* of object|Cannot (?:assign|delete|define))/

/** The kind, or null where the tap did not fail. `code` is that of the outcome, which this tap decided. */
export function kindOfFailure({ decision, hook, reason = '' }: TapTrace, code: string): FindingKind | null {
  if (decision === 'changed_owner') return 'moves_owner'
  if (decision === 'timed_out') return 'hangs'
  if (decision !== 'failed') return null
  if (code !== 'HOOK_BAD_RETURN') {
    if (!FROZEN.test(reason)) return 'throws'
    return hook === 'dispatch' ? 'mutates_result' : 'mutates_arguments'
  }
  if (/ returned the (?:reserved key|key .*, which .* has set already)/.test(reason)) return 'forges_metadata'
  return / assigned arguments/.test(reason) ? 'mutates_arguments' : 'bad_return'
}
