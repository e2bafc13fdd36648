/** Who answers the questions of a call: --approve, a person at the terminal, or nobody. */
import type { ApprovalAnswer, Approver } from '../runtime/types.ts'
import type { CliContext } from './context.ts'
import { TaplineError } from '../errors.ts'

/** What --approve takes. */
export type Approve = 'once' | 'session' | 'always' | 'deny'

const ANSWERS: Readonly<Record<Approve, ApprovalAnswer>> = {
  once: { action: 'accept' },
  session: { action: 'accept', remember: 'session' },
  always: { action: 'accept', remember: 'always' },
  deny: { action: 'decline', reason: 'declined with --approve deny' },
}

/** The text after --approve. Throws CLI_USAGE. */
export function parseApprove(text: string): Approve {
  if (Object.hasOwn(ANSWERS, text)) return text as Approve
  throw new TaplineError('CLI_USAGE', `--approve cannot be ${JSON.stringify(text)}`, {
    remedy: 'Write --approve once, --approve session, --approve always or --approve deny.',
  })
}

/** The approver of a session: --approve, else the terminal, else undefined (every question then ends as `no_approver`). */
export function approverFor(approve: Approve | undefined, context: CliContext): Approver | undefined {
  if (approve !== undefined)
    return async ({ canRemember }) => (isRemembered(approve) && !canRemember.includes(approve) ? ANSWERS.once : ANSWERS[approve])
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

/** What must not be remembered is a yes to this call alone. */
const isRemembered = (approve: Approve): approve is 'session' | 'always' => approve === 'session' || approve === 'always'
