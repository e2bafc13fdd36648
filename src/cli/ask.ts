/** The question at the terminal. Loaded only when there is one. */
import type { Readable, Writable } from 'node:stream'
import { isCancel, select } from '@clack/prompts'
import type { ApprovalAnswer, ApprovalQuestion } from '../runtime/types.ts'
import type { Paint } from './output.ts'
import { questionText } from './render/question.ts'

interface Terminal {
  readonly signal: AbortSignal
  readonly stdin: Readable
  readonly stderr: Writable & { columns?: number; rows?: number }
  readonly paint: Paint
}

type Choice = 'once' | 'session' | 'no'

/** The choices of a question; what must not be remembered is not offered. "No" is where the cursor stands: a stray Enter runs nothing. */
export function choicesOf(question: Pick<ApprovalQuestion, 'canRemember'>): { value: Choice; label: string }[] {
  const session: { value: Choice; label: string }[] = question.canRemember.includes('session')
    ? [{ value: 'session', label: 'Allow for this session' }]
    : []
  return [{ value: 'once', label: 'Allow once' }, ...session, { value: 'no', label: 'No' }]
}

/** Shows the question on stderr and waits for a choice; Ctrl-C and Escape are `cancel`. */
export async function askAtTerminal(question: ApprovalQuestion, { signal, stdin, stderr, paint }: Terminal): Promise<ApprovalAnswer> {
  // a terminal that does not say how large it is says 0, and clack would break every line after one letter
  if (!stderr.columns) Object.assign(stderr, { columns: 80, rows: stderr.rows || 24 })
  stderr.write(`${questionText(question, paint)}\n`)
  const answer = await select<Choice>({
    message: 'Run this tool?',
    options: choicesOf(question),
    initialValue: 'no',
    input: stdin,
    output: stderr,
    signal,
  })
  if (isCancel(answer)) return { action: 'cancel' }
  if (answer === 'no') return { action: 'decline', reason: 'declined at the terminal' }
  return answer === 'session' ? { action: 'accept', remember: 'session' } : { action: 'accept' }
}
