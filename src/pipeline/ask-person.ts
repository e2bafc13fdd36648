/** Puts one call to the session's approver, within a limit of its own, and reads the answer strictly. */
import type { ErrorDetails } from '../errors.ts'
import { messageOf, TaplineError } from '../errors.ts'
import type { Vote } from '../hooks/call-run.ts'
import { type ApprovalAnswer, type ApprovalQuestion, readAnswer } from './approver.ts'
import { assertAuthority } from './authority.ts'
import type { PipelineRun } from './pipeline-run.ts'

/** Resolves only for a yes. Rejects with CALL_NO_APPROVER, CALL_DECLINED, CALL_DISMISSED, CALL_APPROVAL_TIMED_OUT. */
export async function askPerson(run: PipelineRun, asks: readonly Vote[], canRemember: boolean): Promise<void> {
  const { host, sealed: call } = run
  if (run.isExplanation) {
    run.wouldAsk = true
    throw new TaplineError('CALL_NO_APPROVER', 'a person would be asked')
  }
  const subject = `${call.target || call.method} of ${call.owner}`
  if (host.approver === null)
    throw new TaplineError('CALL_NO_APPROVER', `${subject} needs approval${why(run)}, and nobody is there to give it`, untrustedHint(run))
  const question: ApprovalQuestion = Object.freeze({
    id: `${run.id}.approval`,
    callId: run.callId,
    sessionId: host.sessionId,
    owner: call.owner,
    environmentId: call.environment.id,
    permissions: call.governance.permissions,
    tool: call.target,
    title: call.tool?.title ?? call.target,
    description: call.tool?.description ?? '',
    annotations: call.tool?.annotations ?? {},
    arguments: run.arguments.read(),
    canRemember: Object.freeze(canRemember ? (['session'] as const) : []),
    notes: Object.freeze(asks.map(({ plugin, text }) => ({ plugin, question: text ?? '' }))),
  })
  const state = (now: 'asked' | 'answered' | 'withdrawn'): void =>
    host.question({ kind: 'approval', id: question.id, callId: run.callId, owner: call.owner, state: now })
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), host.approvalTimeoutMs)
  const began = performance.now()
  run.limit.pause()
  state('asked')
  let answer: ApprovalAnswer | null
  try {
    answer = readAnswer(await answerOf(run, question, limit.signal))
    state('answered')
  } catch (error) {
    state('withdrawn')
    run.assertRunning()
    if (limit.signal.aborted)
      throw new TaplineError(
        'CALL_APPROVAL_TIMED_OUT',
        `nobody answered within ${Math.round(host.approvalTimeoutMs / 100) / 10} s whether ${subject} may run`,
        { data: { limitMs: host.approvalTimeoutMs } },
      )
    throw new TaplineError('CALL_DECLINED', `the question about ${subject} could not be put: ${messageOf(error)}`, {
      cause: error,
      data: { reason: 'the question could not be put' },
    })
  } finally {
    clearTimeout(timer)
    run.limit.resume()
  }
  run.assertRunning()
  if (answer === null)
    throw new TaplineError('CALL_DECLINED', `the answer to the question about ${subject} could not be read, which counts as no`)
  if (answer.action === 'cancel') throw new TaplineError('CALL_DISMISSED', `the question about ${subject} was closed without an answer`)
  if (answer.action === 'decline') {
    throw new TaplineError('CALL_DECLINED', `a person declined ${subject}${answer.reason === undefined ? '' : `: ${answer.reason}`}`, {
      data: { reason: answer.reason ?? 'a person said no' },
    })
  }
  // what the person saw must still hold before anything is remembered
  assertAuthority(run)
  if (answer.remember === 'session') {
    // a yes to this call alone, where no more was offered
    if (canRemember) host.memory.remember(call)
    else
      host.reportOnce(`remember ${subject}`, {
        code: 'not_remembered',
        severity: 'info',
        message: `the approval of ${subject} counted once: canRemember did not offer more`,
        owner: call.owner,
      })
  }
  run.trace?.approval('person', performance.now() - began)
}

/** Why anybody is asked. */
function why(run: PipelineRun): string {
  const { entry, question } = run.sealed
  if (question === null) return ''
  const { trustAnnotations } = entry.registration.policy
  return ` (approval mode ${question.mode}${question.mode === 'prompt' || trustAnnotations ? '' : '; what its server says of the tool is not believed'})`
}

/** A file that was only found does not say what is harmless; who trusts it can say so. */
function untrustedHint(run: PipelineRun): ErrorDetails {
  const { entry, tool } = run.sealed
  if (entry.registration.policy.trustAnnotations || tool?.annotations.readOnlyHint !== true) return {}
  return {
    remedy:
      'Give the session an approver (on the command line: a terminal, or --approve), or set trustAnnotations of the server in a file of your own: its readOnlyHint then counts.',
  }
}

/** The approver's answer; rejects when the call or the limit ends first. */
function answerOf(run: PipelineRun, question: ApprovalQuestion, limit: AbortSignal): Promise<unknown> {
  const signal = AbortSignal.any([run.signal, limit])
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new TaplineError('CALL_CANCELLED', 'the question was withdrawn'))
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
    // an approver that throws at once is one that rejects
    new Promise((answer) => answer(run.host.approver!(question, { signal }))).then(resolve, reject)
  })
}
