/** Who answers the questions of a call: --approve, a person at the terminal, or nobody. */
import type { ApprovalAnswer, Approver } from '../runtime/types.ts'
import type { CliContext } from './context.ts'
import { TaplineError } from '../errors.ts'

/** What --approve takes. */
export type Approve = 'once' | 'session' | 'deny'

const ANSWERS: Readonly<Record<Approve, ApprovalAnswer>> = {
  once: { action: 'accept' },
  session: { action: 'accept', remember: 'session' },
  deny: { action: 'decline', reason: 'declined with --approve deny' },
}

/** The text after --approve. Throws CLI_USAGE. */
export function parseApprove(text: string): Approve {
  if (Object.hasOwn(ANSWERS, text)) return text as Approve
  if (text === 'always') {
    throw new TaplineError('CLI_USAGE', 'always needs the approvals store, which comes with a later version; use session', {
      remedy: 'Write --approve session, or set the approval mode of the tool to "approve".',
    })
  }
  throw new TaplineError('CLI_USAGE', `--approve cannot be ${JSON.stringify(text)}`, {
    remedy: 'Write --approve once, --approve session or --approve deny.',
  })
}

/** The approver of a session: --approve, else the terminal, else undefined (every question then ends as `no_approver`). */
export function approverFor(approve: Approve | undefined, context: CliContext): Approver | undefined {
  if (approve !== undefined)
    return async (question) => (approve === 'session' && question.canRemember.length === 0 ? ANSWERS.once : ANSWERS[approve])
  if (context.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined
  return async (question, { signal }) => {
    const resume = context.progress.pause()
    try {
      const { askAtTerminal } = await import('./ask.ts')
      const answer = await askAtTerminal(question, { signal, stdin: context.stdin, stderr: process.stderr, paint: context.out.paintErr })
      if (answer.action === 'cancel' && !signal.aborted) context.interrupt.pressed()
      return answer
    } finally {
      resume()
    }
  }
}
