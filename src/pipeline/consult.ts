/** Who answers the question of a call: what was remembered, the reviewer of the environment, then a person. */
import { isTaplineError, messageOf, TaplineError } from '../errors.ts'
import type { Vote } from '../hooks/call-run.ts'
import type { JsonObject } from '../json.ts'
import type { ApprovalQuestion } from '../servers/approval-question.ts'
import { askPerson } from './ask-person.ts'
import { assertAuthority } from './authority.ts'
import type { PipelineRun } from './pipeline-run.ts'
import { review } from './review.ts'

/** What may be remembered of a call: nothing where its mode or a tap forbids it, or the session alone where the store cannot be used. */
type CanRemember = ApprovalQuestion['canRemember']

/** Resolves only where the call may go on. Rejects with CALL_REVIEW_DENIED, CALL_AUTHORITY_CHANGED and what askPerson rejects with. */
export async function consult(run: PipelineRun, asks: readonly Vote[], mayRemember: boolean): Promise<void> {
  // the host could change its object while the store is read or somebody thinks
  run.arguments.own()
  const remembered = mayRemember ? await lookUp(run) : { yes: false, canRemember: [] }
  if (remembered.yes) run.trace?.approval('remembered')
  else await ask(run, asks, remembered.canRemember)
  run.assertRunning()
  assertAuthority(run)
}

async function ask(run: PipelineRun, asks: readonly Vote[], canRemember: CanRemember): Promise<void> {
  const { reviewer } = run.sealed.governance
  if (run.isExplanation) {
    run.wouldAsk = true
    throw new TaplineError('CALL_NO_APPROVER', 'somebody would be asked')
  }
  if (reviewer === null && run.host.approver === null) return askPerson(run, null, canRemember)
  const question = await questionOf(run, asks, canRemember)
  run.assertRunning()
  // what a tap wants a person for, a reviewer can refuse and not allow
  if (reviewer !== null && (await review(run, reviewer, question)) === 'allow' && asks.length === 0) return undefined
  assertAuthority(run)
  return askPerson(run, question, canRemember)
}

async function lookUp(run: PipelineRun): Promise<{ readonly yes: boolean; readonly canRemember: CanRemember }> {
  try {
    const yes = await run.host.memory.hasAlways(run.sealed)
    return { yes, canRemember: ['session', 'always'] }
  } catch (error) {
    unusable(run, error)
    return { yes: false, canRemember: ['session'] }
  } finally {
    run.assertRunning()
  }
}

async function questionOf(run: PipelineRun, asks: readonly Vote[], canRemember: CanRemember): Promise<ApprovalQuestion> {
  const { host, sealed: call } = run
  // what a server says of its tool can hold what it was given; the arguments are shown as they will be sent
  const { title, description, annotations } = host.secrets.redactJson({
    title: call.tool?.title ?? call.target,
    description: call.tool?.description ?? '',
    annotations: (call.tool?.annotations ?? {}) as JsonObject,
  })
  const changes = await host.memory.changes(call, canRemember.includes('always')).catch((error: unknown) => (unusable(run, error), []))
  return Object.freeze({
    id: `${run.id}.approval`,
    callId: run.callId,
    sessionId: host.sessionId,
    owner: call.owner,
    environmentId: call.environment.id,
    permissions: call.governance.permissions,
    tool: call.target,
    title,
    description,
    annotations: Object.freeze(annotations),
    arguments: run.arguments.read(),
    canRemember: Object.freeze([...canRemember]),
    changes,
    notes: Object.freeze(asks.map(({ plugin, text }) => ({ plugin, question: text ?? '' }))),
  })
}

/** No approval is made of a store that cannot be read: the call is asked about as if there were none. */
function unusable(run: PipelineRun, error: unknown): void {
  const message = messageOf(error)
  run.host.reportOnce(`approvals ${message}`, {
    code: 'approvals_unusable',
    severity: 'warning',
    message: `remembered approvals cannot be used, so every tool is asked about: ${message}${isTaplineError(error) ? ` ${error.remedy}` : ''}`,
  })
}
