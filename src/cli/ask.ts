/** The question at the terminal. Loaded only when there is one. */
import type { Readable, Writable } from 'node:stream'
import { isCancel, select } from '@clack/prompts'
import type { ApprovalAnswer, ApprovalQuestion } from '../runtime/types.ts'
import type { Paint } from './output.ts'
import { isFolded, questionText } from './render/question.ts'

interface Terminal {
  readonly signal: AbortSignal
  readonly stdin: Readable
  readonly stderr: Writable & { columns?: number; rows?: number }
  readonly paint: Paint
}

type Choice = 'once' | 'session' | 'always' | 'no'

/** Shows what was folded. */
const SHOW_ALL = 'a'

const ANSWERS: Readonly<Record<Choice, ApprovalAnswer>> = {
  once: { action: 'accept' },
  session: { action: 'accept', remember: 'session' },
  always: { action: 'accept', remember: 'always' },
  no: { action: 'decline', reason: 'declined at the terminal' },
}

/** The choices of a question; what must not be remembered is not offered. "No" is where the cursor stands: a stray Enter runs nothing. */
export function choicesOf({ canRemember }: Pick<ApprovalQuestion, 'canRemember'>): { value: Choice; label: string; hint?: string }[] {
  return [
    { value: 'once', label: 'Allow once' },
    ...(canRemember.includes('session') ? [{ value: 'session' as const, label: 'Allow for this session' }] : []),
    ...(canRemember.includes('always')
      ? [{ value: 'always' as const, label: 'Always allow', hint: 'until tool, server or environment change; tapline approvals lists it' }]
      : []),
    { value: 'no', label: 'No' },
  ]
}

/** Shows the question on stderr and waits for a choice; Ctrl-C and Escape are `cancel`. */
export async function askAtTerminal(question: ApprovalQuestion, terminal: Terminal): Promise<ApprovalAnswer> {
  const { stderr, paint } = terminal
  // a terminal that does not say how large it is says 0, and clack would break every line after one letter
  if (!stderr.columns) Object.assign(stderr, { columns: 80, rows: stderr.rows || 24 })
  const folded = isFolded(question, paint)
  stderr.write(`${questionText(question, paint)}\n`)
  const choice = await choose(question, terminal, folded)
  if (choice !== 'all') return choice
  stderr.write(`${questionText(question, paint, true)}\n`)
  const again = await choose(question, terminal, false)
  return again === 'all' ? { action: 'cancel' } : again
}

async function choose(question: ApprovalQuestion, { signal, stdin, stderr }: Terminal, folded: boolean): Promise<ApprovalAnswer | 'all'> {
  const all = new AbortController()
  const onKey = (text: string | undefined): void => {
    if (text === SHOW_ALL) all.abort()
  }
  if (folded) stdin.on('keypress', onKey)
  try {
    const answer = await select<Choice>({
      message: folded ? `Run this tool? (${SHOW_ALL} shows all of it)` : 'Run this tool?',
      options: choicesOf(question),
      initialValue: 'no',
      input: stdin,
      output: stderr,
      signal: AbortSignal.any([signal, all.signal]),
    })
    if (!isCancel(answer)) return ANSWERS[answer]
    return all.signal.aborted && !signal.aborted ? 'all' : { action: 'cancel' }
  } finally {
    stdin.off('keypress', onKey)
  }
}
