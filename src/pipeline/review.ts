/** Puts one call to the reviewer of its environment, within a limit of its own, and reads the verdict strictly. */
import { messageOf, TaplineError } from '../errors.ts'
import type { ApprovalQuestion, Reviewer } from '../servers/approval-question.ts'
import { readVerdict } from '../verdicts.ts'
import { answerWithin, WithdrawnError } from './answer-within.ts'
import type { PipelineRun } from './pipeline-run.ts'

/** Rejects with CALL_REVIEW_DENIED for a deny, and for an answer that is late, unreadable or a throw. */
export async function review(run: PipelineRun, reviewer: Reviewer, question: ApprovalQuestion): Promise<'allow' | 'ask'> {
  const subject = `${question.tool || run.method} of ${question.owner}`
  const limitMs = run.host.reviewTimeoutMs
  const began = performance.now()
  let verdict: ReturnType<typeof readVerdict>
  try {
    verdict = readVerdict(await answerWithin(run, limitMs, (signal) => reviewer(question, { signal })))
  } catch (error) {
    run.assertRunning()
    const late = error instanceof WithdrawnError
    throw denied(
      subject,
      late ? `did not answer within ${Math.round(limitMs / 100) / 10} s` : `failed: ${messageOf(error)}`,
      'the reviewer could not judge the call',
      error,
    )
  }
  run.assertRunning()
  if (verdict === null) throw denied(subject, 'gave an answer that is no verdict', 'the reviewer could not judge the call')
  if (verdict.kind === 'deny') throw denied(subject, `said no: ${verdict.text}`, verdict.text ?? 'the reviewer said no')
  if (verdict.kind === 'allow') run.trace?.approval('reviewer', performance.now() - began)
  return verdict.kind
}

/** `reason` goes to the model: only what the reviewer wrote for it, never the text of an error. */
function denied(subject: string, what: string, reason: string, cause?: unknown): TaplineError {
  return new TaplineError('CALL_REVIEW_DENIED', `the reviewer of ${subject} ${what}`, {
    data: { reason },
    ...(cause !== undefined && { cause }),
  })
}
