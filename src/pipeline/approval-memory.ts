/** Approvals of one session that a person let it remember: bound to the exact owner, tool and definitions. */
import { digest } from '../json.ts'
import type { SealedCall } from '../hooks/sealed-call.ts'

/** Lives and ends with its session. */
export class ApprovalMemory {
  readonly #approved = new Set<string>()

  has(call: SealedCall): boolean {
    return this.#approved.size > 0 && this.#approved.has(approvalKey(call))
  }

  remember(call: SealedCall): void {
    this.#approved.add(approvalKey(call))
  }
}

/**
 * What an approval is bound to (spec 60): key, raw tool, and digests of the tool's definition, of the launch definition as it is written
 * (so that a rotated token does not ask again) and of the environment's. Anything of that changed: another key, so the person is asked.
 */
function approvalKey(call: SealedCall): string {
  const { name, environmentId, installationId } = call.owner
  return digest([
    [name, environmentId, installationId],
    call.target,
    call.tool?.digest ?? '',
    call.entry.registration.template,
    [call.environment.id, call.environment.spec.executor.kind, call.environment.spec.executor.options, call.governance.permissions],
  ])
}
