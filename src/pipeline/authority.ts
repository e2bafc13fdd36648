/** Whether what a call was judged by still holds. Synchronous, because it is asked right before every write. */
import { TaplineError } from '../errors.ts'
import { sameJson } from '../json.ts'
import { sameGovernance } from '../servers/environment.ts'
import type { PipelineRun } from './pipeline-run.ts'

/** What changed. */
export type AuthorityChange = 'permissions' | 'policy' | 'environment' | 'definition' | 'tool_gone'

const TEXT: Readonly<Record<AuthorityChange, string>> = {
  permissions: 'its permissions changed',
  policy: 'its approval policy changed',
  environment: 'its environment was replaced',
  definition: 'the definition of its tool changed',
  tool_gone: 'its tool is gone',
}

/** The first difference to what was captured when the call was resolved, or null. */
function authorityChange(run: PipelineRun): AuthorityChange | null {
  const call = run.sealed
  const { environment, governance: captured, tool } = call
  if (run.host.environment(environment.id) !== environment || environment.replaced !== call.wasReplaced) return 'environment'
  const now = environment.governance
  if (!sameGovernance(now, captured)) return sameJson(now.permissions, captured.permissions) ? 'policy' : 'permissions'
  // a list that is out of date says nothing: it is read again before the write, and compared then
  const { tools } = call.connection
  if (tool === null || tools === null || tools === call.listing) return null
  const record = tools.tools.get(tool.name)
  if (record === undefined) return 'tool_gone'
  return record === tool || record.digest === tool.digest ? null : 'definition'
}

/** Throws CALL_AUTHORITY_CHANGED with what changed. */
export function assertAuthority(run: PipelineRun): void {
  const what = authorityChange(run)
  if (what !== null)
    throw new TaplineError('CALL_AUTHORITY_CHANGED', `the call to ${run.sealed.owner} was stopped: ${TEXT[what]} after it was judged`, {
      data: { what },
    })
}
