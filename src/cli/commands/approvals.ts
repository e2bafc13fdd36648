/** `tapline approvals`: what people let tools do for always, and how to take that back. */
import { TaplineError } from '../../errors.ts'
import type { RememberedApproval } from '../../runtime/approvals.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { openApprovals } from '../open.ts'
import { approvalJson, approvalsText, approvalText } from '../render/approval.ts'

/** Digits of an id that must be given at least. */
const SHORTEST = 4

/** Exit status 0, also where nothing is remembered. Throws STORE_FAILED, CONFIG_… for the files that say where the store is. */
export async function list(context: CliContext): Promise<number> {
  const approvals = await (await openApprovals(context)).list()
  await context.out.result({ json: () => ({ approvals: approvals.map(approvalJson) }), text: (paint) => approvalsText(approvals, paint) })
  return EXIT_DONE
}

/** Takes an id or the beginning of one. Throws CLI_USAGE where it fits none, or several. */
export async function revoke(context: CliContext, id: string): Promise<number> {
  const approvals = await openApprovals(context)
  const [found, ...others] = id.length < SHORTEST ? [] : (await approvals.list()).filter((one) => one.id.startsWith(id.toLowerCase()))
  if (found === undefined || others.length > 0) throw unclear(id, found === undefined ? [] : [found, ...others])
  // another process may have been quicker: it is gone all the same
  await approvals.revoke(found.id)
  await context.out.result({ json: () => ({ revoked: approvalJson(found) }), text: () => `revoked ${approvalText(found)}` })
  return EXIT_DONE
}

function unclear(id: string, found: readonly RememberedApproval[]): TaplineError {
  const what = JSON.stringify(id.slice(0, 80))
  if (found.length > 0)
    return new TaplineError('CLI_USAGE', `several approvals begin with ${what}: ${found.map(approvalText).join(', ')}`, {
      remedy: 'Give more digits of the id.',
    })
  const short = id.length < SHORTEST ? `; an id has at least ${SHORTEST} digits` : ''
  return new TaplineError('CLI_USAGE', `there is no approval ${what}${short}`, { remedy: 'List them with `tapline approvals list`.' })
}
