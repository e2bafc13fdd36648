/** Puts one question to the session's approver, within a limit of its own, and reads the answer strictly. */
import type { ErrorDetails } from '../errors.ts'
import { messageOf, TaplineError } from '../errors.ts'
import type { Vote } from '../hooks/call-run.ts'
import type { ApprovalQuestion } from '../servers/approval-question.ts'
import { answerWithin, WithdrawnError } from './answer-within.ts'
import { type ApprovalAnswer, readAnswer } from './approver.ts'
import { assertAuthority } from './authority.ts'
import type { PipelineRun } from './pipeline-run.ts'
import { untrustedRemedy } from './untrusted-remedy.ts'

/** Resolves only for a yes; `question` is null where nobody is there to be asked. Rejects with CALL_NO_APPROVER, CALL_DECLINED, CALL_DISMISSED, CALL_APPROVAL_TIMED_OUT. */
export async function askPerson(
  run: PipelineRun,
  question: ApprovalQuestion | null,
  canRemember: ApprovalQuestion['canRemember'],
): Promise<void> {
  const { host, sealed: call } = run
  const { approver } = host
  const subject = `${call.target || call.method} of ${call.owner}`
  if (approver === null || question === null)
    throw new TaplineError('CALL_NO_APPROVER', `${subject} needs approval${why(run)}, and nobody is there to give it`, hint(run))
  const state = (now: 'asked' | 'answered' | 'withdrawn'): void =>
    host.question({ kind: 'approval', id: question.id, callId: run.callId, owner: call.owner, state: now })
  const began = performance.now()
  state('asked')
  let answer: ApprovalAnswer | null
  try {
    answer = readAnswer(await answerWithin(run, host.approvalTimeoutMs, (signal) => approver(question, { signal })))
    state('answered')
  } catch (error) {
    state('withdrawn')
    run.assertRunning()
    if (error instanceof WithdrawnError)
      throw new TaplineError(
        'CALL_APPROVAL_TIMED_OUT',
        `nobody answered within ${Math.round(host.approvalTimeoutMs / 100) / 10} s whether ${subject} may run`,
        { data: { limitMs: host.approvalTimeoutMs } },
      )
    throw new TaplineError('CALL_DECLINED', `the question about ${subject} could not be put: ${messageOf(error)}`, {
      cause: error,
      data: { reason: 'the question could not be put' },
    })
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
  if (answer.remember !== undefined) await remember(run, answer.remember, canRemember, subject)
  run.trace?.approval('person', performance.now() - began)
}

/** A yes to this call alone where no more was offered; to this session where the store fails. */
async function remember(
  { host, sealed: call }: PipelineRun,
  scope: 'session' | 'always',
  canRemember: ApprovalQuestion['canRemember'],
  subject: string,
): Promise<void> {
  let problem = 'canRemember did not offer more'
  if (scope === 'always' && canRemember.includes('always')) {
    try {
      return await host.memory.rememberAlways(call)
    } catch (error) {
      problem = messageOf(error)
    }
  }
  const forSession = canRemember.includes('session')
  if (forSession) host.memory.remember(call)
  if (forSession && scope === 'session') return
  host.reportOnce(`remember ${subject}`, {
    code: 'not_remembered',
    severity: forSession ? 'warning' : 'info',
    message: `the approval of ${subject} counts ${forSession ? 'for this session' : 'once'}: ${problem}`,
    owner: call.owner,
  })
}

/** What can be done where nobody can be asked. */
function hint(run: PipelineRun): ErrorDetails {
  if (askedBy(run))
    return { remedy: 'Give the session an approver (on the command line: a terminal, or --approve); no mode answers what a plugin asks.' }
  const trust = untrustedRemedy(run)
  return trust === null ? {} : { remedy: `Give the session an approver (on the command line: a terminal, or --approve), or ${trust}` }
}

/** The first tap that wants a person. */
const askedBy = ({ votes }: PipelineRun): Vote | undefined => votes?.find(({ kind }) => kind === 'ask')

/** Why anybody is asked. */
function why(run: PipelineRun): string {
  const { entry, question } = run.sealed
  const vote = askedBy(run)
  if (vote) return `: tap "${vote.tap}" of plugin "${vote.plugin}" asks${vote.text === undefined ? '' : ` ${JSON.stringify(vote.text)}`}`
  if (question === null) return ''
  const { trustAnnotations } = entry.registration.policy
  return ` (approval mode ${question.mode}${question.mode === 'prompt' || trustAnnotations ? '' : '; what its server says of the tool is not believed'})`
}
